//! The kinematic tree: bodies with their joints, geoms and sites, through frames and replicas.

use super::attributes::Reader;
use super::build::{Builder, MAX_ELEMENTS};
use super::pose::{Pose, euler, orientation, product, rotate};
use super::xml::ElementId;
use super::{geom, joint};
use crate::error::{ErrorKind, Result};
use costate_model::rigid::{BodySettings, Inertial, InertialSettings, PlacementSettings};
use std::rc::Rc;

/// An element of the tree, with what the frames, replicas and classes around it say.
#[derive(Clone)]
struct Member {
    id: ElementId,
    /// The frame that it is in, in the frame of the body around it.
    frame: Pose,
    /// Default class of elements that name none.
    class: Rc<str>,
    /// What is appended to its name.
    suffix: Rc<str>,
}

/// Reads all `worldbody` sections.
pub(super) fn read(b: &mut Builder<'_>, worlds: &[ElementId]) -> Result<()> {
    let class: Rc<str> = "".into();
    // Members of the world itself, of all sections, then its bodies depth first.
    let mut bodies: Vec<(Member, usize)> = Vec::new();
    for &id in worlds {
        let world = Member { id, frame: Pose::IDENTITY, class: class.clone(), suffix: "".into() };
        let children = add_members(b, &world, 0)?;
        bodies.extend(children.into_iter().map(|child| (child, 0)));
    }
    bodies.reverse();
    while let Some((member, parent)) = bodies.pop() {
        let r = Reader::new(b.document, member.id);
        let body = add_body(b, &r, &member, parent)?;
        let inside = Member {
            frame: Pose::IDENTITY,
            class: r.text("childclass").map_or_else(|| member.class.clone(), Rc::from),
            ..member
        };
        let children = add_members(b, &inside, body)?;
        bodies.extend(children.into_iter().rev().map(|child| (child, body)));
        b.check_count(&r)?;
        if bodies.len() > MAX_ELEMENTS {
            return Err(r
                .error(ErrorKind::TooLarge)
                .expected(format!("at most {MAX_ELEMENTS} bodies, replicas included")));
        }
    }
    b.frame = Pose::IDENTITY;
    Ok(())
}

/// The members of a body, frames and replicas opened up, in the order of the file.
fn members(b: &mut Builder<'_>, of: &Member) -> Result<Vec<Member>> {
    let document = b.document;
    let mut found = Vec::new();
    let inside = |outer: &Member, ids: &[ElementId]| -> Vec<Member> {
        ids.iter().map(|&id| Member { id, ..outer.clone() }).collect()
    };
    let mut stack = inside(of, &document.element(of.id).children);
    stack.reverse();
    while let Some(member) = stack.pop() {
        let r = Reader::new(document, member.id);
        let children = &document.element(member.id).children;
        match r.tag() {
            "frame" => {
                let mut pose = Pose::IDENTITY;
                pose.read(&r, &b.compiler)?;
                let scaled = r.numbers("scale")?.is_some_and(|s| s.iter().any(|x| *x != 1.0))
                    || r.number("massscale")?.is_some_and(|m| m != 0.0 && m != 1.0);
                if scaled {
                    b.unsupported(&r, "framescale", "frames that scale their contents");
                }
                let outer = Member {
                    frame: member.frame.after(&pose),
                    class: r.text("childclass").map_or_else(|| member.class.clone(), Rc::from),
                    ..member
                };
                stack.extend(inside(&outer, children).into_iter().rev());
            }
            "replicate" => {
                let first = stack.len();
                for replica in replicas(b, &r, &member, children.len())? {
                    stack.extend(inside(&replica, children));
                }
                stack[first..].reverse();
            }
            _ => found.push(member),
        }
        if stack.len() + found.len() > MAX_ELEMENTS {
            return Err(r
                .error(ErrorKind::TooLarge)
                .expected(format!("at most {MAX_ELEMENTS} elements, replicas included")));
        }
    }
    Ok(found)
}

