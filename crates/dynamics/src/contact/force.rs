//! The contact of all soft vertices with one geom, as a [`Force`].

use std::marker::PhantomData;

use costate_model::{Geom, Model, ModelError};
use costate_num::{Dual, DualN, Kernel, Lanes, MAX_LANES, Mask, Scalar, Vec3, dispatch};

use super::constants::{self, GRAVITY, PARAMETERS, POSE, RADII, Source};
use super::laws::{self, ContactLaw, ContactParameters, Friction};
use super::onset::OnsetForce;
use super::shapes::{self, Bound, Pose, Surface};
use crate::force::{Adjoints, At, Force, Scratch, Tangents};
use crate::soft::{dual3, tangent3};

/// Contact of every soft vertex with a static geom of shape `F` under the law `L`.
///
/// Constants: position 3, unit quaternion 4, size 3, stiffness, damping, friction, slip speed or
/// slope, ramp, |g|, then the radius of every vertex.
pub(super) struct Contact<F, L> {
    label: String,
    source: Source,
    pub(super) geom: String,
    vertices: usize,
    pub(super) friction: Friction,
    kind: PhantomData<(F, L)>,
}

/// A vertex that touches.
#[derive(Clone, Copy)]
pub(super) struct Touching {
    pub vertex: usize,
    pub depth: f64,
    pub normal: Vec3<f64>,
}

pub(crate) fn vec3(values: &[f64], vertex: usize) -> Vec3<f64> {
    Vec3::new(values[3 * vertex], values[3 * vertex + 1], values[3 * vertex + 2])
}

pub(crate) fn add3(to: &mut [f64], vertex: usize, value: Vec3<f64>) {
    to[3 * vertex] += value.x;
    to[3 * vertex + 1] += value.y;
    to[3 * vertex + 2] += value.z;
}

/// The constants of the geom without derivatives.
pub(super) fn plain(c: &[f64]) -> (Pose<f64>, ContactParameters<f64>) {
    let (mut pose, mut parameters) = ([0.0; POSE], [0.0; PARAMETERS]);
    pose.copy_from_slice(&c[..POSE]);
    parameters.copy_from_slice(&c[POSE..GRAVITY]);
    (constants::pose(&pose), constants::parameters(&parameters))
}

/// The constants of the geom with their tangents (none given means zero).
pub(super) fn moving(c: &[f64], c_dot: &[f64]) -> (Pose<Dual<f64>>, ContactParameters<Dual<f64>>) {
    let at = |i: usize| Dual::new(c[i], if c_dot.is_empty() { 0.0 } else { c_dot[i] });
    let (mut pose, mut parameters) = ([Dual::zero(); POSE], [Dual::zero(); PARAMETERS]);
    for (i, slot) in pose.iter_mut().enumerate() {
        *slot = at(i);
    }
    for (i, slot) in parameters.iter_mut().enumerate() {
        *slot = at(POSE + i);
    }
    (constants::pose(&pose), constants::parameters(&parameters))
}

/// A vector with its tangent (none given means zero).
pub(super) fn moving3(values: &[f64], tangents: &[f64], vertex: usize) -> Vec3<Dual<f64>> {
    let tangent = if tangents.is_empty() { Vec3::zero() } else { vec3(tangents, vertex) };
    dual3(vec3(values, vertex), tangent)
}

/// Lists the vertices that a cheap bound cannot rule out, in order, at the start of `near`, and returns
/// how many they are.
pub(crate) fn near<F: Surface>(
    radii: &[f64],
    pose: &Pose<f64>,
    x: &[f64],
    near: &mut Vec<u32>,
) -> usize {
    near.resize(radii.len(), 0);
    dispatch(Near { bound: F::bound(pose), pos: pose.pos, radii, x, list: near })
}

/// Lists the vertices within a bound.
struct Near<'a> {
    bound: Bound,
    pos: Vec3<f64>,
    radii: &'a [f64],
    x: &'a [f64],
    list: &'a mut [u32],
}

