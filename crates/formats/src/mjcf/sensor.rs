//! `sensor`.

use super::attributes::Reader;
use super::build::Builder;
use super::contact_sensor;
use crate::error::{ErrorKind, Result};
use costate_model::rigid::{FrameObject, Sensor, SensorKind};

/// Adds a child of `sensor`.
pub(super) fn add(b: &mut Builder<'_>, r: &Reader<'_>, suffix: &str) -> Result<()> {
    let name = b.name(r, "sensor", suffix, b.articulation.sensors.len());
    let site = |b: &Builder<'_>| b.site(r, "site", suffix);
    let joint = |b: &Builder<'_>| b.joint(r, "joint", suffix);
    let tendon = |b: &Builder<'_>| b.tendon(r, "tendon", suffix);
    let actuator = |b: &Builder<'_>| b.actuator(r, "actuator", suffix);
    let body = |b: &Builder<'_>| b.body(r, "body", suffix);
    let kind = match r.tag() {
        "accelerometer" => SensorKind::Accelerometer(site(b)?),
        "velocimeter" => SensorKind::Velocimeter(site(b)?),
        "gyro" => SensorKind::Gyro(site(b)?),
        "force" => SensorKind::Force(site(b)?),
        "torque" => SensorKind::Torque(site(b)?),
        "touch" => SensorKind::Touch(site(b)?),
        "jointpos" => SensorKind::JointPos(joint(b)?),
        "jointvel" => SensorKind::JointVel(joint(b)?),
        "ballquat" => SensorKind::BallQuat(joint(b)?),
        "ballangvel" => SensorKind::BallAngVel(joint(b)?),
        "jointactuatorfrc" => SensorKind::JointActuatorFrc(joint(b)?),
        "jointlimitpos" => SensorKind::JointLimitPos(joint(b)?),
        "jointlimitvel" => SensorKind::JointLimitVel(joint(b)?),
        "jointlimitfrc" => SensorKind::JointLimitFrc(joint(b)?),
        "tendonpos" => SensorKind::TendonPos(tendon(b)?),
        "tendonvel" => SensorKind::TendonVel(tendon(b)?),
        "tendonactuatorfrc" => SensorKind::TendonActuatorFrc(tendon(b)?),
        "tendonlimitpos" => SensorKind::TendonLimitPos(tendon(b)?),
        "tendonlimitvel" => SensorKind::TendonLimitVel(tendon(b)?),
        "tendonlimitfrc" => SensorKind::TendonLimitFrc(tendon(b)?),
        "actuatorpos" | "actuatorvel" | "actuatorfrc" if b.is_skipped_actuator(r) => {
            return b.skip_sensor(r, name);
        }
        "actuatorpos" => SensorKind::ActuatorPos(actuator(b)?),
        "actuatorvel" => SensorKind::ActuatorVel(actuator(b)?),
        "actuatorfrc" => SensorKind::ActuatorFrc(actuator(b)?),
        "subtreecom" => SensorKind::SubtreeCom(body(b)?),
        "subtreelinvel" => SensorKind::SubtreeLinVel(body(b)?),
        "subtreeangmom" => SensorKind::SubtreeAngMom(body(b)?),
        "e_potential" => SensorKind::PotentialEnergy,
        "e_kinetic" => SensorKind::KineticEnergy,
        "clock" => SensorKind::Clock,
        "contact" => match contact_sensor::read(b, r, suffix)? {
            Some(of) => SensorKind::Contact(of),
            None => return b.skip_sensor(r, name),
        },
        tag if tag.starts_with("frame") => {
            let Some(object) = frame(b, r, "objtype", "objname", suffix)? else {
                return b.skip_sensor(r, name);
            };
            let reference = if r.has("refname") || r.has("reftype") {
                let Some(reference) = frame(b, r, "reftype", "refname", suffix)? else {
                    return b.skip_sensor(r, name);
                };
                Some(reference)
            } else {
                None
            };
            match tag {
                "framepos" => SensorKind::FramePos(object, reference),
                "framequat" => SensorKind::FrameQuat(object, reference),
                "framexaxis" => SensorKind::FrameXAxis(object, reference),
                "frameyaxis" => SensorKind::FrameYAxis(object, reference),
                "framezaxis" => SensorKind::FrameZAxis(object, reference),
                "framelinvel" => SensorKind::FrameLinVel(object, reference),
                "frameangvel" => SensorKind::FrameAngVel(object, reference),
                "framelinacc" => SensorKind::FrameLinAcc(object),
                _ => SensorKind::FrameAngAcc(object),
            }
        }
        _ => return b.skip_sensor(r, name),
    };
    check_joint(b, r, kind)?;
    if b.articulation.sensor(&name).is_some() {
        return Err(r
            .wrong("name", ErrorKind::Duplicate)
            .expected("a name of its own")
            .found(format!("{name:?} a second time")));
    }
    let sensor = Sensor {
        name,
        kind,
        noise: r.number("noise")?.unwrap_or(0.0),
        cutoff: r.number("cutoff")?.unwrap_or(0.0),
    };
    b.articulation.sensors.push(sensor);
    Ok(())
}

/// Refuses a sensor on a joint of another kind than it measures.
fn check_joint(b: &Builder<'_>, r: &Reader<'_>, kind: SensorKind) -> Result<()> {
    use costate_model::rigid::JointKind;
    let (joint, fits, what) = match kind {
        SensorKind::JointPos(j) | SensorKind::JointVel(j) | SensorKind::JointActuatorFrc(j) => {
            (j, b.articulation.joints[j].kind.is_scalar(), "a slide or hinge")
        }
        SensorKind::BallQuat(j) | SensorKind::BallAngVel(j) => {
            (j, b.articulation.joints[j].kind == JointKind::Ball, "a ball joint")
        }
        SensorKind::JointLimitPos(j)
        | SensorKind::JointLimitVel(j)
        | SensorKind::JointLimitFrc(j) => (j, b.articulation.joints[j].limited, "a limited joint"),
        _ => return Ok(()),
    };
    if fits {
        return Ok(());
    }
    let joint = &b.articulation.joints[joint];
    Err(r.wrong("joint", ErrorKind::Conflict).expected(what).found(format!(
        "the {} joint {:?}",
        joint.kind.name(),
        joint.name
    )))
}

/// The frame of a sensor; none for one that is not kept, such as a camera.
fn frame(
    b: &Builder<'_>,
    r: &Reader<'_>,
    kind: &str,
    name: &str,
    suffix: &str,
) -> Result<Option<FrameObject>> {
    r.required(kind)?;
    r.required(name)?;
    let words = [("body", 0), ("xbody", 1), ("geom", 2), ("site", 3), ("camera", 4)];
    Ok(match r.choice(kind, &words)? {
        Some(0) => Some(FrameObject::Inertial(b.body(r, name, suffix)?)),
        Some(1) => Some(FrameObject::Body(b.body(r, name, suffix)?)),
        Some(2) => Some(FrameObject::Geom(b.geom(r, name, suffix)?)),
        Some(3) => Some(FrameObject::Site(b.site(r, name, suffix)?)),
        _ => None,
    })
}
