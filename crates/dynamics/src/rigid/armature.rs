//! Armature of tendons: an inertia m along a tendon's length l adds m JᵀJ to M and m Jᵀ(J̇ v) to the bias.
//!
//! Of two points d apart with n = d/|d|, d/dt(n·ḋ) = n·d̈ + (|ḋ|² − (n·ḋ)²)/|d|. What couples degrees of freedom neither
//! of which is above the other is left out of M, not of the bias; tendons around geoms have no armature (both as
//! MuJoCo has them).

use std::any::TypeId;

use costate_num::spatial::Motion;
use costate_num::{DualN, Mask, Scalar, Vec3};

use super::adjoint::{Adjoint, Place};
use super::constants::Layout;
use super::constraint::{PointSeeds, pull_point};
use super::inertia::MassMatrix;
use super::inverse::{accelerations, twists};
use super::kinematics::Kinematics;
use super::products::{Row, add_product, multiply_product, pull_product};
use super::tendon::{Piece, Tendons, pieces, share};
use super::transport::{BodyAdjoint, Motions, Transport, TransportAdjoints};
use super::tree::{PathElement, TendonPath, Tree};

/// Whether tendon `t` can have armature.
pub(crate) fn may_have(tree: &Tree, t: usize) -> bool {
    match &tree.tendons[t].path {
        TendonPath::Fixed { .. } => true,
        TendonPath::Spatial { path } => {
            !path.iter().any(|element| matches!(element, PathElement::Geom { .. }))
        }
    }
}

/// Visits the tendons with armature; plain numbers leave out those of zero, which derivatives need.
fn visit<S: Scalar>(tree: &Tree, layout: &Layout, c: &[S], mut each: impl FnMut(usize, S)) {
    let plain = TypeId::of::<S>() == TypeId::of::<f64>();
    for t in 0..tree.tendons.len() {
        let armature = c[layout.tendon_armature.at(t)];
        let nothing = plain && armature.equals(S::zero()).all();
        if !nothing && may_have(tree, t) {
            each(t, armature);
        }
    }
}

fn row<S>(tendons: &Tendons<S>, t: usize) -> Row<'_, S>
where
    S: Scalar,
{
    let entries = tendons.entries(t);
    (&tendons.dofs[entries.clone()], &tendons.jacobian[entries])
}

/// Adds what armature gives to M.
pub(crate) fn add_armature<S: Scalar>(
    tree: &Tree,
    layout: &Layout,
    c: &[S],
    tendons: &Tendons<S>,
    mass: &mut MassMatrix<S>,
) {
    visit(tree, layout, c, |t, m| add_product(tree, row(tendons, t), m, mass));
}

/// Adds the product of what armature gives to M with `x`.
pub(crate) fn multiply_armature<S: Scalar>(
    tree: &Tree,
    layout: &Layout,
    c: &[S],
    tendons: &Tendons<S>,
    x: &[S],
    out: &mut [S],
) {
    visit(tree, layout, c, |t, m| {
        multiply_product(tree, row(tendons, t), |dof| m * x[dof], out);
    });
}

/// Position, velocity and acceleration of one point from another.
#[derive(Clone, Copy)]
struct Apart<S> {
    position: Vec3<S>,
    velocity: Vec3<S>,
    acceleration: Vec3<S>,
}

impl<S: Scalar> Apart<S> {
    /// The second rate of the distance; of points in one place that of a path that does not turn.
    fn second_rate(self) -> S {
        let (direction, distance) = self.position.normalize();
        let along = direction.dot(self.velocity);
        let across = self.velocity.dot(self.velocity) - along * along;
        let together = distance.equals(S::zero());
        let apart = S::select(together, S::one(), distance);
        direction.dot(self.acceleration) + S::select(together, S::zero(), across / apart)
    }
}

