//! From an articulation of the model to a [`Tree`]: all that is not a number.

use std::sync::Arc;

use costate_model::Model;
use costate_model::rigid as m;

use super::super::tree as t;
use super::CompileError;

/// The structure of the model's articulation.
pub(super) fn tree(model: &Model, a: &m::Articulation) -> Result<t::Tree, CompileError> {
    let mut tree = t::Tree { options: options(model, &a.options), ..t::Tree::default() };
    for body in &a.bodies {
        let gravity_compensated = body.gravcomp.is_some_and(|id| model.leaves.get(id).at(0) != 0.0);
        tree.bodies.push(t::Body {
            parent: body.parent,
            gravity_compensated,
            ..t::Body::default()
        });
    }
    for joint in &a.joints {
        tree.joints.push(t::Joint {
            kind: match joint.kind {
                m::JointKind::Free => t::JointKind::Free,
                m::JointKind::Ball => t::JointKind::Ball,
                m::JointKind::Slide => t::JointKind::Slide,
                m::JointKind::Hinge => t::JointKind::Hinge,
            },
            body: joint.body,
            qpos: 0,
            dof: 0,
            limited: joint.limited,
            actuator_force_limited: joint.actuator_force_range.is_some(),
            actuator_gravity_compensation: joint.actuator_gravcomp,
        });
    }
    tree.index()?;
    let site = |s: &m::Site| t::Site { body: s.body, kind: kind(s.form), size: s.size };
    tree.sites = a.sites.iter().map(site).collect();
    for geom in &a.geoms {
        let ellipsoid = geom.fluid.is_some();
        tree.bodies[geom.body].ellipsoids |= ellipsoid;
        tree.geoms.push(t::Geom {
            ellipsoid,
            kind: kind(geom.form),
            body: geom.body,
            condim: geom.condim,
            contype: geom.contype,
            conaffinity: geom.conaffinity,
            priority: geom.priority,
            hull: None,
            field: match geom.form {
                m::Form::HeightField(field) => a.fields.get(field).cloned().map(Arc::new),
                _ => None,
            },
        });
    }
    let pair = |p: &m::Pair| t::ContactPair { geoms: p.geoms, condim: p.condim };
    tree.pairs = a.pairs.iter().map(pair).collect();
    add_hulls(&mut tree, a);
    tree.excludes = a.excludes.iter().map(|e| e.bodies).collect();
    let mut wraps = 0;
    for tendon in &a.tendons {
        let path = path(a, tendon)?;
        let count = match &path {
            t::TendonPath::Fixed { joints } => joints.len(),
            t::TendonPath::Spatial { path } => path.len(),
        };
        tree.tendons.push(t::Tendon {
            path,
            wraps: wraps..wraps + count,
            limited: tendon.limited,
            actuator_force_limited: tendon.actuator_force_range.is_some(),
        });
        wraps += count;
    }
    let disabled =
        |group: i32| (0..31).contains(&group) && a.options.disabled_actuators & (1 << group) != 0;
    for actuator in &a.actuators {
        if disabled(actuator.group) {
            return Err(CompileError::NotSimulated {
                element: format!("actuator.{}", actuator.name),
                what: "actuators whose group is disabled",
            });
        }
        tree.actuators.push(actuator_of(actuator, &mut tree.na));
    }
    tree.equalities = a
        .equalities
        .iter()
        .map(|e| t::Equality { kind: equality(&e.kind), active: e.active })
        .collect();
    let mut data = 0;
    for sensor in &a.sensors {
        let kind = sensor_kind(sensor.kind).ok_or_else(|| CompileError::NotSimulated {
            element: format!("sensor {}", sensor.name),
            what: "sensors of its kind",
        })?;
        let count = sensor.kind.len();
        tree.sensors.push(t::Sensor { kind, data: data..data + count });
        data += count;
    }
    Ok(tree)
}

/// The shape of a geom.
pub(super) fn kind(form: m::Form) -> t::GeomKind {
    match form {
        m::Form::Plane => t::GeomKind::Plane,
        m::Form::Sphere => t::GeomKind::Sphere,
        m::Form::Capsule => t::GeomKind::Capsule,
        m::Form::Ellipsoid => t::GeomKind::Ellipsoid,
        m::Form::Cylinder => t::GeomKind::Cylinder,
        m::Form::Box => t::GeomKind::Box,
        m::Form::Mesh(_) => t::GeomKind::Mesh,
        m::Form::HeightField(_) => t::GeomKind::HeightField,
    }
}

