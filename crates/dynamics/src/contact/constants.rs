//! The constants of one geom's contact and where they come from.

use std::ops::Range;

use costate_model::{ContactMaterial, Geom, Model, ModelError};
use costate_num::{Dual, DualN, Quat, Scalar, Vec3};

use super::laws::{ContactParameters, Friction};
use super::shapes::Pose;

/// Entries of pose and size: position 3, unit quaternion 4, size 3.
pub(super) const POSE: usize = 10;
const QUAT: usize = 3;
const SIZE: usize = 7;
/// Entries of the contact parameters.
pub(crate) const PARAMETERS: usize = 5;
/// Where |g| is, which only the stable step reads, and where the radii of the vertices start, counted
/// from the parameters.
pub(crate) const LOAD: usize = PARAMETERS;
pub(crate) const FIRST_RADIUS: usize = LOAD + 1;
/// The same counted from the pose.
pub(super) const GRAVITY: usize = POSE + LOAD;
pub(super) const RADII: usize = POSE + FIRST_RADIUS;

/// Pose and size from the first [`POSE`] constants.
#[inline(always)]
pub(super) fn pose<S: Scalar>(c: &[S; POSE]) -> Pose<S> {
    Pose {
        pos: Vec3::new(c[0], c[1], c[2]),
        quat: Quat::new(c[3], c[4], c[5], c[6]),
        size: [c[7], c[8], c[9]],
    }
}

/// Contact parameters from the constants that follow the pose.
#[inline(always)]
pub(crate) fn parameters<S: Scalar>(c: &[S; PARAMETERS]) -> ContactParameters<S> {
    ContactParameters { stiffness: c[0], damping: c[1], friction: c[2], slip: c[3], ramp: c[4] }
}

/// Where the constants of a static geom's contact lie in θ.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pos: usize,
    quat: usize,
    size: Range<usize>,
    settings: SettingsSource,
}

/// Where contact parameters, |g| and the radii of the vertices lie in θ.
#[derive(Clone, Debug)]
pub(crate) struct SettingsSource {
    parameters: [usize; PARAMETERS],
    gravity: usize,
    /// Per soft body its vertices, and their radii in θ (one for all, or one each).
    radii: Vec<(Range<usize>, Range<usize>)>,
}

fn unit<S: Scalar>(q: [S; 4]) -> [S; 4] {
    let q = Quat::new(q[0], q[1], q[2], q[3]).normalize();
    [q.w, q.v.x, q.v.y, q.v.z]
}

impl SettingsSource {
    /// Where the constants of the contact of `element` come from, and how its friction starts:
    /// `with_slope` where the model gives a slope.
    pub fn new(
        model: &Model,
        element: &str,
        contact: &ContactMaterial,
        with_slope: Friction,
    ) -> Result<(Self, Friction), ModelError> {
        let leaves = &model.leaves;
        let start = |id| leaves.range(id).start;
        let (friction, slip) = match (contact.slip_speed, contact.friction_damping) {
            (Some(speed), _) => (Friction::SlipSpeed, speed),
            (None, Some(slope)) => (with_slope, slope),
            (None, None) => {
                let message = "its contact needs slip_speed or friction_damping";
                return Err(ModelError::invalid(element, message));
            }
        };
        let radii = model
            .soft
            .iter()
            .enumerate()
            .map(|(b, body)| {
                let first = model.first_vertex(b);
                (first..first + body.vertex_count, leaves.range(body.radius))
            })
            .collect();
        let parameters =
            [contact.stiffness, contact.damping, contact.friction, slip, contact.ramp].map(start);
        Ok((Self { parameters, gravity: start(model.options.gravity), radii }, friction))
    }

    /// Calls `visit(constant, entry of θ)` for every constant that is a copy.
    fn copies(&self, mut visit: impl FnMut(usize, usize)) {
        for (k, &i) in self.parameters.iter().enumerate() {
            visit(k, i);
        }
        for (vertices, radii) in &self.radii {
            for (k, vertex) in vertices.clone().enumerate() {
                let at = if radii.len() == 1 { radii.start } else { radii.start + k };
                visit(FIRST_RADIUS + vertex, at);
            }
        }
    }

