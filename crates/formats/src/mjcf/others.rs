//! `contact`, `equality`, `tendon` and `keyframe`.

use super::attributes::Reader;
use super::build::Builder;
use super::geom::condim_of;
use super::limited::Limited;
use crate::error::{ErrorKind, Result};
use costate_model::rigid::{
    EqualityKindSettings, EqualitySettings, Exclude, Keyframe, PairSettings, Place,
    TendonPathSettings, TendonSettings, WrapSettings,
};

pub(super) fn read_pair(s: &mut PairSettings, r: &Reader<'_>) -> Result<()> {
    if let Some(condim) = r.integer("condim")? {
        s.condim = condim_of(r, condim)?;
    }
    r.fill("friction", 1, &mut s.friction)?;
    r.fill("solref", 1, &mut s.solref)?;
    r.fill("solreffriction", 1, &mut s.solref_friction)?;
    r.fill("solimp", 1, &mut s.solimp)?;
    r.set_number("margin", &mut s.margin)?;
    r.set_number("gap", &mut s.gap)
}

/// Adds a child of `contact`.
pub(super) fn add_contact(b: &mut Builder<'_>, r: &Reader<'_>, suffix: &str) -> Result<()> {
    if r.tag() == "exclude" {
        let bodies = [b.body(r, "body1", suffix)?, b.body(r, "body2", suffix)?];
        let name = r.text("name").unwrap_or_default().to_owned() + suffix;
        b.articulation.excludes.push(Exclude { name, bodies });
        return Ok(());
    }
    let mut s = b.class(r, "")?.pair.clone();
    read_pair(&mut s, r)?;
    if r.number("adhesion")?.is_some_and(|x| x != 0.0) {
        b.unsupported(r, "adhesion", "geoms that stick to each other");
    }
    let geoms = [b.geom(r, "geom1", suffix)?, b.geom(r, "geom2", suffix)?];
    s.name = b.name(r, "pair", suffix, b.articulation.pairs.len());
    b.articulation.add_pair(&mut b.model.leaves, geoms, &s).map(|_| ()).map_err(|e| r.refused(e))
}

pub(super) fn read_equality(s: &mut EqualitySettings, r: &Reader<'_>) -> Result<()> {
    if let Some(active) = r.flag("active")? {
        s.active = active;
    }
    r.fill("solref", 1, &mut s.solref)?;
    r.fill("solimp", 1, &mut s.solimp)?;
    Ok(())
}

/// Adds a child of `equality`.
pub(super) fn add_equality(b: &mut Builder<'_>, r: &Reader<'_>, suffix: &str) -> Result<()> {
    if matches!(r.tag(), "flex" | "flexstrain") {
        b.unsupported(r, "flex", "deformable bodies of MuJoCo");
        return Ok(());
    }
    let mut s = b.class(r, "")?.equality.clone();
    read_equality(&mut s, r)?;
    let mut polycoef = [0.0, 1.0, 0.0, 0.0, 0.0];
    r.fill("polycoef", 1, &mut polycoef)?;
    let kind = match r.tag() {
        "joint" => EqualityKindSettings::Joint {
            joint: b.joint(r, "joint1", suffix)?,
            other: if r.has("joint2") { Some(b.joint(r, "joint2", suffix)?) } else { None },
            polycoef,
        },
        "tendon" => EqualityKindSettings::Tendon {
            tendon: b.tendon(r, "tendon1", suffix)?,
            other: if r.has("tendon2") { Some(b.tendon(r, "tendon2", suffix)?) } else { None },
            polycoef,
        },
        tag => {
            let place = if r.has("site1") || r.has("site2") {
                if let Some(other) = ["body1", "body2", "anchor"].into_iter().find(|n| r.has(n)) {
                    return Err(r
                        .wrong(other, ErrorKind::Conflict)
                        .expected("either sites, or bodies with an anchor"));
                }
                Place::Sites([b.site(r, "site1", suffix)?, b.site(r, "site2", suffix)?])
            } else {
                let second = if r.has("body2") { b.body(r, "body2", suffix)? } else { 0 };
                Place::Bodies([b.body(r, "body1", suffix)?, second])
            };
            let anchor = r.vector("anchor")?;
            if tag == "connect" {
                if anchor.is_none() && matches!(place, Place::Bodies(_)) {
                    return Err(r.error(ErrorKind::Missing).expected("an attribute anchor"));
                }
                EqualityKindSettings::Connect { place, anchor: anchor.unwrap_or([0.0; 3]) }
            } else {
                let relpose = r.vector::<7>("relpose")?;
                EqualityKindSettings::Weld {
                    place,
                    anchor: anchor.unwrap_or([0.0; 3]),
                    // A quaternion of zeros asks for the pose of the reference configuration.
                    relpose: relpose.filter(|p| p[3..].iter().any(|x| *x != 0.0)),
                    torquescale: r.number("torquescale")?.unwrap_or(1.0),
                }
            }
        }
    };
    s.name = b.name(r, "equality", suffix, b.articulation.equalities.len());
    b.articulation
        .add_equality(&mut b.model.leaves, &s, &kind)
        .map(|_| ())
        .map_err(|e| r.refused(e))
}

/// A tendon with its ranges.
#[derive(Clone, Debug, Default)]
pub(super) struct TendonClass {
    settings: TendonSettings,
    limit: Limited,
    actuator_force: Limited,
    springyield: f64,
}

