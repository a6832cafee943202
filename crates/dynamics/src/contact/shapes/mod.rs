//! Shapes of geoms: signed distance and outward normal of a point.

mod capsule;
mod cuboid;
mod plane;
mod sphere;

pub use capsule::Capsule;
pub use cuboid::Cuboid;
pub use plane::Plane;
pub use sphere::Sphere;

use costate_num::{DualN, Quat, Scalar, Vec3};

/// A shape in its own frame.
pub trait Surface: Send + Sync + 'static {
    /// How many numbers its size has.
    const SIZE_LEN: usize;

    /// Signed distance of `p` from the surface (negative inside), m, and the outward unit normal
    /// of the nearest surface point. Unused entries of `size` are zero.
    ///
    /// Where the nearest point is not unique each shape says which branch holds; a point with no
    /// direction at all (the centre of a sphere) has the normal zero, with derivative zero.
    fn distance<S: Scalar>(p: Vec3<S>, size: &[S; 3]) -> (S, Vec3<S>);

    /// A cheap bound of the shape.
    fn bound(pose: &Pose<f64>) -> Bound {
        Bound::around(Self::reach(&pose.size), pose)
    }

    /// Radius of a ball about the frame's origin that holds the shape, m; `None` where it has no
    /// bound.
    fn reach(size: &[f64; 3]) -> Option<f64>;
}

/// What holds a shape, about the origin of its frame.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// What lies below the plane with this normal.
    HalfSpace(Vec3<f64>),
    /// A ball of this radius, m.
    Ball(f64),
    /// A box: its axes and half lengths, m.
    Box([Vec3<f64>; 3], [f64; 3]),
}

/// Relative slack of the bounds, so that their rounding rules out no point that touches.
const SLACK: f64 = 1e-12;

impl Bound {
    /// The ball of radius `reach`, or all below the frame's z axis.
    pub fn around(reach: Option<f64>, pose: &Pose<f64>) -> Self {
        match reach {
            Some(reach) => Self::Ball(reach * (1.0 + SLACK)),
            None => Self::HalfSpace(pose.quat.rotate(Vec3::splat([0.0, 0.0, 1.0]))),
        }
    }

    /// Whether a ball of radius `r` about the point `d`, counted from the frame's origin in the axes of the
    /// world, may touch what is held.
    #[inline(always)]
    pub fn may_hold<S: Scalar>(&self, d: Vec3<S>, r: S) -> S::Mask {
        match *self {
            Self::HalfSpace(n) => height(n, d).le(r + slack(d)),
            Self::Ball(reach) => {
                let reach = S::splat(reach) + r;
                d.norm_squared().le(reach * reach)
            }
            Self::Box([a, b, c], half) => {
                let r = r + slack(d);
                height(a, d).abs().le(r + S::splat(half[0]))
                    & height(b, d).abs().le(r + S::splat(half[1]))
                    & height(c, d).abs().le(r + S::splat(half[2]))
            }
        }
    }
}

#[inline(always)]
fn height<S: Scalar>(n: Vec3<f64>, d: Vec3<S>) -> S {
    d.x.scale(n.x) + d.y.scale(n.y) + d.z.scale(n.z)
}

#[inline(always)]
fn slack<S: Scalar>(d: Vec3<S>) -> S {
    (d.x.abs() + d.y.abs() + d.z.abs()).scale(SLACK)
}

/// Where a static shape stands.
#[derive(Clone, Copy, Debug)]
pub struct Pose<S> {
    /// Position of its frame, m.
    pub pos: Vec3<S>,
    /// Orientation, a unit quaternion.
    pub quat: Quat<S>,
    /// Size, m.
    pub size: [S; 3],
}

/// Signed distance and outward normal in world coordinates.
#[inline(always)]
pub fn distance<F: Surface, S: Scalar>(x: Vec3<S>, pose: &Pose<S>) -> (S, Vec3<S>) {
    let local = pose.quat.conjugate().rotate(x - pose.pos);
    let (d, n) = F::distance(local, &pose.size);
    (d, pose.quat.rotate(n))
}

/// Derivatives of a·φ + b·n for the distance φ and the normal n of [`distance`]: by the point, and
/// by position, quaternion (not normalised here) and size of the pose.
pub fn distance_gradient<F: Surface>(
    x: Vec3<f64>,
    pose: &Pose<f64>,
    a: f64,
    b: Vec3<f64>,
) -> (Vec3<f64>, [f64; 10]) {
    type D = DualN<f64, 6>;
    let inverse = pose.quat.conjugate();
    let arm = x - pose.pos;
    let p = inverse.rotate(arm);
    let p = Vec3::new(D::variable(p.x, 0), D::variable(p.y, 1), D::variable(p.z, 2));
    let mut size = [D::zero(); 3];
    for (i, slot) in size.iter_mut().enumerate() {
        *slot = D::variable(pose.size[i], 3 + i);
    }
    let (d, n) = F::distance(p, &size);
    let b_local = inverse.rotate(b);
    let mut g = [0.0; 6];
    for (i, slot) in g.iter_mut().enumerate() {
        *slot = a * d.tangent[i]
            + b_local.x * n.x.tangent[i]
            + b_local.y * n.y.tangent[i]
            + b_local.z * n.z.tangent[i];
    }
    let by_local = Vec3::new(g[0], g[1], g[2]);
    let by_x = pose.quat.rotate(by_local);
    // The quaternion turns the normal out and, conjugated, the arm in.
    let (out_w, out_v) =
        rotation_gradient(pose.quat, Vec3::new(n.x.value, n.y.value, n.z.value), b);
    let (in_w, in_v) = rotation_gradient(inverse, arm, by_local);
    let by_v = out_v - in_v;
    let by_pose =
        [-by_x.x, -by_x.y, -by_x.z, out_w + in_w, by_v.x, by_v.y, by_v.z, g[3], g[4], g[5]];
    (by_x, by_pose)
}

/// Derivatives of b·rotate(q, p) = b·(p + 2 w u×p + 2 u×(u×p)) by w and u, q = (w, u).
fn rotation_gradient(q: Quat<f64>, p: Vec3<f64>, b: Vec3<f64>) -> (f64, Vec3<f64>) {
    let t = q.v.cross(p);
    let by_v = p.cross(b) * q.w + t.cross(b) + p.cross(b.cross(q.v));
    (2.0 * b.dot(t), by_v * 2.0)
}
