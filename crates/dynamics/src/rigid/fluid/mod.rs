//! Forces of a surrounding fluid: on bodies as boxes of their inertia ([`inertia_box`]), or on their geoms as
//! ellipsoids ([`ellipsoid`]); how implicit integrators take them ([`implicit`]).

mod ellipsoid;
mod implicit;
mod inertia_box;

use costate_num::spatial::{Force, Motion};
use costate_num::{DualN, Mat3, Scalar, SymMat3, Vec3};

use super::adjoint::{Adjoint, Place};
use super::constants::Layout;
use super::inverse::{apply_force, twists};
use super::kinematics::{Kinematics, quat_at, vec3};
use super::transport::{BodyAdjoint, Motions, Transport, TransportAdjoints};
use super::tree::{GeomKind, Tree};

pub(crate) use ellipsoid::{added_mass, semiaxes};
pub(crate) use implicit::{Slopes, is_implicit};

/// Bodies lighter than this feel no fluid, kg.
const LIGHTEST: f64 = 1e-15;

/// The fluid.
#[derive(Clone, Copy)]
struct Medium<S> {
    density: S,
    viscosity: S,
}

/// Which forces of an ellipsoid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All.
    All,
    /// What resists along the motion.
    Drag,
}

/// What the fluid acts on.
#[derive(Clone, Copy)]
struct Immersed {
    body: usize,
    /// The geom that is an ellipsoid; none for the box of the body's inertia.
    geom: Option<(usize, GeomKind)>,
}

/// How many numbers a law has at most.
const PARAMETERS: usize = 5 + ellipsoid::COEFFICIENTS;
/// Lanes of adjoints of a law.
const LANES: usize = 8;
type Lane = DualN<f64, LANES>;
/// An angular and a linear velocity, or a moment and a force.
type Six<S> = [S; 6];

fn pair<S: Scalar>(x: Six<S>) -> (Vec3<S>, Vec3<S>) {
    (Vec3::new(x[0], x[1], x[2]), Vec3::new(x[3], x[4], x[5]))
}

fn six<S: Scalar>((a, b): (Vec3<S>, Vec3<S>)) -> Six<S> {
    [a.x, a.y, a.z, b.x, b.y, b.z]
}

/// Where something immersed is: its axes in the world, its arm from the origin of its tree.
#[derive(Clone, Copy)]
struct Pose<S> {
    axes: Mat3<S>,
    arm: Vec3<S>,
}

impl<S: Scalar> Pose<S> {
    /// A body's motion seen from here.
    fn local(self, motion: Motion<S>) -> Six<S> {
        let moving = motion.linear + motion.angular.cross(self.arm);
        six((self.axes.apply_transposed(motion.angular), self.axes.apply_transposed(moving)))
    }

    /// A local moment and force about the origin of the tree.
    fn wrench(self, x: Six<S>) -> Force<S> {
        let (moment, force) = pair(x);
        Force::at_point(self.axes.apply(force), self.arm)
            + Force::new(self.axes.apply(moment), Vec3::zero())
    }
}

/// Visits all that the fluid acts on.
fn visit<S: Scalar>(tree: &Tree, layout: &Layout, c: &[S], mut each: impl FnMut(Immersed)) {
    if !tree.options.fluid {
        return;
    }
    let floats = |b: usize| {
        let light = c[layout.body_mass.at(b)].lt(S::splat(LIGHTEST));
        tree.last_dof[b].is_some() && !costate_num::Mask::all(light)
    };
    for (body, own) in tree.bodies.iter().enumerate().skip(1) {
        if !own.ellipsoids && floats(body) {
            each(Immersed { body, geom: None });
        }
    }
    for (g, geom) in tree.geoms.iter().enumerate() {
        if geom.ellipsoid && floats(geom.body) {
            each(Immersed { body: geom.body, geom: Some((g, geom.kind)) });
        }
    }
}

impl Immersed {
    /// Principal axes of the body in its frame, and the moments about them.
    fn principal<S: Scalar>(self, layout: &Layout, c: &[S]) -> (Mat3<S>, [S; 3]) {
        let own = quat_at(c, layout.body_iquat.at(self.body)).to_matrix();
        let at = layout.body_inertia.at(self.body);
        let tensor = SymMat3::from_array([0, 1, 2, 3, 4, 5].map(|i| c[at + i])).to_matrix();
        (own, own.columns.map(|axis| axis.dot(tensor.apply(axis))))
    }

    fn pose<S: Scalar>(self, tree: &Tree, layout: &Layout, c: &[S], k: &Kinematics<S>) -> Pose<S> {
        let b = self.body;
        match self.geom {
            None => {
                let own = quat_at(c, layout.body_iquat.at(b)).to_matrix();
                Pose { axes: k.xmat[b].matmul(own), arm: k.xipos[b] - k.origin[b] }
            }
            Some((g, _)) => {
                let pose = k.geom(tree, layout, c, g);
                Pose { axes: pose.orientation.to_matrix(), arm: pose.position - k.origin[b] }
            }
        }
    }