/// Gives meshes that may touch others their hulls. Points in one plane have none.
fn add_hulls(tree: &mut t::Tree, a: &m::Articulation) {
    let mut hulls: Vec<Option<Option<Arc<m::Hull>>>> = vec![None; a.meshes.len()];
    for (g, geom) in a.geoms.iter().enumerate() {
        let m::Form::Mesh(mesh) = geom.form else { continue };
        let in_pair = tree.pairs.iter().any(|pair| pair.geoms.contains(&g));
        if geom.contype == 0 && geom.conaffinity == 0 && !in_pair {
            continue;
        }
        let of_mesh = || a.meshes[mesh].hull().ok().map(Arc::new);
        tree.geoms[g].hull = hulls[mesh].get_or_insert_with(of_mesh).clone();
    }
}

fn options(model: &Model, o: &m::RigidOptions) -> t::Options {
    let f = &o.flags;
    t::Options {
        timestep: model.options.timestep,
        integrator: match o.integrator {
            m::Integrator::Euler => t::Integrator::Euler,
            m::Integrator::RungeKutta4 => t::Integrator::Rk4,
            m::Integrator::Implicit => t::Integrator::Implicit,
            m::Integrator::ImplicitFast => t::Integrator::ImplicitFast,
            m::Integrator::Discrete => t::Integrator::Discrete,
        },
        implicit_damping: f.eulerdamp,
        elliptic: o.cone == m::Cone::Elliptic,
        impedance_ratio: o.impratio,
        exact_diagonal: f.diagexact,
        relaxation: 0.0,
        safe_reference: f.refsafe,
        // Derivatives hold at the solution: the file's tolerance is for forward runs alone.
        tolerance: o.tolerance.min(1e-12),
        iterations: o.iterations.max(100),
        line_search_tolerance: o.ls_tolerance,
        line_search_iterations: o.ls_iterations,
        gravity: f.gravity,
        fluid: o.fluid.is_some(),
        springs: f.spring,
        dampers: f.damper,
        actuation: f.actuation,
        clamp_control: f.clampctrl,
        constraints: f.constraint,
        equality: f.equality,
        friction_loss: f.frictionloss,
        limits: f.limit,
        contacts: f.contact,
    }
}

fn path(a: &m::Articulation, tendon: &m::Tendon) -> Result<t::TendonPath, CompileError> {
    Ok(match &tendon.path {
        m::TendonPath::Fixed { joints, .. } => t::TendonPath::Fixed { joints: joints.clone() },
        m::TendonPath::Spatial { wraps, .. } => {
            let mut path = Vec::with_capacity(wraps.len());
            for wrap in wraps {
                path.push(match *wrap {
                    m::Wrap::Site(site) => t::PathElement::Site(site),
                    m::Wrap::Pulley { .. } => t::PathElement::Pulley,
                    m::Wrap::Geom { geom, side } => {
                        if !matches!(a.geoms[geom].form, m::Form::Sphere | m::Form::Cylinder) {
                            return Err(CompileError::NotSimulated {
                                element: format!("tendon.{}", tendon.name),
                                what: "tendons that wrap around other geoms than spheres and cylinders",
                            });
                        }
                        t::PathElement::Geom { geom, side }
                    }
                });
            }
            t::TendonPath::Spatial { path }
        }
    })
}

fn actuator_of(actuator: &m::Actuator, na: &mut usize) -> t::Actuator {
    let dynamics = match actuator.law.dynamics() {
        m::DynamicsLaw::None => t::DynamicsKind::None,
        m::DynamicsLaw::Integrator => t::DynamicsKind::Integrator,
        m::DynamicsLaw::Filter => t::DynamicsKind::Filter,
        m::DynamicsLaw::FilterExact => t::DynamicsKind::FilterExact,
        m::DynamicsLaw::Muscle => t::DynamicsKind::Muscle,
    };
    let activation = (dynamics != t::DynamicsKind::None).then(|| {
        *na += 1;
        *na - 1
    });
    t::Actuator {
        transmission: match actuator.transmission {
            m::Transmission::Joint { joint, in_parent: false } => t::Transmission::Joint(joint),
            m::Transmission::Joint { joint, in_parent: true } => {
                t::Transmission::JointInParent(joint)
            }
            m::Transmission::Tendon { tendon } => t::Transmission::Tendon(tendon),
            m::Transmission::Site { site, reference } => t::Transmission::Site { site, reference },
            m::Transmission::SliderCrank { crank, slider } => {
                t::Transmission::SliderCrank { crank, slider }
            }
        },
        dynamics,
        gain: match actuator.law.gain() {
            m::GainLaw::Fixed => t::GainKind::Fixed,
            m::GainLaw::Affine => t::GainKind::Affine,
            m::GainLaw::Muscle => t::GainKind::Muscle,
        },
        bias: match actuator.law.bias() {
            m::BiasLaw::None => t::BiasKind::None,
            m::BiasLaw::Affine => t::BiasKind::Affine,
            m::BiasLaw::Muscle => t::BiasKind::Muscle,
        },
        activation,
        early: actuator.early,
        control_limited: actuator.control_range.is_some(),
        force_limited: actuator.force_range.is_some(),
        activation_limited: actuator.activation_range.is_some(),
    }
}