/// The second of a piece's ends as seen from the first.
fn apart<S: Scalar>(
    tree: &Tree,
    layout: &Layout,
    c: &[S],
    k: &Kinematics<S>,
    piece: Piece,
    velocity: &[Motion<S>],
    acceleration: &[Motion<S>],
) -> Apart<S> {
    let [first, second] = piece.sites.map(|s| {
        let body = tree.sites[s].body;
        let position = k.site(tree, layout, c, s).position;
        let arm = position - k.origin[body];
        let (v, a) = (velocity[body], acceleration[body]);
        let moving = v.linear + v.angular.cross(arm);
        let pulled = a.linear + a.angular.cross(arm) + v.angular.cross(moving);
        (position, moving, pulled)
    });
    Apart {
        position: second.0 - first.0,
        velocity: second.1 - first.1,
        acceleration: second.2 - first.2,
    }
}

/// Adds the armature's part of M a + c, for the motions of the bodies at joint accelerations `a` (empty for zero).
pub(crate) fn add_armature_forces<S: Scalar>(
    tree: &Tree,
    layout: &Layout,
    c: &[S],
    k: &Kinematics<S>,
    tendons: &Tendons<S>,
    velocity: &[Motion<S>],
    acceleration: &[Motion<S>],
    a: &[S],
    out: &mut [S],
) {
    visit(tree, layout, c, |t, m| {
        let (dofs, values) = row(tendons, t);
        if let TendonPath::Spatial { .. } = tree.tendons[t].path {
            let mut rate = S::zero();
            for piece in pieces(tree, t) {
                let apart = apart(tree, layout, c, k, piece, velocity, acceleration);
                rate += apart.second_rate() * share(layout, c, piece);
            }
            if !a.is_empty() {
                for (&dof, &value) in dofs.iter().zip(values) {
                    rate += -(value * a[dof]);
                }
            }
            for (&dof, &value) in dofs.iter().zip(values) {
                out[dof] += value * m * rate;
            }
        }
        if !a.is_empty() {
            multiply_product(tree, (dofs, values), |dof| m * a[dof], out);
        }
    });
}

/// Directions of a piece's adjoint: position, velocity, acceleration, and velocity for the rates λ, of one end from
/// the other.
type Lane = DualN<f64, 12>;

fn lifted(v: Vec3<f64>, first: usize) -> Vec3<Lane> {
    Vec3::new(
        Lane::variable(v.x, first),
        Lane::variable(v.y, first + 1),
        Lane::variable(v.z, first + 2),
    )
}