    fn gravity<S: Scalar>(&self, mut entry: impl FnMut(usize, usize) -> S) -> S {
        let at = self.gravity;
        Vec3::new(entry(at, 0), entry(at + 1, 1), entry(at + 2, 2)).norm()
    }

    pub fn derive(&self, theta: &[f64], c: &mut [f64]) {
        self.copies(|to, from| c[to] = theta[from]);
        c[LOAD] = self.gravity(|i, _| theta[i]);
    }

    pub fn pushforward(&self, theta: &[f64], theta_dot: &[f64], c_dot: &mut [f64]) {
        self.copies(|to, from| c_dot[to] = theta_dot[from]);
        c_dot[LOAD] = self.gravity(|i, _| Dual::new(theta[i], theta_dot[i])).tangent[0];
    }

    pub fn pullback(&self, theta: &[f64], c_bar: &[f64], theta_bar: &mut [f64]) {
        self.copies(|to, from| theta_bar[from] += c_bar[to]);
        let g = self.gravity(|i, k| DualN::<f64, 3>::variable(theta[i], k));
        for k in 0..3 {
            theta_bar[self.gravity + k] += c_bar[LOAD] * g.tangent[k];
        }
    }
}

impl Source {
    /// Where the constants of `geom` come from, and how its friction starts, as of
    /// [`SettingsSource::new`].
    pub fn new(
        model: &Model,
        geom: &Geom,
        with_slope: Friction,
    ) -> Result<(Self, Friction), ModelError> {
        let leaves = &model.leaves;
        let element = format!("geom.{}", geom.name);
        let (settings, friction) = SettingsSource::new(model, &element, &geom.contact, with_slope)?;
        let source = Self {
            pos: leaves.range(geom.pos).start,
            quat: leaves.range(geom.quat).start,
            size: geom.size.map_or(0..0, |id| leaves.range(id)),
            settings,
        };
        Ok((source, friction))
    }

    /// Calls `visit(constant, entry of θ)` for every constant of the pose that is a copy.
    fn copies(&self, mut visit: impl FnMut(usize, usize)) {
        for k in 0..3 {
            visit(k, self.pos + k);
        }
        for (k, i) in self.size.clone().enumerate() {
            visit(SIZE + k, i);
        }
    }

    fn quat<S: Scalar>(&self, mut entry: impl FnMut(usize, usize) -> S) -> [S; 4] {
        let mut q = [S::zero(); 4];
        for (k, slot) in q.iter_mut().enumerate() {
            *slot = entry(self.quat + k, k);
        }
        unit(q)
    }

    pub fn derive(&self, theta: &[f64], c: &mut [f64]) {
        c[SIZE..POSE].fill(0.0);
        self.copies(|to, from| c[to] = theta[from]);
        c[QUAT..SIZE].copy_from_slice(&self.quat(|i, _| theta[i]));
        self.settings.derive(theta, &mut c[POSE..]);
    }

    pub fn pushforward(&self, theta: &[f64], theta_dot: &[f64], c_dot: &mut [f64]) {
        c_dot[SIZE..POSE].fill(0.0);
        self.copies(|to, from| c_dot[to] = theta_dot[from]);
        let q = self.quat(|i, _| Dual::new(theta[i], theta_dot[i]));
        for (slot, value) in c_dot[QUAT..SIZE].iter_mut().zip(q) {
            *slot = value.tangent[0];
        }
        self.settings.pushforward(theta, theta_dot, &mut c_dot[POSE..]);
    }

    pub fn pullback(&self, theta: &[f64], c_bar: &[f64], theta_bar: &mut [f64]) {
        self.copies(|to, from| theta_bar[from] += c_bar[to]);
        let q = self.quat(|i, k| DualN::<f64, 4>::variable(theta[i], k));
        for (bar, value) in c_bar[QUAT..SIZE].iter().zip(q) {
            for k in 0..4 {
                theta_bar[self.quat + k] += bar * value.tangent[k];
            }
        }
        self.settings.pullback(theta, &c_bar[POSE..], theta_bar);
    }
}
