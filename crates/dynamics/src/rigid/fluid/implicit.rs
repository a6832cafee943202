//! How implicit integrators take the forces of a fluid: their slopes by the bodies' velocities are part of hD.
//!
//! implicit takes the whole slope B of each local moment and force, implicitfast its symmetric part (of a free body
//! that nothing hangs on the whole), discrete the symmetric part of the slope of what resists along the motion.

use costate_num::spatial::{Force, Motion};
use costate_num::{Dual, DualN, Scalar};

use super::{Immersed, LANES, Lane, LawBar, PARAMETERS, Part, Pose, Six, lifted, pair, six, visit};
use crate::rigid::adjoint::{Adjoint, Place};
use crate::rigid::constants::Layout;
use crate::rigid::inertia::MassMatrix;
use crate::rigid::inverse::{gather, twists};
use crate::rigid::kinematics::Kinematics;
use crate::rigid::tree::{Integrator, Tree};

/// Whether the integrator takes the forces of the fluid implicitly.
pub(crate) fn is_implicit(tree: &Tree) -> bool {
    let explicit = matches!(tree.options.integrator, Integrator::Euler | Integrator::Rk4);
    tree.options.fluid && !explicit
}

/// Which part of a slope is taken, and whether only its symmetric part.
fn style(tree: &Tree, turns: bool) -> (Part, bool) {
    match tree.options.integrator {
        Integrator::Discrete => (Part::Drag, true),
        Integrator::ImplicitFast => (Part::All, !turns),
        _ => (Part::All, false),
    }
}

/// 6 × 6 numbers: the moment and force (rows) for an angular and a linear velocity (columns).
type Matrix<S> = [Six<S>; 6];

fn apply<S: Scalar>(matrix: &Matrix<S>, x: Six<S>) -> Six<S> {
    std::array::from_fn(|i| {
        let mut sum = S::zero();
        for j in 0..6 {
            sum += matrix[i][j] * x[j];
        }
        sum
    })
}

fn symmetric<S: Scalar>(matrix: &Matrix<S>) -> Matrix<S> {
    std::array::from_fn(|i| std::array::from_fn(|j| (matrix[i][j] + matrix[j][i]).scale(0.5)))
}

impl Immersed {
    /// B in its own axes.
    fn slope<S: Scalar>(self, part: Part, x: Six<S>, p: &[S; PARAMETERS]) -> Matrix<S> {
        let p: [DualN<S, 6>; PARAMETERS] = std::array::from_fn(|i| DualN::constant(p[i]));
        let x: Six<DualN<S, 6>> = std::array::from_fn(|i| DualN::variable(x[i], i));
        self.law(part, x, &p).map(|force| force.tangent)
    }
}

/// The slopes of the forces on bodies by their velocities, about the origins of their trees in world axes.
#[derive(Clone, Debug)]
pub(crate) struct Slopes<S> {
    bodies: Vec<Matrix<S>>,
    composite: Vec<Matrix<S>>,
}

impl<S: Scalar> Slopes<S> {
    /// Room for a structure.
    pub fn new(tree: &Tree) -> Self {
        let n = if is_implicit(tree) { tree.bodies.len() } else { 0 };
        let zeros = vec![[[S::zero(); 6]; 6]; n];
        Self { bodies: zeros.clone(), composite: zeros }
    }

    /// At a state; `turns` says of a body whether its own inertial forces are implicit.
    pub fn update(
        &mut self,
        tree: &Tree,
        layout: &Layout,
        c: &[S],
        k: &Kinematics<S>,
        velocity: &[Motion<S>],
        turns: impl Fn(usize) -> bool,
    ) {
        self.bodies.fill([[S::zero(); 6]; 6]);
        if !is_implicit(tree) {
            return;
        }
        visit(tree, layout, c, |it| {
            let pose = it.pose(tree, layout, c, k);
            let x = pose.local(it.relative(layout, c, velocity));
            let (part, fold) = style(tree, turns(it.body));
            let mut local = it.slope(part, x, &it.parameters(layout, c).0);
            if fold {
                local = symmetric(&local);
            }
            for j in 0..6 {
                let column = world_column(pose, &local, j);
                for i in 0..6 {
                    self.bodies[it.body][i][j] += column[i];
                }
            }
        });
    }

    /// Adds hD, its symmetric part, to the inertia matrix.
    pub fn add_to(&mut self, tree: &Tree, subspace: &[Motion<S>], mass: &mut MassMatrix<S>) {
        if self.bodies.is_empty() {
            return;
        }
        for (to, from) in self.composite.iter_mut().zip(&self.bodies) {
            *to = symmetric(from);
        }
        for b in (1..tree.bodies.len()).rev() {
            let (own, parent) = (self.composite[b], tree.bodies[b].parent);
            for i in 0..6 {
                for j in 0..6 {
                    self.composite[parent][i][j] += own[i][j];
                }
            }
        }
        let h = tree.options.timestep;
        for i in 0..tree.nv {
            let s = six((subspace[i].angular, subspace[i].linear));
            let (moment, force) = pair(apply(&self.composite[tree.dof_body[i]], s));
            let force = Force::new(moment, force) * S::splat(-h);
            let row = tree.rows[i].clone();
            for (entry, &j) in mass.entries[row.clone()].iter_mut().zip(&tree.columns[row]) {
                *entry += subspace[j].dot(force);
            }
        }
    }