/// The replicas of a `replicate`, each as the member that its children are in.
fn replicas(
    b: &mut Builder<'_>,
    r: &Reader<'_>,
    member: &Member,
    children: usize,
) -> Result<Vec<Member>> {
    let count = r
        .small::<usize>("count")?
        .ok_or_else(|| r.error(ErrorKind::Missing).expected("an attribute count"))?;
    if count == 0 || count.saturating_mul(children.max(1)) > MAX_ELEMENTS {
        return Err(r
            .wrong("count", ErrorKind::OutOfBounds)
            .expected(format!("1 or more replicas, at most {MAX_ELEMENTS} elements in all"))
            .found(format!("{count}")));
    }
    for child in r.children() {
        if matches!(child.tag(), "joint" | "freejoint" | "inertial") {
            return Err(child
                .error(ErrorKind::Conflict)
                .found("a direct child of replicate")
                .advice("put it in a body"));
        }
    }
    let step = Pose {
        pos: r.vector("offset")?.unwrap_or([0.0; 3]),
        quat: match r.vector("euler")? {
            Some(angles) => euler(angles, &b.compiler),
            None => Pose::IDENTITY.quat,
        },
    };
    let separator = r.text("sep").unwrap_or_default();
    let digits = count.to_string().len();
    let mut pose = Pose::IDENTITY;
    let mut all = Vec::with_capacity(count);
    for i in 0..count {
        let suffix = format!("{separator}{i:0digits$}{}", member.suffix);
        all.push(Member {
            frame: member.frame.after(&pose),
            suffix: suffix.into(),
            ..member.clone()
        });
        pose = pose.after(&step);
    }
    Ok(all)
}

/// Adds the members of a body but its bodies, which are returned.
fn add_members(b: &mut Builder<'_>, of: &Member, body: usize) -> Result<Vec<Member>> {
    let mut children = Vec::new();
    let all = members(b, of)?;
    for member in &all {
        let r = Reader::new(b.document, member.id);
        let (frame, class, suffix) = (&member.frame, &*member.class, &*member.suffix);
        b.frame = *frame;
        let kind = match r.tag() {
            "joint" | "freejoint" => {
                joint::add(b, &r, body, frame, class, suffix)?;
                "joint"
            }
            "geom" => {
                geom::add(b, &r, body, frame, class, suffix)?;
                "geom"
            }
            "site" => {
                geom::add_site(b, &r, body, frame, class, suffix)?;
                "site"
            }
            "body" => {
                children.push(member.clone());
                "body"
            }
            "attach" => {
                b.unsupported(&r, "attach", "models attached to others");
                continue;
            }
            "flexcomp" => {
                b.unsupported(&r, "flex", "deformable bodies of MuJoCo");
                continue;
            }
            "plugin" => {
                b.unsupported(&r, "plugin", "a plugin of MuJoCo");
                continue;
            }
            _ => continue,
        };
        if !suffix.is_empty()
            && let Some(name) = r.text("name")
        {
            b.replicas.entry((kind, name.to_owned())).or_default().push(suffix.to_owned());
        }
    }
    Ok(children)
}

fn add_body(b: &mut Builder<'_>, r: &Reader<'_>, member: &Member, parent: usize) -> Result<usize> {
    let mut pose = Pose::IDENTITY;
    pose.read(r, &b.compiler)?;
    let Pose { pos, quat } = member.frame.after(&pose);
    let mocap = r.flag("mocap")?.unwrap_or(false);
    if mocap && parent != 0 {
        return Err(r.wrong("mocap", ErrorKind::Conflict).expected("a child of the world"));
    }
    // The inertial may stand within frames.
    let inside = Member { frame: Pose::IDENTITY, ..member.clone() };
    let mut inertials =
        members(b, &inside)?.into_iter().filter(|m| b.document.element(m.id).name == "inertial");
    let inertial = inertials.next();
    if let Some(second) = inertials.next() {
        return Err(b.document.error(second.id, ErrorKind::Duplicate).found("a second inertial"));
    }
    let given = match &inertial {
        Some(m) => Some(read_inertial(b, &Reader::new(b.document, m.id), &m.frame)?),
        None => None,
    };
    let nothing = InertialSettings::Diagonal {
        mass: 0.0,
        pos: [0.0; 3],
        quat: [1.0, 0.0, 0.0, 0.0],
        diagonal: [0.0; 3],
    };
    b.frame = member.frame;
    let settings = BodySettings {
        name: b.name(r, "body", &member.suffix, b.articulation.bodies.len()),
        placement: PlacementSettings::Pose { pos, quat },
        gravcomp: r.number("gravcomp")?.unwrap_or(0.0),
        inertial: match b.compiler.inertia_from_geom {
            Some(true) => InertialSettings::FromGeoms,
            Some(false) => given.unwrap_or(nothing),
            None => given.unwrap_or(InertialSettings::FromGeoms),
        },
        mocap,
    };
    b.articulation
        .add_body(&mut b.model.leaves, parent, &settings)
        .map_err(|e| inertial.map_or(*r, |m| Reader::new(b.document, m.id)).refused(e))
}