impl Kernel for Near<'_> {
    type Output = usize;
    #[inline(always)]
    fn run<S: Lanes>(self) -> usize {
        let Self { bound, pos, radii, x, list } = self;
        let origin = Vec3::new(S::splat(pos.x), S::splat(pos.y), S::splat(pos.z));
        let mut vertices = [0; MAX_LANES];
        let (mut count, mut first) = (0, 0);
        while first < radii.len() {
            let mut end = first + S::N;
            let mut skip = false;
            if end <= radii.len() {
                let mut lane = 0;
                while lane < S::N {
                    vertices[lane] = (first + lane) as u32;
                    lane += 1;
                }
                let d = S::load_vec3(x, &vertices[..S::N]) - origin;
                skip = !bound.may_hold(d, S::load(&radii[first..])).any();
            } else {
                end = radii.len();
            }
            // Few groups have a vertex that is near; theirs are looked at one by one.
            while !skip && first < end {
                if bound.may_hold(vec3(x, first) - pos, radii[first]) {
                    list[count] = first as u32;
                    count += 1;
                }
                first += 1;
            }
            first = end;
        }
        count
    }
}

/// Largest stiffness and damping over mass of a contact, and which of its parts is the largest.
/// Friction counts with its slope, under the vertex's own weight at `gravity` where the slope grows with
/// the load. Of each vertex that can move: its inverse mass, and that of what is pushed apart.
pub(crate) fn rates(
    p: &ContactParameters<f64>,
    friction: Friction,
    gravity: f64,
    masses: impl Iterator<Item = [f64; 2]>,
) -> (f64, f64, &'static str) {
    let (mut stiffness, mut damping, mut slip) = (0.0f64, 0.0f64, 0.0f64);
    for [own, w] in masses {
        let slope = friction.slope(p.friction, gravity / own, p.slip);
        stiffness = stiffness.max(p.stiffness * w);
        damping = damping.max(p.damping * w);
        slip = slip.max(slope * w);
    }
    let rate = damping.max(slip);
    let what = if rate < stiffness.sqrt() {
        "stiffness"
    } else if slip > damping {
        "friction"
    } else {
        "damping"
    };
    (stiffness, rate, what)
}

impl<F: Surface, L: ContactLaw> Contact<F, L> {
    pub fn new(model: &Model, geom: &Geom) -> Result<Self, ModelError> {
        let (source, friction) = Source::new(model, geom, L::SLOPE)?;
        Ok(Self {
            label: format!("geom.{} contact", geom.name),
            source,
            geom: geom.name.clone(),
            vertices: model.vertex_count(),
            friction,
            kind: PhantomData,
        })
    }

    /// Depth of one vertex (negative above the surface) and the surface's normal.
    #[inline(always)]
    pub(super) fn place(
        &self,
        c: &[f64],
        pose: &Pose<f64>,
        x: &[f64],
        vertex: usize,
    ) -> (f64, Vec3<f64>) {
        let (distance, normal) = shapes::distance::<F, f64>(vec3(x, vertex), pose);
        (c[RADII + vertex] - distance, normal)
    }

    /// Calls `visit` for every vertex that touches, in order.
    pub(super) fn for_touching(
        &self,
        c: &[f64],
        x: &[f64],
        near: &mut Vec<u32>,
        mut visit: impl FnMut(Touching),
    ) {
        let (pose, _) = plain(c);
        let count = self::near::<F>(&c[RADII..RADII + self.vertices], &pose, x, near);
        for &vertex in &near[..count] {
            let vertex = vertex as usize;
            let (depth, normal) = self.place(c, &pose, x, vertex);
            if L::touches(depth) {
                visit(Touching { vertex, depth, normal });
            }
        }
    }
}

/// The scratch of a contact: the vertices that may touch.
fn near_of(scratch: &mut Scratch) -> &mut Vec<u32> {
    // A foreign scratch is replaced, so that a mix-up costs an allocation and nothing else.
    if !scratch.is::<Vec<u32>>() {
        *scratch = Box::new(Vec::<u32>::new());
    }
    scratch.downcast_mut().expect("the line above made it a list")
}

impl<F: Surface, L: ContactLaw> Force for Contact<F, L> {
    fn label(&self) -> &str {
        &self.label
    }

    fn constants_len(&self) -> usize {
        RADII + self.vertices
    }

    fn scratch(&self) -> Scratch {
        Box::new(Vec::<u32>::new())
    }

    fn derive(&self, theta: &[f64], c: &mut [f64]) {
        self.source.derive(theta, c);
    }

    fn derive_pushforward(&self, theta: &[f64], theta_dot: &[f64], c_dot: &mut [f64]) {
        self.source.pushforward(theta, theta_dot, c_dot);
    }

    fn derive_pullback(&self, theta: &[f64], c_bar: &[f64], theta_bar: &mut [f64]) {
        self.source.pullback(theta, c_bar, theta_bar);
    }