    /// The numbers of its law, and how many: density, viscosity; of a box mass and principal moments, of an
    /// ellipsoid the geom's size and coefficients.
    fn parameters<S: Scalar>(self, layout: &Layout, c: &[S]) -> ([S; PARAMETERS], usize) {
        let mut out = [S::zero(); PARAMETERS];
        (out[0], out[1]) = (c[layout.density.at(0)], c[layout.viscosity.at(0)]);
        match self.geom {
            None => {
                out[2] = c[layout.body_mass.at(self.body)];
                out[3..6].copy_from_slice(&self.principal(layout, c).1);
                (out, 6)
            }
            Some((g, _)) => {
                out[2..5].copy_from_slice(&c[layout.geom_size.entry(g)]);
                out[5..].copy_from_slice(&c[layout.geom_fluid.entry(g)]);
                (out, PARAMETERS)
            }
        }
    }

    /// The local moment and force for a local velocity relative to the fluid.
    fn law<S: Scalar>(self, part: Part, x: Six<S>, p: &[S; PARAMETERS]) -> Six<S> {
        let (w, v) = pair(x);
        let medium = Medium { density: p[0], viscosity: p[1] };
        six(match self.geom {
            None => inertia_box::resistance(w, v, medium, p[2], [p[3], p[4], p[5]]),
            Some((_, kind)) => {
                let axes = semiaxes(kind, [p[2], p[3], p[4]]);
                ellipsoid::resistance(part, w, v, medium, axes, &p[5..])
            }
        })
    }

    /// The body's velocity relative to the fluid.
    fn relative<S: Scalar>(self, layout: &Layout, c: &[S], velocity: &[Motion<S>]) -> Motion<S> {
        let own = velocity[self.body];
        Motion::new(own.angular, own.linear - vec3(c, layout.wind, 0))
    }
}

/// Adds the joint-space forces of the fluid.
pub(crate) fn add_fluid<S: Scalar>(
    tree: &Tree,
    layout: &Layout,
    c: &[S],
    k: &Kinematics<S>,
    velocity: &[Motion<S>],
    out: &mut [S],
) {
    visit(tree, layout, c, |it| {
        let pose = it.pose(tree, layout, c, k);
        let x = pose.local(it.relative(layout, c, velocity));
        let force = it.law(Part::All, x, &it.parameters(layout, c).0);
        apply_force(tree, k, it.body, pose.wrench(force), out);
    });
}

/// Adjoints of a function of local motions of something immersed.
struct LawBar {
    /// Of the velocity relative to the fluid.
    velocity: Six<f64>,
    /// Of the motion for the rates λ.
    lambda: Six<f64>,
    /// Of the motion for the accelerations as rates.
    push: Six<f64>,
    /// Of the law's numbers.
    parameters: [f64; PARAMETERS],
}

/// The twists of bodies that such a function reads.
#[derive(Clone, Copy)]
struct Twists<'a> {
    velocity: &'a [Motion<f64>],
    lambda: &'a [Motion<f64>],
    push: &'a [Motion<f64>],
}

