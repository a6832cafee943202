//! What sensors measure: functions of a state, its acceleration and the constants.
//!
//! Accelerations are proper ones (at rest an accelerometer measures −g), as MuJoCo has them. Forces
//! between bodies are those that Newton-Euler's recursion needs there; constraints between bodies are not
//! among them, and are refused.

use costate_num::spatial::{Force, Motion};
use costate_num::{Quat, Scalar, Vec3};

use super::armature::multiply_armature;
use super::constants::Layout;
use super::constraint::{ConstraintStage, Constraints, LimitReading, Source};
use super::error::RigidError;
use super::forward::{At, Dynamics};
use super::inverse::{accelerations, body_forces, lift};
use super::kinematics::{quat_at, vec3};
use super::tree::{EqualityKind, JointKind, SensorKind, SensorObject, Transmission, Tree};

/// A frame that moves: about the origin of its tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moving<S> {
    /// Its position from the origin.
    pub position: Vec3<S>,
    /// The origin.
    pub origin: Vec3<S>,
    /// Its orientation.
    pub orientation: Quat<S>,
    /// Twist of its body.
    pub velocity: Motion<S>,
    /// Acceleration of its body.
    pub acceleration: Motion<S>,
    /// Total force on its body and all that hangs on it.
    pub force: Force<S>,
}

impl<S: Scalar> Moving<S> {
    fn at(self) -> Vec3<S> {
        self.origin + self.position
    }
    fn linear_velocity(self) -> Vec3<S> {
        self.velocity.linear + self.velocity.angular.cross(self.position)
    }
    fn linear_acceleration(self) -> Vec3<S> {
        let Motion { angular, linear } = self.acceleration;
        let turning = self.velocity.angular.cross(self.linear_velocity());
        linear + angular.cross(self.position) + turning
    }
    fn inward(self, v: Vec3<S>) -> Vec3<S> {
        self.orientation.conjugate().rotate(v)
    }
}

/// Motions, forces and sums that sensors share.
#[derive(Clone, Debug)]
pub(crate) struct Measured<S> {
    pub velocity: Vec<Motion<S>>,
    pub acceleration: Vec<Motion<S>>,
    /// Per body: force on it.
    pub own: Vec<Force<S>>,
    /// Per body: force on it and all that hangs on it.
    pub force: Vec<Force<S>>,
    /// Per body: centre of mass of it and all that hangs on it.
    pub centers: Vec<Vec3<S>>,
    pub masses: Vec<S>,
}

impl<S: Scalar> Measured<S> {
    pub fn new(tree: &Tree) -> Self {
        let n = tree.bodies.len();
        Self {
            velocity: vec![Motion::zero(); n],
            acceleration: vec![Motion::zero(); n],
            own: vec![Force::zero(); n],
            force: vec![Force::zero(); n],
            centers: Vec::with_capacity(n),
            masses: Vec::with_capacity(n),
        }
    }

    /// All of it, at joint accelerations `a`.
    pub fn update(
        &mut self,
        tree: &Tree,
        layout: &Layout,
        c: &[S],
        d: &Dynamics<S>,
        v: &[S],
        a: &[S],
    ) {
        let k = &d.kinematics;
        let world = lift(tree, layout, c);
        let (velocity, acceleration) = (&mut self.velocity, &mut self.acceleration);
        accelerations(tree, &k.subspace, v, a, world, velocity, acceleration);
        body_forces(&d.inertias, velocity, acceleration, &mut self.own);
        self.force.copy_from_slice(&self.own);
        for b in (1..tree.bodies.len()).rev() {
            let total = self.force[b];
            self.force[tree.bodies[b].parent] += total;
        }
        k.subtree_centers(tree, layout, c, &mut self.centers, &mut self.masses);
    }

