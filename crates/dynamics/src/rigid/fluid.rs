//! Forces of a surrounding fluid on bodies, by boxes of the same inertia.
//!
//! Each body counts as the box b with its mass and principal moments (bᵢ² = 6 (Iⱼ + Iₖ − Iᵢ)/m), which
//! the fluid resists in its axes: by −3πμd v and −πμd³ω, d being the mean of its edges, and by
//! −½ρ bⱼbₖ |vᵢ|vᵢ and −ρ bᵢ(bⱼ⁴ + bₖ⁴)|ωᵢ|ωᵢ/64, v being relative to the wind (MuJoCo's chapter
//! *Computation*, section *Fluid forces*, inertia model).

use std::f64::consts::PI;

use costate_num::spatial::{Force, Motion};
use costate_num::{DualN, Mat3, Scalar, SymMat3, Vec3};

use super::adjoint::{Adjoint, Place};
use super::constants::Layout;
use super::inverse::{apply_force, twists};
use super::kinematics::{Kinematics, quat_at, vec3};
use super::transport::{BodyAdjoint, Motions, Transport, TransportAdjoints};
use super::tree::Tree;

/// Bodies lighter than this feel no fluid, kg.
const LIGHTEST: f64 = 1e-15;

/// What the force on a body is a function of, in its principal axes.
#[derive(Clone, Copy)]
struct InertiaBox<S> {
    /// Angular velocity.
    turning: Vec3<S>,
    /// Velocity of the centre of mass relative to the fluid.
    moving: Vec3<S>,
    mass: S,
    /// Principal moments.
    moments: [S; 3],
    density: S,
    viscosity: S,
}

impl<S: Scalar> InertiaBox<S> {
    /// Moment about the centre of mass, and force.
    fn resistance(self) -> (Vec3<S>, Vec3<S>) {
        let Self { turning, moving, mass, moments, density, viscosity } = self;
        let total = moments[0] + moments[1] + moments[2];
        let edge = |i: usize| {
            let across = (total - moments[i] - moments[i]).max(S::splat(LIGHTEST));
            (across / mass).scale(6.0).sqrt()
        };
        let edges = [edge(0), edge(1), edge(2)];
        let mean = (edges[0] + edges[1] + edges[2]).scale(1.0 / 3.0);
        let turn = (viscosity * mean * mean * mean).scale(PI);
        let drag = (viscosity * mean).scale(3.0 * PI);
        let (w, v) = (turning.to_array(), moving.to_array());
        let (mut moment, mut force) = ([S::zero(); 3], [S::zero(); 3]);
        for i in 0..3 {
            let (a, b) = (edges[(i + 1) % 3], edges[(i + 2) % 3]);
            let plate = (density * a * b * v[i].abs()).scale(0.5);
            let fan = edges[i] * (a * a * a * a + b * b * b * b) * w[i].abs();
            force[i] = -(v[i] * (drag + plate));
            moment[i] = -(w[i] * (turn + (density * fan).scale(1.0 / 64.0)));
        }
        (Vec3::from_array(moment), Vec3::from_array(force))
    }
}

/// Axes of body `b`'s box in the world, its arm from the origin of its tree, its principal moments and the axes
/// in the body.
fn frame<S: Scalar>(
    layout: &Layout,
    c: &[S],
    k: &Kinematics<S>,
    b: usize,
) -> (Mat3<S>, Vec3<S>, [S; 3], Mat3<S>) {
    let own = quat_at(c, layout.body_iquat.at(b)).to_matrix();
    let at = layout.body_inertia.at(b);
    let tensor = SymMat3::from_array([0, 1, 2, 3, 4, 5].map(|i| c[at + i])).to_matrix();
    let moments = own.columns.map(|axis| axis.dot(tensor.apply(axis)));
    (k.xmat[b].matmul(own), k.xipos[b] - k.origin[b], moments, own)
}

/// The box of a body in the fluid.
fn body_box<S: Scalar>(
    layout: &Layout,
    c: &[S],
    b: usize,
    (axes, arm, moments): (Mat3<S>, Vec3<S>, [S; 3]),
    velocity: Motion<S>,
) -> InertiaBox<S> {
    let moving = velocity.linear + velocity.angular.cross(arm) - vec3(c, layout.wind, 0);
    InertiaBox {
        turning: axes.apply_transposed(velocity.angular),
        moving: axes.apply_transposed(moving),
        mass: c[layout.body_mass.at(b)],
        moments,
        density: c[layout.density.at(0)],
        viscosity: c[layout.viscosity.at(0)],
    }
}