impl Place<'_> {
    /// Adds the adjoint of λᵀ(forces of the fluid), at the velocities of the bodies for joint velocities
    /// `v`.
    pub fn pull_fluid(
        self,
        velocity: &[Motion<f64>],
        qpos: &[f64],
        v: &[f64],
        lambda: &[f64],
        out: &mut Adjoint,
    ) {
        if !self.tree.options.fluid {
            return;
        }
        let zeros = vec![0.0; lambda.len()];
        self.pull_immersed(velocity, qpos, [v, lambda, &zeros], out, |it, x, y, _, p, count| {
            let mut bar = LawBar {
                velocity: [0.0; 6],
                lambda: [0.0; 6],
                push: [0.0; 6],
                parameters: [0.0; PARAMETERS],
            };
            for first in (0..6 + count).step_by(LANES) {
                let (x, p) = lifted(x, p, first);
                let force = it.law(Part::All, x, &p);
                bar.lambda = force.map(|f| f.value);
                for lane in 0..LANES.min(6 + count - first) {
                    let sum = (0..6).map(|i| y[i] * force[i].tangent[lane]).sum::<f64>();
                    bar.add(first + lane, sum);
                }
            }
            bar
        });
    }

    /// Adds the adjoint of the sum over all immersed of a function of their local motions for joint rates (the
    /// velocity, relative to the fluid, λ and accelerations as rates) and of their laws' numbers.
    fn pull_immersed(
        self,
        velocity: &[Motion<f64>],
        qpos: &[f64],
        [v, lambda, push]: [&[f64]; 3],
        out: &mut Adjoint,
        mut each: impl FnMut(Immersed, Six<f64>, Six<f64>, Six<f64>, [f64; PARAMETERS], usize) -> LawBar,
    ) {
        let Self { tree, layout, c, k } = self;
        if !tree.options.fluid {
            return;
        }
        let n = tree.bodies.len();
        let still = vec![Motion::zero(); n];
        let (mut along, mut pushed) = (still.clone(), still.clone());
        twists(tree, &k.subspace, lambda, &mut along);
        twists(tree, &k.subspace, push, &mut pushed);
        let mut bodies = vec![BodyAdjoint::zero(); n];
        let seen = Twists { velocity, lambda: &along, push: &pushed };
        visit(tree, layout, c, |it| {
            let pose = it.pose(tree, layout, c, k);
            let b = it.body;
            let x = pose.local(it.relative(layout, c, velocity));
            let (p, count) = it.parameters(layout, c);
            let bar = each(it, x, pose.local(along[b]), pose.local(pushed[b]), p, count);
            self.pull_one(it, pose, seen, bar, &mut bodies[b], out);
        });
        let motions = Motions {
            v,
            a: push,
            lambda,
            velocity,
            acceleration: &still,
            lambda_twist: &along,
            push_twist: &pushed,
        };
        let mut bar = TransportAdjoints { q: &mut out.q, v: &mut out.v, c: &mut out.c };
        Transport::default().run(tree, layout, c, k, qpos, motions, &bodies, &mut bar);
    }

    /// From the adjoints of one's local motions to its body, its place and its constants.
    fn pull_one(
        self,
        it: Immersed,
        pose: Pose<f64>,
        seen: Twists,
        bar: LawBar,
        to: &mut BodyAdjoint,
        out: &mut Adjoint,
    ) {
        let Self { layout, c, .. } = self;
        let (b, by) = (it.body, bar.parameters);
        out.c[layout.density.at(0)] += by[0];
        out.c[layout.viscosity.at(0)] += by[1];
        let blocks = match it.geom {
            None => {
                out.c[layout.body_mass.at(b)] += by[2];
                let own = it.principal(layout, c).0;
                for (i, axis) in own.columns.iter().enumerate() {
                    let (x, y, z) = (axis.x, axis.y, axis.z);
                    let products = [x * x, 2.0 * x * y, y * y, 2.0 * x * z, 2.0 * y * z, z * z];
                    let slots = &mut out.c[layout.body_inertia.entry(b)];
                    for (slot, product) in slots.iter_mut().zip(products) {
                        *slot += by[3 + i] * product;
                    }
                }
                (layout.body_ipos, layout.body_iquat)
            }
            Some((g, _)) => {
                for (block, from) in [(layout.geom_size, 2), (layout.geom_fluid, 5)] {
                    for (slot, by) in out.c[block.entry(g)].iter_mut().zip(&by[from..]) {
                        *slot += by;
                    }
                }
                (layout.geom_pos, layout.geom_quat)
            }
        };
        // Forces by the twists, in the world.
        let [by_velocity, by_lambda, by_push] =
            [bar.velocity, bar.lambda, bar.push].map(|x| pose.wrench(x));
        out.add3(layout.wind, 0, -by_velocity.force);
        // Only the motions as seen from there count, which turns with its body; the wind stays.
        let relative = it.relative(layout, c, seen.velocity);
        let place = -(relative.cross_force(by_velocity)
            + seen.lambda[b].cross_force(by_lambda)
            + seen.push[b].cross_force(by_push));
        self.pull_frame(b, blocks, it.geom.map_or(b, |(g, _)| g), place, out);
        to.place += place;
        to.velocity += by_velocity;
        to.lambda += by_lambda;
        to.push += by_push;
    }
}

impl LawBar {
    /// Adds the derivative by variable `n` of [`lifted`].
    fn add(&mut self, n: usize, by: f64) {
        match n.checked_sub(6) {
            None => self.velocity[n] += by,
            Some(n) => self.parameters[n] += by,
        }
    }
}

/// A velocity and a law's numbers, of which those from number `first` on are variables.
fn lifted(x: Six<f64>, p: [f64; PARAMETERS], first: usize) -> (Six<Lane>, [Lane; PARAMETERS]) {
    let lift = |value: f64, n: usize| match n.checked_sub(first) {
        Some(lane) if lane < LANES => Lane::variable(value, lane),
        _ => Lane::constant(value),
    };
    (std::array::from_fn(|i| lift(x[i], i)), std::array::from_fn(|i| lift(p[i], 6 + i)))
}
