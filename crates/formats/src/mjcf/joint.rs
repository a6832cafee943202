//! `joint` and `freejoint`.

use super::attributes::Reader;
use super::build::Builder;
use super::limited::Limited;
use super::pose::{Pose, rotate};
use crate::error::{ErrorKind, Result};
use costate_model::rigid::{JointKind, JointSettings};

/// A joint with its numbers in the file's units.
#[derive(Clone, Debug, Default)]
pub(super) struct JointClass {
    settings: JointSettings,
    limit: Limited,
    actuator_force: Limited,
    springyield: f64,
}

impl JointClass {
    pub fn read(&mut self, r: &Reader<'_>) -> Result<()> {
        let s = &mut self.settings;
        let words = [
            ("free", JointKind::Free),
            ("ball", JointKind::Ball),
            ("slide", JointKind::Slide),
            ("hinge", JointKind::Hinge),
        ];
        if let Some(kind) = r.choice("type", &words)? {
            s.kind = kind;
        }
        r.set("pos", &mut s.pos)?;
        r.set("axis", &mut s.axis)?;
        r.set_number("ref", &mut s.reference)?;
        r.set_number("springref", &mut s.springref)?;
        r.fill("stiffness", 1, &mut s.stiffness)?;
        r.fill("damping", 1, &mut s.damping)?;
        if r.fill("springdamper", 2, &mut s.springdamper)?
            && s.springdamper != [0.0; 2]
            && s.springdamper.iter().any(|x| *x <= 0.0)
        {
            return Err(r
                .wrong("springdamper", ErrorKind::OutOfBounds)
                .expected("a positive time constant and a positive damping ratio"));
        }
        r.set_number("armature", &mut s.armature)?;
        r.set_number("frictionloss", &mut s.frictionloss)?;
        r.set_number("margin", &mut s.margin)?;
        r.fill("solreflimit", 1, &mut s.solref_limit)?;
        r.fill("solimplimit", 1, &mut s.solimp_limit)?;
        r.fill("solreffriction", 1, &mut s.solref_friction)?;
        r.fill("solimpfriction", 1, &mut s.solimp_friction)?;
        if let Some(gravcomp) = r.flag("actuatorgravcomp")? {
            s.actuator_gravcomp = gravcomp;
        }
        self.limit.read(r, "range", "limited")?;
        self.actuator_force.read(r, "actuatorfrcrange", "actuatorfrclimited")?;
        r.set_number("springyield", &mut self.springyield)
    }
}

/// Adds a joint to a body.
pub(super) fn add(
    b: &mut Builder<'_>,
    r: &Reader<'_>,
    body: usize,
    frame: &Pose,
    class: &str,
    suffix: &str,
) -> Result<()> {
    let mut joint = if r.tag() == "freejoint" {
        // Free joints of this notation take nothing from default classes.
        let settings = JointSettings { kind: JointKind::Free, ..JointSettings::default() };
        JointClass { settings, ..JointClass::default() }
    } else {
        let mut joint = b.class(r, class)?.joint.clone();
        joint.read(r)?;
        joint
    };
    let words = [("true", Some(true)), ("false", Some(false)), ("auto", None)];
    let align = r.choice("align", &words)?.flatten();
    if joint.settings.kind == JointKind::Free && align.unwrap_or(b.compiler.align_free) {
        b.unsupported(r, "alignfree", "free joints aligned with the inertia of their body");
    }
    if joint.springyield != 0.0 {
        b.unsupported(r, "plasticity", "springs that yield");
    }
    let compiler = &b.compiler;
    let range = joint.limit.in_force(r, compiler, "range", "limited")?;
    let force =
        joint.actuator_force.in_force(r, compiler, "actuatorfrcrange", "actuatorfrclimited")?;
    let s = &mut joint.settings;
    s.actuator_force_range = force;
    s.limited = range.is_some() && s.kind != JointKind::Free;
    s.range = joint.limit.range;
    // The file's unit of angle holds for limits that are in force and for reference positions.
    if s.limited && matches!(s.kind, JointKind::Hinge | JointKind::Ball) {
        s.range = s.range.map(|x| compiler.angle(x));
    }
    if s.kind == JointKind::Hinge {
        s.reference = compiler.angle(s.reference);
        s.springref = compiler.angle(s.springref);
    }
    if s.kind == JointKind::Ball && s.limited && s.range[0] != 0.0 {
        return Err(r
            .wrong("range", ErrorKind::OutOfBounds)
            .expected("0 and the largest angle, for a ball joint"));
    }
    s.pos = frame.point(s.pos);
    s.axis = rotate(frame.quat, s.axis);
    s.name = b.name(r, "joint", suffix, b.articulation.joints.len());
    let settings = joint.settings;
    b.articulation
        .add_joint(&mut b.model.leaves, body, &settings)
        .map(|_| ())
        .map_err(|e| r.refused(e))
}