fn floats<S: Scalar>(tree: &Tree, layout: &Layout, c: &[S], b: usize) -> bool {
    let light = c[layout.body_mass.at(b)].lt(S::splat(LIGHTEST));
    tree.last_dof[b].is_some() && !costate_num::Mask::all(light)
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
    if !tree.options.fluid {
        return;
    }
    for b in 1..tree.bodies.len() {
        if !floats(tree, layout, c, b) {
            continue;
        }
        let (axes, arm, moments, _) = frame(layout, c, k, b);
        let body = body_box(layout, c, b, (axes, arm, moments), velocity[b]);
        let (moment, force) = body.resistance();
        let wrench =
            Force::at_point(axes.apply(force), arm) + Force::new(axes.apply(moment), Vec3::zero());
        apply_force(tree, k, b, wrench, out);
    }
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
        let Self { tree, layout, c, k } = self;
        if !tree.options.fluid {
            return;
        }
        let n = tree.bodies.len();
        let still = vec![Motion::zero(); n];
        let mut along = still.clone();
        twists(tree, &k.subspace, lambda, &mut along);
        let mut bodies = vec![BodyAdjoint::zero(); n];
        for b in 1..n {
            if floats(tree, layout, c, b) {
                bodies[b] = self.pull_box(b, velocity[b], along[b], out);
            }
        }
        let zeros = vec![0.0; tree.nv];
        let motions = Motions {
            v,
            a: &zeros,
            lambda,
            velocity,
            acceleration: &still,
            lambda_twist: &along,
            push_twist: &still,
        };
        let mut bar = TransportAdjoints { q: &mut out.q, v: &mut out.v, c: &mut out.c };
        Transport::default().run(tree, layout, c, k, qpos, motions, &bodies, &mut bar);
    }

    /// The adjoint of V(λ)·(force on body `b`).
    fn pull_box(
        self,
        b: usize,
        velocity: Motion<f64>,
        along: Motion<f64>,
        out: &mut Adjoint,
    ) -> BodyAdjoint {
        type D = DualN<f64, 12>;
        let Self { layout, c, k, .. } = self;
        let (axes, arm, moments, own) = frame(layout, c, k, b);
        let at = body_box(layout, c, b, (axes, arm, moments), velocity);
        let lift = |v: Vec3<f64>, first: usize| {
            let [x, y, z] = v.to_array();
            Vec3::new(D::variable(x, first), D::variable(y, first + 1), D::variable(z, first + 2))
        };
        let lifted = InertiaBox {
            turning: lift(at.turning, 0),
            moving: lift(at.moving, 3),
            mass: D::variable(at.mass, 6),
            moments: [0, 1, 2].map(|i| D::variable(moments[i], 7 + i)),
            density: D::variable(at.density, 10),
            viscosity: D::variable(at.viscosity, 11),
        };
        let (moment, force) = lifted.resistance();
        let seen = [along.angular, along.linear + along.angular.cross(arm)]
            .map(|v| axes.apply_transposed(v).to_array());
        let mut by = [0.0; 12];
        for (lane, slot) in by.iter_mut().enumerate() {
            for i in 0..3 {
                *slot += seen[0][i] * moment.to_array()[i].tangent[lane]
                    + seen[1][i] * force.to_array()[i].tangent[lane];
            }
        }
        out.c[layout.body_mass.at(b)] += by[6];
        for (i, axis) in own.columns.iter().enumerate() {
            let (x, y, z) = (axis.x, axis.y, axis.z);
            let products = [x * x, 2.0 * x * y, y * y, 2.0 * x * z, 2.0 * y * z, z * z];
            for (slot, product) in out.c[layout.body_inertia.entry(b)].iter_mut().zip(products) {
                *slot += by[7 + i] * product;
            }
        }
        out.c[layout.density.at(0)] += by[10];
        out.c[layout.viscosity.at(0)] += by[11];
        // Forces by the two twists, in the world.
        let world = |moment: Vec3<f64>, force: Vec3<f64>| {
            Force::at_point(axes.apply(force), arm) + Force::new(axes.apply(moment), Vec3::zero())
        };
        let value = |v: Vec3<D>| Vec3::from_array(v.to_array().map(|x| x.value));
        let by_velocity = world(Vec3::new(by[0], by[1], by[2]), Vec3::new(by[3], by[4], by[5]));
        let by_lambda = world(value(moment), value(force));
        out.add3(layout.wind, 0, -by_velocity.force);
        // Only the motions as seen from the box count, which turns with its body; the wind stays.
        let relative = Motion::new(velocity.angular, velocity.linear - vec3(c, layout.wind, 0));
        let place = -(relative.cross_force(by_velocity) + along.cross_force(by_lambda));
        self.pull_frame(b, (layout.body_ipos, layout.body_iquat), b, place, out);
        BodyAdjoint { place, lambda: by_lambda, velocity: by_velocity, ..BodyAdjoint::zero() }
    }
}