    fn add_forces(&self, c: &[f64], at: At, f: &mut [f64], scratch: &mut Scratch) {
        let (_, parameters) = plain(c);
        self.for_touching(c, at.x, near_of(scratch), |t| {
            let v = vec3(at.v, t.vertex);
            let push = laws::force::<L, f64>(t.depth, t.normal, v, &parameters, self.friction);
            add3(f, t.vertex, push);
        });
    }

    fn pushforward(
        &self,
        c: &[f64],
        at: At,
        tangents: Tangents,
        f_dot: &mut [f64],
        scratch: &mut Scratch,
    ) {
        let n = at.x.len();
        let columns: Vec<_> = (0..tangents.columns)
            .map(|k| {
                let along = tangents.column(k, at, self.constants_len());
                (along, moving(c, along.c))
            })
            .collect();
        self.for_touching(c, at.x, near_of(scratch), |t| {
            let i = t.vertex;
            for (k, (along, (pose, parameters))) in columns.iter().enumerate() {
                let (distance, normal) =
                    shapes::distance::<F, Dual<f64>>(moving3(at.x, along.x, i), pose);
                let r_dot = if along.c.is_empty() { 0.0 } else { along.c[RADII + i] };
                let depth = Dual::new(c[RADII + i], r_dot) - distance;
                let v = moving3(at.v, along.v, i);
                let push = laws::force::<L, _>(depth, normal, v, parameters, self.friction);
                add3(&mut f_dot[k * n..(k + 1) * n], i, tangent3(push));
            }
        });
    }

    fn pullback(
        &self,
        c: &[f64],
        at: At,
        lambda: &[f64],
        adjoints: Adjoints,
        scratch: &mut Scratch,
    ) {
        let (pose, parameters) = plain(c);
        self.for_touching(c, at.x, near_of(scratch), |t| {
            let i = t.vertex;
            let (v, l) = (vec3(at.v, i), vec3(lambda, i));
            let g = laws::force_gradient::<L>(t.depth, t.normal, v, &parameters, self.friction, l);
            let (by_x, by_pose) =
                shapes::distance_gradient::<F>(vec3(at.x, i), &pose, -g.depth, g.normal);
            add3(adjoints.x, i, by_x);
            add3(adjoints.v, i, g.velocity);
            for (bar, g) in adjoints.c.iter_mut().zip(by_pose.iter().chain(&g.parameters)) {
                *bar += g;
            }
            adjoints.c[RADII + i] += g.depth;
            if let Some(work) = adjoints.work.get_mut(i) {
                let push = laws::force::<L, f64>(t.depth, t.normal, v, &parameters, self.friction);
                *work += l.dot(push);
            }
        });
    }

    fn energy(&self, c: &[f64], at: At) -> f64 {
        let (_, parameters) = plain(c);
        let mut sum = 0.0;
        self.for_touching(c, at.x, &mut Vec::new(), |t| sum += L::energy(t.depth, &parameters));
        sum
    }

    fn energy_pullback(&self, c: &[f64], at: At, weight: f64, adjoints: Adjoints) {
        type D = DualN<f64, { PARAMETERS + 1 }>;
        let mut parameters = [D::zero(); PARAMETERS];
        for (i, slot) in parameters.iter_mut().enumerate() {
            *slot = D::variable(c[POSE + i], 1 + i);
        }
        let parameters = constants::parameters(&parameters);
        let (pose, _) = plain(c);
        self.for_touching(c, at.x, &mut Vec::new(), |t| {
            let mut g = L::energy(D::variable(t.depth, 0), &parameters).tangent;
            for slot in &mut g {
                *slot *= weight;
            }
            let (by_x, by_pose) =
                shapes::distance_gradient::<F>(vec3(at.x, t.vertex), &pose, -g[0], Vec3::zero());
            add3(adjoints.x, t.vertex, by_x);
            for (bar, g) in adjoints.c.iter_mut().zip(by_pose.iter().chain(&g[1..])) {
                *bar += g;
            }
            adjoints.c[RADII + t.vertex] += g[0];
        });
    }

    fn contact_rates(&self, c: &[f64], inverse_mass: &[f64]) -> Option<(f64, f64, String)> {
        let (_, p) = plain(c);
        let masses = inverse_mass.iter().take(self.vertices).filter(|w| **w > 0.0);
        let (stiffness, rate, what) = rates(&p, self.friction, c[GRAVITY], masses.map(|&w| [w, w]));
        Some((stiffness, rate, format!("the {what} of {}", self.label)))
    }

    fn onset(&self) -> Option<&dyn OnsetForce> {
        Some(self)
    }
}