    /// Subtracts hD x from `out`; of all bodies, or of one that hangs on the world and that nothing hangs on.
    pub fn subtract(
        &self,
        tree: &Tree,
        subspace: &[Motion<S>],
        x: &[S],
        only: Option<usize>,
        out: &mut [S],
    ) {
        if self.bodies.is_empty() {
            return;
        }
        let h = S::splat(tree.options.timestep);
        let push = |b: usize, twist: Motion<S>| {
            let (moment, force) = pair(apply(&self.bodies[b], six((twist.angular, twist.linear))));
            Force::new(moment, force) * h
        };
        if let Some(b) = only {
            let mut twist = Motion::zero();
            for dof in tree.bodies[b].dofs.clone() {
                twist += subspace[dof] * x[dof];
            }
            let force = push(b, twist);
            for dof in tree.bodies[b].dofs.clone() {
                out[dof] += subspace[dof].dot(force);
            }
            return;
        }
        let mut motions = vec![Motion::zero(); tree.bodies.len()];
        twists(tree, subspace, x, &mut motions);
        let mut forces: Vec<Force<S>> =
            motions.iter().enumerate().map(|(b, &twist)| push(b, twist)).collect();
        gather(tree, subspace, &mut forces, out);
    }
}

/// Column `j` of a local matrix about the origin of the tree in world axes.
fn world_column<S: Scalar>(pose: Pose<S>, local: &Matrix<S>, j: usize) -> Six<S> {
    let mut unit = [S::zero(); 6];
    unit[j] = S::one();
    let (angular, linear) = pair(unit);
    let force = pose.wrench(apply(local, pose.local(Motion::new(angular, linear))));
    six((force.moment, force.force))
}

/// y·B z and its derivatives by z (as a force), and by the variables of B, which are added.
fn pull_product(
    it: Immersed,
    part: Part,
    (x, p, count): (Six<f64>, [f64; PARAMETERS], usize),
    [y, z]: [Six<f64>; 2],
    weight: f64,
    bar: &mut LawBar,
) -> (Six<f64>, Six<f64>) {
    let (mut along, mut by_z) = ([0.0; 6], [0.0; 6]);
    for first in (0..6 + count).step_by(LANES) {
        let (x, p) = lifted(x, p, first);
        let moved: Six<Dual<Lane>> = std::array::from_fn(|i| Dual::new(x[i], Lane::constant(z[i])));
        let p: [Dual<Lane>; PARAMETERS] = std::array::from_fn(|i| Dual::constant(p[i]));
        let force = it.law(part, moved, &p);
        along = force.map(|f| f.tangent[0].value);
        for lane in 0..LANES.min(6 + count - first) {
            let (mut sum, mut slope) = (0.0, 0.0);
            for i in 0..6 {
                sum += y[i] * force[i].tangent[0].tangent[lane];
                slope += y[i] * force[i].value.tangent[lane];
            }
            bar.add(first + lane, weight * sum);
            if first + lane < 6 {
                by_z[first + lane] = slope;
            }
        }
    }
    (along, by_z)
}

impl Place<'_> {
    /// Adds the adjoint of −μᵀ hD x by all but x, the slopes of the fluid's forces being −D.
    pub fn pull_slopes(
        self,
        velocity: &[Motion<f64>],
        qpos: &[f64],
        v: &[f64],
        (mu, x): (&[f64], &[f64]),
        turns: impl Fn(usize) -> bool,
        out: &mut Adjoint,
    ) {
        let tree = self.tree;
        if !is_implicit(tree) {
            return;
        }
        let h = tree.options.timestep;
        self.pull_immersed(velocity, qpos, [v, mu, x], out, |it, at, y, z, p, count| {
            let (part, fold) = style(tree, turns(it.body));
            let mut bar = LawBar {
                velocity: [0.0; 6],
                lambda: [0.0; 6],
                push: [0.0; 6],
                parameters: [0.0; PARAMETERS],
            };
            let weight = if fold { 0.5 * h } else { h };
            let (by_y, by_z) = pull_product(it, part, (at, p, count), [y, z], weight, &mut bar);
            bar.lambda = by_y.map(|x| weight * x);
            bar.push = by_z.map(|x| weight * x);
            if fold {
                let (by_z, by_y) = pull_product(it, part, (at, p, count), [z, y], weight, &mut bar);
                for i in 0..6 {
                    bar.lambda[i] += weight * by_y[i];
                    bar.push[i] += weight * by_z[i];
                }
            }
            bar
        });
    }
}