    /// The frame of an object.
    pub fn moving(
        &self,
        tree: &Tree,
        layout: &Layout,
        c: &[S],
        d: &Dynamics<S>,
        object: SensorObject,
    ) -> Moving<S> {
        let k = &d.kinematics;
        let (body, place, orientation) = match object {
            SensorObject::Body(b) => {
                let axes = quat_at(c, layout.body_iquat.at(b));
                (b, k.xipos[b], k.xquat[b].product(axes))
            }
            SensorObject::BodyFrame(b) => (b, k.xpos[b], k.xquat[b]),
            SensorObject::Geom(g) => {
                let pose = k.geom(tree, layout, c, g);
                (tree.geoms[g].body, pose.position, pose.orientation)
            }
            SensorObject::Site(s) => {
                let pose = k.site(tree, layout, c, s);
                (tree.sites[s].body, pose.position, pose.orientation)
            }
        };
        let origin = k.origin[body];
        Moving {
            position: place - origin,
            origin,
            orientation,
            velocity: self.velocity[body],
            acceleration: self.acceleration[body],
            force: self.force[body],
        }
    }

    /// Momentum of a body and all that hangs on it: angular about the world's origin, linear.
    pub fn momentum(&self, tree: &Tree, d: &Dynamics<S>, body: usize) -> Force<S> {
        let mut sum = Force::zero();
        for b in body..tree.bodies.len() {
            if b > 0 && tree.is_above(body, b) {
                let own = d.inertias[b].apply(self.velocity[b]);
                let origin = d.kinematics.origin[b];
                sum += Force::new(own.moment + origin.cross(own.force), own.force);
            }
        }
        sum
    }
}

/// The frames that a sensor is about, and against.
pub(crate) fn objects(kind: SensorKind) -> Option<(SensorObject, Option<SensorObject>)> {
    use SensorKind as K;
    match kind {
        K::Accelerometer(s)
        | K::Velocimeter(s)
        | K::Gyro(s)
        | K::Force(s)
        | K::Torque(s)
        | K::Magnetometer(s) => Some((SensorObject::Site(s), None)),
        K::FramePosition(o, r)
        | K::FrameQuaternion(o, r)
        | K::FrameAxis(o, r, _)
        | K::FrameLinearVelocity(o, r)
        | K::FrameAngularVelocity(o, r) => Some((o, r)),
        K::FrameLinearAcceleration(o) | K::FrameAngularAcceleration(o) => Some((o, None)),
        _ => None,
    }
}

/// What a sensor of moving frames measures, in up to four numbers.
pub(crate) fn of_frames<S: Scalar>(
    kind: SensorKind,
    own: Moving<S>,
    reference: Option<Moving<S>>,
    magnetic: Vec3<S>,
) -> [S; 4] {
    use SensorKind as K;
    let seen = |v: Vec3<S>| reference.map_or(v, |r| r.inward(v));
    let vector = match kind {
        K::Accelerometer(_) => own.inward(own.linear_acceleration()),
        K::Velocimeter(_) => own.inward(own.linear_velocity()),
        K::Gyro(_) => own.inward(own.velocity.angular),
        K::Force(_) => own.inward(own.force.force),
        K::Torque(_) => own.inward(own.force.moment - own.position.cross(own.force.force)),
        K::Magnetometer(_) => own.inward(magnetic),
        K::FramePosition(..) => seen(own.at() - reference.map_or(Vec3::zero(), Moving::at)),
        K::FrameQuaternion(..) => {
            let q = match reference {
                Some(r) => r.orientation.conjugate().product(own.orientation),
                None => own.orientation,
            };
            return [q.w, q.v.x, q.v.y, q.v.z];
        }
        K::FrameAxis(_, _, axis) => seen(own.orientation.to_matrix().columns[axis]),
        K::FrameLinearVelocity(..) => match reference {
            None => own.linear_velocity(),
            Some(r) => {
                let turning = r.velocity.angular.cross(own.at() - r.at());
                r.inward(own.linear_velocity() - r.linear_velocity() - turning)
            }
        },
        K::FrameAngularVelocity(..) => {
            seen(own.velocity.angular - reference.map_or(Vec3::zero(), |r| r.velocity.angular))
        }
        K::FrameLinearAcceleration(_) => own.linear_acceleration(),
        K::FrameAngularAcceleration(_) => own.acceleration.angular,
        _ => Vec3::zero(),
    };
    [vector.x, vector.y, vector.z, S::zero()]
}