impl TendonClass {
    pub fn read(&mut self, r: &Reader<'_>) -> Result<()> {
        let s = &mut self.settings;
        r.fill("stiffness", 1, &mut s.stiffness)?;
        r.fill("damping", 1, &mut s.damping)?;
        if let Some(lengths) = r.numbers("springlength")? {
            let mut pair = [0.0; 2];
            r.fill("springlength", 1, &mut pair)?;
            if lengths.len() == 1 {
                pair[1] = pair[0];
            }
            s.springlength = (pair[0] >= 0.0).then_some(pair);
        }
        r.set_number("armature", &mut s.armature)?;
        r.set_number("frictionloss", &mut s.frictionloss)?;
        r.set_number("margin", &mut s.margin)?;
        r.fill("solreflimit", 1, &mut s.solref_limit)?;
        r.fill("solimplimit", 1, &mut s.solimp_limit)?;
        r.fill("solreffriction", 1, &mut s.solref_friction)?;
        r.fill("solimpfriction", 1, &mut s.solimp_friction)?;
        self.limit.read(r, "range", "limited")?;
        self.actuator_force.read(r, "actuatorfrcrange", "actuatorfrclimited")?;
        r.set_number("springyield", &mut self.springyield)
    }
}

/// Adds a child of `tendon`.
pub(super) fn add_tendon(b: &mut Builder<'_>, r: &Reader<'_>, suffix: &str) -> Result<()> {
    let mut tendon = b.class(r, "")?.tendon.clone();
    tendon.read(r)?;
    if tendon.springyield != 0.0 {
        b.unsupported(r, "plasticity", "springs that yield");
    }
    let s = &mut tendon.settings;
    let compiler = &b.compiler;
    s.limited = tendon.limit.in_force(r, compiler, "range", "limited")?.is_some();
    s.range = tendon.limit.range;
    s.actuator_force_range =
        tendon.actuator_force.in_force(r, compiler, "actuatorfrcrange", "actuatorfrclimited")?;
    let path = if r.tag() == "fixed" {
        let mut joints = Vec::new();
        for child in r.children() {
            let joint = b.joint(&child, "joint", suffix)?;
            let coef = child
                .number("coef")?
                .ok_or_else(|| child.error(ErrorKind::Missing).expected("an attribute coef"))?;
            joints.push((joint, coef));
        }
        TendonPathSettings::Fixed(joints)
    } else {
        let mut wraps = Vec::new();
        for child in r.children() {
            wraps.push(match child.tag() {
                "site" => WrapSettings::Site(b.site(&child, "site", suffix)?),
                "geom" => {
                    let side = if child.has("sidesite") {
                        Some(b.site(&child, "sidesite", suffix)?)
                    } else {
                        None
                    };
                    WrapSettings::Geom(b.geom(&child, "geom", suffix)?, side)
                }
                _ => WrapSettings::Pulley(child.number("divisor")?.ok_or_else(|| {
                    child.error(ErrorKind::Missing).expected("an attribute divisor")
                })?),
            });
        }
        check_path(r, &wraps)?;
        TendonPathSettings::Spatial(wraps)
    };
    if let TendonPathSettings::Fixed(joints) = &path
        && joints.is_empty()
    {
        return Err(r.error(ErrorKind::Missing).expected("at least one joint"));
    }
    tendon.settings.name = b.name(r, "tendon", suffix, b.articulation.tendons.len());
    b.articulation
        .add_tendon(&mut b.model.leaves, &tendon.settings, &path)
        .map(|_| ())
        .map_err(|e| r.refused(e))
}

/// A path starts and ends with a site, on either side of each pulley too, and a geom stands between
/// two sites.
fn check_path(r: &Reader<'_>, wraps: &[WrapSettings]) -> Result<()> {
    let wrong = |what: &str| Err(r.error(ErrorKind::Conflict).found(what));
    for branch in wraps.split(|w| matches!(w, WrapSettings::Pulley(_))) {
        if branch.len() < 2 {
            return wrong("a path with fewer than two sites, or a pulley at its end");
        }
        let site = |w: Option<&WrapSettings>| matches!(w, Some(WrapSettings::Site(_)));
        if !site(branch.first()) || !site(branch.last()) {
            return wrong("a path that does not start and end with a site");
        }
        if branch.windows(2).any(|w| !site(w.first()) && !site(w.last())) {
            return wrong("two geoms without a site between them");
        }
    }
    Ok(())
}

/// Adds a keyframe.
pub(super) fn add_key(b: &mut Builder<'_>, r: &Reader<'_>) -> Result<()> {
    let a = &b.articulation;
    let read = |name: &str, count: usize| -> Result<Vec<f64>> {
        let Some(values) = r.numbers(name)? else { return Ok(Vec::new()) };
        if values.len() != count {
            return Err(r
                .wrong(name, ErrorKind::WrongLength)
                .expected(format!("{count} numbers"))
                .found(format!("{}", values.len())));
        }
        Ok(values)
    };
    let key = Keyframe {
        name: r.text("name").unwrap_or_default().to_owned(),
        time: r.number("time")?.unwrap_or(0.0),
        qpos: read("qpos", a.nq())?,
        qvel: read("qvel", a.nv())?,
        act: read("act", a.na())?,
        ctrl: read("ctrl", a.actuators.len())?,
    };
    b.articulation.keyframes.push(key);
    Ok(())
}