/// Whether geoms count for the inertia of a body.
pub(super) fn counts_geoms(b: &Builder<'_>, body: usize) -> bool {
    body != 0 && b.articulation.bodies[body].inertial == Inertial::FromGeoms
}

fn read_inertial(b: &Builder<'_>, r: &Reader<'_>, frame: &Pose) -> Result<InertialSettings> {
    let missing = |what: &str| r.error(ErrorKind::Missing).expected(format!("an attribute {what}"));
    let mass = r.number("mass")?.ok_or_else(|| missing("mass"))?;
    let pos = frame.point(r.vector("pos")?.ok_or_else(|| missing("pos"))?);
    let quat = orientation(r, &b.compiler)?;
    if let Some(full) = r.vector::<6>("fullinertia")? {
        for name in ["diaginertia", "quat", "axisangle", "xyaxes", "zaxis", "euler"] {
            if r.has(name) {
                return Err(r
                    .wrong(name, ErrorKind::Conflict)
                    .expected("either fullinertia or diaginertia with an orientation"));
            }
        }
        check_tensor(b, r, "fullinertia", full)?;
        return Ok(InertialSettings::Full { mass, pos, full: turn(full, frame.quat) });
    }
    let diagonal = r.vector("diaginertia")?.unwrap_or([0.0; 3]);
    check_tensor(b, r, "diaginertia", [diagonal[0], diagonal[1], diagonal[2], 0.0, 0.0, 0.0])?;
    let quat = product(frame.quat, quat.unwrap_or(Pose::IDENTITY.quat));
    Ok(InertialSettings::Diagonal { mass, pos, quat, diagonal })
}

/// A tensor xx, yy, zz, xy, xz, yz in turned axes.
pub(crate) fn turn(full: [f64; 6], quat: [f64; 4]) -> [f64; 6] {
    if quat == Pose::IDENTITY.quat {
        return full;
    }
    let [xx, yy, zz, xy, xz, yz] = full;
    let rows = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
    let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|e| rotate(quat, e));
    let entry = |i: usize, j: usize| {
        let mut sum = 0.0;
        for k in 0..3 {
            for l in 0..3 {
                sum += axes[k][i] * rows[k][l] * axes[l][j];
            }
        }
        sum
    };
    [entry(0, 0), entry(1, 1), entry(2, 2), entry(0, 1), entry(0, 2), entry(1, 2)]
}

/// Refuses an inertia that no body can have: principal inertias A, B, C with A + B < C, or a negative
/// one.
fn check_tensor(b: &Builder<'_>, r: &Reader<'_>, name: &str, full: [f64; 6]) -> Result<()> {
    let Some(fault) = inertia_fault(full, b.compiler.inertia.balanceinertia) else { return Ok(()) };
    let e = r.wrong(name, ErrorKind::OutOfBounds).expected(fault);
    Err(if fault.contains("A + B") {
        e.advice("balanceinertia=\"true\" in the compiler section replaces such inertias")
    } else {
        e
    })
}

/// What an inertia xx, yy, zz, xy, xz, yz should be and is not; `balanced` ones need not be those of a
/// body.
pub(crate) fn inertia_fault(full: [f64; 6], balanced: bool) -> Option<&'static str> {
    let [xx, yy, zz, xy, xz, yz] = full;
    let trace = xx + yy + zz;
    // The second moments of mass, which are not negative in any direction either.
    let half = trace / 2.0;
    let second = [half - xx, half - yy, half - zz, -xy, -xz, -yz];
    let tolerance = 1e-10 * trace.abs().max(f64::MIN_POSITIVE);
    if !semidefinite(full, tolerance) {
        return Some("an inertia that is positive in every direction");
    }
    (!balanced && !semidefinite(second, tolerance)).then_some("principal inertias with A + B >= C")
}

/// Whether a symmetric matrix xx, yy, zz, xy, xz, yz has no eigenvalue below −tolerance.
fn semidefinite([xx, yy, zz, xy, xz, yz]: [f64; 6], tolerance: f64) -> bool {
    let (xx, yy, zz) = (xx + tolerance, yy + tolerance, zz + tolerance);
    let minor = |a: f64, b: f64, c: f64| a * b - c * c >= -tolerance * (a + b);
    let determinant =
        xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
    let scale = xx + yy + zz;
    xx >= 0.0
        && yy >= 0.0
        && zz >= 0.0
        && minor(xx, yy, xy)
        && minor(xx, zz, xz)
        && minor(yy, zz, yz)
        && determinant >= -tolerance * scale * scale
}