/// Energy of gravity and springs, zero at the origin and at rest.
fn potential_energy<S: Scalar>(
    tree: &Tree,
    layout: &Layout,
    c: &[S],
    d: &Dynamics<S>,
    qpos: &[S],
) -> S {
    let mut sum = S::zero();
    if tree.options.gravity {
        let g = vec3(c, layout.gravity, 0);
        for b in 1..tree.bodies.len() {
            sum += -(c[layout.body_mass.at(b)] * g.dot(d.kinematics.xipos[b]));
        }
    }
    if !tree.options.springs {
        return sum;
    }
    let spring = |j: usize, x: S| {
        let at = layout.jnt_stiffnesspoly.at(j);
        let (k, k1, k2) = (c[layout.jnt_stiffness.at(j)], c[at], c[at + 1]);
        x * x * (k.scale(0.5) + x * (k1.scale(1.0 / 3.0) + x * k2.scale(0.25)))
    };
    for (j, joint) in tree.joints.iter().enumerate() {
        let q = joint.qpos;
        let shift = |i: usize| qpos[q + i] - c[layout.qpos_spring.at(q + i)];
        let turn = |q: usize| {
            let rest = quat_at(c, layout.qpos_spring.at(q));
            rest.conjugate().product(quat_at(qpos, q).normalize()).to_rotation_vector().norm()
        };
        sum += match joint.kind {
            JointKind::Slide | JointKind::Hinge => spring(j, shift(0)),
            JointKind::Ball => spring(j, turn(q)),
            JointKind::Free => {
                spring(j, Vec3::new(shift(0), shift(1), shift(2)).norm()) + spring(j, turn(q + 3))
            }
        };
    }
    for t in 0..tree.tendons.len() {
        let at = layout.tendon_lengthspring.at(t);
        let length = d.tendons.length[t];
        let slack = S::select(length.lt(c[at]), length - c[at], S::zero());
        let x = S::select(length.gt(c[at + 1]), length - c[at + 1], slack);
        let at = layout.tendon_stiffnesspoly.at(t);
        let (k, k1, k2) = (c[layout.tendon_stiffness.at(t)], c[at], c[at + 1]);
        sum += x * x * (k.scale(0.5) + x * (k1.scale(1.0 / 3.0) + x * k2.scale(0.25)));
    }
    sum
}