fn equality(kind: &m::EqualityKind) -> t::EqualityKind {
    use m::Place::{Bodies, Sites};
    match *kind {
        m::EqualityKind::Connect { place: Bodies([first, second]), .. } => {
            t::EqualityKind::Connect { first, second }
        }
        m::EqualityKind::Connect { place: Sites([first, second]), .. } => {
            t::EqualityKind::ConnectSites { first, second }
        }
        m::EqualityKind::Weld { place: Bodies([first, second]), .. } => {
            t::EqualityKind::Weld { first, second }
        }
        m::EqualityKind::Weld { place: Sites([first, second]), .. } => {
            t::EqualityKind::WeldSites { first, second }
        }
        m::EqualityKind::Joint { joint, other, .. } => {
            t::EqualityKind::Joint { first: joint, second: other }
        }
        m::EqualityKind::Tendon { tendon, other, .. } => {
            t::EqualityKind::Tendon { first: tendon, second: other }
        }
    }
}

fn sensor_kind(kind: m::SensorKind) -> Option<t::SensorKind> {
    use m::SensorKind as M;
    use t::SensorKind as T;
    let frame = |object| match object {
        m::FrameObject::Inertial(b) => t::SensorObject::Body(b),
        m::FrameObject::Body(b) => t::SensorObject::BodyFrame(b),
        m::FrameObject::Geom(g) => t::SensorObject::Geom(g),
        m::FrameObject::Site(s) => t::SensorObject::Site(s),
    };
    Some(match kind {
        M::Accelerometer(s) => T::Accelerometer(s),
        M::Velocimeter(s) => T::Velocimeter(s),
        M::Gyro(s) => T::Gyro(s),
        M::Force(s) => T::Force(s),
        M::Torque(s) => T::Torque(s),
        M::Touch(s) => T::Touch(s),
        M::Contact(of) => T::Contact(of),
        M::JointPos(j) => T::JointPosition(j),
        M::JointVel(j) => T::JointVelocity(j),
        M::TendonPos(i) => T::TendonPosition(i),
        M::TendonVel(i) => T::TendonVelocity(i),
        M::ActuatorPos(i) => T::ActuatorPosition(i),
        M::ActuatorVel(i) => T::ActuatorVelocity(i),
        M::ActuatorFrc(i) => T::ActuatorForce(i),
        M::JointActuatorFrc(j) => T::JointActuatorForce(j),
        M::TendonActuatorFrc(i) => T::TendonActuatorForce(i),
        M::BallQuat(j) => T::BallQuaternion(j),
        M::BallAngVel(j) => T::BallAngularVelocity(j),
        M::JointLimitPos(j) => T::JointLimitPosition(j),
        M::JointLimitVel(j) => T::JointLimitVelocity(j),
        M::JointLimitFrc(j) => T::JointLimitForce(j),
        M::TendonLimitPos(i) => T::TendonLimitPosition(i),
        M::TendonLimitVel(i) => T::TendonLimitVelocity(i),
        M::TendonLimitFrc(i) => T::TendonLimitForce(i),
        M::FramePos(f, r) => T::FramePosition(frame(f), r.map(frame)),
        M::FrameQuat(f, r) => T::FrameQuaternion(frame(f), r.map(frame)),
        M::FrameXAxis(f, r) => T::FrameAxis(frame(f), r.map(frame), 0),
        M::FrameYAxis(f, r) => T::FrameAxis(frame(f), r.map(frame), 1),
        M::FrameZAxis(f, r) => T::FrameAxis(frame(f), r.map(frame), 2),
        M::FrameLinVel(f, r) => T::FrameLinearVelocity(frame(f), r.map(frame)),
        M::FrameAngVel(f, r) => T::FrameAngularVelocity(frame(f), r.map(frame)),
        M::FrameLinAcc(f) => T::FrameLinearAcceleration(frame(f)),
        M::FrameAngAcc(f) => T::FrameAngularAcceleration(frame(f)),
        M::SubtreeCom(b) => T::SubtreeCenter(b),
        M::SubtreeLinVel(b) => T::SubtreeLinearVelocity(b),
        M::SubtreeAngMom(b) => T::SubtreeAngularMomentum(b),
        M::PotentialEnergy => T::PotentialEnergy,
        M::KineticEnergy => T::KineticEnergy,
        M::Clock => T::Clock,
        _ => return None,
    })
}