impl Place<'_> {
    /// Adds the adjoint of `factor` λᵀ(what armature gives to M) a.
    pub fn pull_armature(
        self,
        tendons: &Tendons<f64>,
        qpos: &[f64],
        factor: f64,
        [lambda, a]: [&[f64]; 2],
        out: &mut Adjoint,
    ) {
        let Self { tree, layout, c, .. } = self;
        for t in (0..tree.tendons.len()).filter(|&t| may_have(tree, t)) {
            let (at, row) = (layout.tendon_armature.at(t), row(tendons, t));
            let mut by_row = vec![0.0; row.0.len()];
            let sum = pull_product(tree, row, [lambda, a], factor * c[at], &mut by_row);
            out.c[at] += factor * sum;
            if c[at] != 0.0 {
                self.pull_tendon(tendons, t, qpos, 0.0, &by_row, out);
            }
        }
    }

    /// Adds the adjoint of λᵀ(the armature's part of the bias).
    pub fn pull_armature_bias(
        self,
        tendons: &Tendons<f64>,
        qpos: &[f64],
        [lambda, v]: [&[f64]; 2],
        out: &mut Adjoint,
    ) {
        let Self { tree, layout, c, k } = self;
        let turns = |t: &usize| {
            may_have(tree, *t) && matches!(tree.tendons[*t].path, TendonPath::Spatial { .. })
        };
        let turning: Vec<usize> = (0..tree.tendons.len()).filter(turns).collect();
        if turning.is_empty() {
            return;
        }
        let (n, nv) = (tree.bodies.len(), tree.nv);
        let still = vec![Motion::zero(); n];
        let (mut velocity, mut acceleration, mut along) =
            (still.clone(), still.clone(), still.clone());
        let world = Motion::zero();
        accelerations(tree, &k.subspace, v, &[], world, &mut velocity, &mut acceleration);
        twists(tree, &k.subspace, lambda, &mut along);
        let zeros = vec![0.0; nv];
        let motions = Motions {
            v,
            a: &zeros,
            lambda,
            velocity: &velocity,
            acceleration: &acceleration,
            lambda_twist: &along,
            push_twist: &still,
        };
        let mut bodies = vec![BodyAdjoint::zero(); n];
        for t in turning {
            let own = pieces(tree, t);
            let seen: Vec<Apart<f64>> = own
                .iter()
                .map(|&piece| apart(tree, layout, c, k, piece, &velocity, &acceleration))
                .collect();
            let (dofs, values) = row(tendons, t);
            let pulled: f64 = dofs.iter().zip(values).map(|(&dof, j)| j * lambda[dof]).sum();
            let rate: f64 = own
                .iter()
                .zip(&seen)
                .map(|(&piece, apart)| apart.second_rate() * share(layout, c, piece))
                .sum();
            let at = layout.tendon_armature.at(t);
            out.c[at] += pulled * rate;
            if c[at] == 0.0 {
                continue;
            }
            // By the pieces' rates for λ and by their second rates.
            let (by_rate, by_second) = (c[at] * rate, c[at] * pulled);
            for (&piece, apart) in own.iter().zip(&seen) {
                self.pull_piece(piece, apart, [by_rate, by_second], motions, &mut bodies, out);
            }
        }
        let mut bar = TransportAdjoints { q: &mut out.q, v: &mut out.v, c: &mut out.c };
        Transport::default().run(tree, layout, c, k, qpos, motions, &bodies, &mut bar);
    }

    /// The adjoint of the rate of a piece's length for λ and of its second rate.
    fn pull_piece(
        self,
        piece: Piece,
        apart: &Apart<f64>,
        [by_rate, by_second]: [f64; 2],
        motions: Motions,
        bodies: &mut [BodyAdjoint],
        out: &mut Adjoint,
    ) {
        let Self { tree, layout, c, k } = self;
        let ends = piece.sites.map(|s| {
            let body = tree.sites[s].body;
            (body, k.site(tree, layout, c, s).position - k.origin[body])
        });
        let rates = ends.map(|(body, arm)| {
            let twist = motions.lambda_twist[body];
            twist.linear + twist.angular.cross(arm)
        });
        let moving = Apart {
            position: lifted(apart.position, 0),
            velocity: lifted(apart.velocity, 3),
            acceleration: lifted(apart.acceleration, 6),
        };
        let along = moving.position.normalize().0.dot(lifted(rates[1] - rates[0], 9));
        let total =
            along * Lane::constant(by_rate) + moving.second_rate() * Lane::constant(by_second);
        let factor = share(layout, c, piece);
        if let Some(at) = piece.divisor {
            out.c[layout.wrap_prm.at(at)] -= factor * factor * total.value;
        }
        let by = |first: usize| {
            let t = &total.tangent;
            Vec3::new(t[first], t[first + 1], t[first + 2]) * factor
        };
        let seeds = PointSeeds {
            place: by(0),
            velocity: by(3),
            acceleration: by(6),
            lambda: by(9),
            push: Vec3::zero(),
        };
        for (n, seeds) in [-seeds, seeds].into_iter().enumerate() {
            let (body, arm) = ends[n];
            let by_point = pull_point(body, arm, motions, Motion::zero(), seeds, bodies);
            let displaced = costate_num::spatial::Force::at_point(by_point, arm);
            let blocks = (layout.site_pos, layout.site_quat);
            self.pull_frame(body, blocks, piece.sites[n], displaced, out);
        }
    }
}