/// What the sensors measure, but for forces of limits. `d` is evaluated at the state, `m` at its
/// acceleration.
pub(crate) fn measure<S: Scalar>(
    tree: &Tree,
    layout: &Layout,
    c: &[S],
    d: &Dynamics<S>,
    m: &Measured<S>,
    at: At<S>,
    time: f64,
    out: &mut [S],
) {
    use SensorKind as K;
    for sensor in &tree.sensors {
        let out = &mut out[sensor.data.clone()];
        if let Some((own, reference)) = objects(sensor.kind) {
            let moving = |o: SensorObject| m.moving(tree, layout, c, d, o);
            let magnetic = vec3(c, layout.magnetic, 0);
            let values = of_frames(sensor.kind, moving(own), reference.map(moving), magnetic);
            let n = out.len().min(4);
            out[..n].copy_from_slice(&values[..n]);
            continue;
        }
        let q = |j: usize| tree.joints[j].qpos;
        let dof = |j: usize| tree.joints[j].dof;
        match sensor.kind {
            K::BallQuaternion(j) => {
                let quat = quat_at(at.qpos, q(j)).normalize();
                out.copy_from_slice(&[quat.w, quat.v.x, quat.v.y, quat.v.z]);
            }
            K::BallAngularVelocity(j) => out.copy_from_slice(&at.qvel[dof(j)..dof(j) + 3]),
            K::SubtreeCenter(b) => out.copy_from_slice(&m.centers[b].to_array()),
            K::SubtreeLinearVelocity(b) => {
                let inverse = m.masses[b].max(S::splat(1e-15)).recip();
                out.copy_from_slice(&(m.momentum(tree, d, b).force * inverse).to_array());
            }
            K::SubtreeAngularMomentum(b) => {
                let h = m.momentum(tree, d, b);
                out.copy_from_slice(&(h.moment - m.centers[b].cross(h.force)).to_array());
            }
            kind => {
                out[0] = match kind {
                    K::JointPosition(j) => at.qpos[q(j)],
                    K::JointVelocity(j) => at.qvel[dof(j)],
                    K::TendonPosition(t) => d.tendons.length[t],
                    K::TendonVelocity(t) => d.tendons.velocity[t],
                    K::ActuatorPosition(i) => d.actuation.length[i],
                    K::ActuatorVelocity(i) => d.actuation.velocity[i],
                    K::ActuatorForce(i) => d.actuation.force[i],
                    K::JointActuatorForce(j) => d.qfrc_actuator[dof(j)],
                    K::TendonActuatorForce(t) => {
                        let mut sum = S::zero();
                        for (i, actuator) in tree.actuators.iter().enumerate() {
                            if actuator.transmission == Transmission::Tendon(t) {
                                sum += d.actuation.force[i];
                            }
                        }
                        sum
                    }
                    K::PotentialEnergy => potential_energy(tree, layout, c, d, at.qpos),
                    K::KineticEnergy => {
                        let mut sum = S::zero();
                        for b in 1..tree.bodies.len() {
                            sum += m.velocity[b].dot(d.inertias[b].apply(m.velocity[b]));
                        }
                        for i in 0..tree.nv {
                            sum += c[layout.dof_armature.at(i)] * at.qvel[i] * at.qvel[i];
                        }
                        let mut along = vec![S::zero(); tree.nv];
                        multiply_armature(tree, layout, c, &d.tendons, at.qvel, &mut along);
                        for (x, v) in along.iter().zip(at.qvel) {
                            sum += *x * *v;
                        }
                        sum.scale(0.5)
                    }
                    K::Clock => S::splat(time),
                    // Of limits: written where the rows are.
                    _ => S::zero(),
                };
            }
        }
    }
}

/// What sensors of limits measure: of the first row of the limit at acceleration `a`, zero where there is
/// none. `stage` has the rows' solution.
pub(crate) fn measure_limits<S: Scalar>(
    tree: &Tree,
    constraints: &Constraints<S>,
    stage: &ConstraintStage,
    a: &[S],
    out: &mut [S],
) {
    for sensor in &tree.sensors {
        let Some(reading) = LimitReading::of(sensor.kind) else { continue };
        out[sensor.data.start] = match constraints.limit_row(sensor.kind) {
            Some(r) => constraints.read_limit(reading, r, a, stage.pushes(r)),
            None => S::zero(),
        };
    }
}

/// Refuses what sensors do not know: forces between bodies where constraints act between them.
pub(crate) fn check(tree: &Tree, stage: &ConstraintStage) -> Result<(), RigidError> {
    let between = stage.constraints.items.iter().any(|item| match item.source {
        Source::Equality(e) => !matches!(
            tree.equalities[e].kind,
            EqualityKind::Joint { .. } | EqualityKind::Tendon { .. }
        ),
        _ => false,
    });
    for sensor in &tree.sensors {
        let what = match sensor.kind {
            SensorKind::Force(_) | SensorKind::Torque(_) if between => {
                "force sensors beside constraints between bodies"
            }
            _ => continue,
        };
        return Err(RigidError::Unsupported { what });
    }
    Ok(())
}
