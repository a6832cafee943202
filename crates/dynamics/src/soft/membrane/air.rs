//! Drag and lift of a triangle moving through still air, warp.sim's law.
//!
//! With n the triangle's normal times twice its area and v = 0.3333 (v₀ + v₁ + v₂):
//! drag = v k_d |n·v|/2 and lift = n k_l ε |v|²/2, where ε is the angle by which v rises out of the
//! triangle's plane. Both pull in full on each of the three vertices, with a minus sign. That mean
//! velocity and that count are warp.sim's, kept here so that its coefficients can be used.

use costate_num::{Scalar, Vec3};

const MEAN: f64 = 0.3333;

/// What drag and lift depend on.
struct Flow<S> {
    x10: Vec3<S>,
    x20: Vec3<S>,
    /// Normal, as long as twice the area.
    n: Vec3<S>,
    v: Vec3<S>,
    /// n·v.
    across: S,
    /// Unit vector of n × v, and its length.
    axis: Vec3<S>,
    along: S,
    /// Elevation of v above the plane; zero where n or v is.
    elevation: S,
    v_squared: S,
}

impl<S: Scalar> Flow<S> {
    #[inline(always)]
    fn new(x: &[Vec3<S>; 3], v: &[Vec3<S>; 3]) -> Self {
        let (x10, x20) = (x[1] - x[0], x[2] - x[0]);
        let n = x10.cross(x20);
        let v = (v[0] + v[1] + v[2]) * S::splat(MEAN);
        let across = n.dot(v);
        let (axis, along) = n.cross(v).normalize();
        let elevation = across.atan2(along);
        Self { x10, x20, n, v, across, axis, along, elevation, v_squared: v.norm_squared() }
    }
}

/// Force on each vertex.
#[inline(always)]
pub(super) fn force<S: Scalar>(x: &[Vec3<S>; 3], v: &[Vec3<S>; 3], drag: S, lift: S) -> Vec3<S> {
    let flow = Flow::new(x, v);
    let half = S::splat(-0.5);
    flow.v * (half * drag * flow.across.abs())
        + flow.n * (half * lift * flow.elevation * flow.v_squared)
}

/// Derivatives of Λ·force.
pub(super) struct FlowAdjoint<S> {
    pub x: [Vec3<S>; 3],
    /// By the velocity of each vertex.
    pub v: Vec3<S>,
    pub drag: S,
    pub lift: S,
}

/// Derivatives of w = Λ·[`force`] = −½ (k_d |n·v| Λ·v + k_l ε |v|² Λ·n).
///
/// ε = atan2(n·v, |n × v|) has zero derivative where v is parallel to n, where the angle has a
/// kink, and where either is zero.
#[inline(always)]
pub(super) fn adjoint<S: Scalar>(
    x: &[Vec3<S>; 3],
    v: &[Vec3<S>; 3],
    drag: S,
    lift: S,
    total: Vec3<S>,
) -> FlowAdjoint<S> {
    let flow = Flow::new(x, v);
    let zero = S::zero();
    let half = S::splat(-0.5);
    let (with_v, with_n) = (total.dot(flow.v), total.dot(flow.n));
    let lt = flow.across.lt(zero);
    let sign = S::select(lt, -S::one(), S::select(flow.across.gt(zero), S::one(), zero));
    let across = flow.across.abs();

    let square = flow.across * flow.across + flow.along * flow.along;
    let at_zero = square.equals(zero);
    let inverse = S::select(at_zero, zero, S::select(at_zero, S::one(), square).recip());
    let elevation_bar = half * lift * flow.v_squared * with_n;
    let across_bar = half * drag * sign * with_v + elevation_bar * flow.along * inverse;
    let along_bar = -(elevation_bar * flow.across * inverse);

    let n_bar = flow.v * across_bar
        + flow.v.cross(flow.axis) * along_bar
        + total * (half * lift * flow.elevation * flow.v_squared);
    let v_bar = flow.n * across_bar
        + flow.axis.cross(flow.n) * along_bar
        + total * (half * drag * across)
        + flow.v * (-(lift * flow.elevation * with_n));
    let (x1, x2) = (flow.x20.cross(n_bar), n_bar.cross(flow.x10));
    FlowAdjoint {
        x: [-(x1 + x2), x1, x2],
        v: v_bar * S::splat(MEAN),
        drag: half * across * with_v,
        lift: half * flow.elevation * flow.v_squared * with_n,
    }
}
