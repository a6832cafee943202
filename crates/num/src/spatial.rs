//! Spatial (six-dimensional) vectors, with the conventions of Featherstone, *Rigid Body Dynamics
//! Algorithms* (2008), chapter 2: the angular part first, and everything of a body expressed at the
//! origin and in the axes of one frame.

use crate::scalar::Scalar;
use crate::symmetric::SymMat3;
use crate::vector::{Mat3, Vec3};
use core::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// A motion: a twist (rad/s, m/s), a spatial acceleration, a joint axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion<S> {
    /// Angular part, ω.
    pub angular: Vec3<S>,
    /// Velocity of the body's point at the frame's origin.
    pub linear: Vec3<S>,
}

/// A force: a wrench (N m, N), a momentum, an impulse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Force<S> {
    /// Moment about the frame's origin.
    pub moment: Vec3<S>,
    /// Linear force.
    pub force: Vec3<S>,
}

impl<S: Scalar> Motion<S> {
    /// From the angular and the linear part.
    #[inline(always)]
    pub fn new(angular: Vec3<S>, linear: Vec3<S>) -> Self {
        Self { angular, linear }
    }
    /// No motion.
    #[inline(always)]
    pub fn zero() -> Self {
        Self::new(Vec3::zero(), Vec3::zero())
    }
    /// Power of a force along this motion, the scalar product of the two dual spaces.
    #[inline(always)]
    pub fn dot(self, f: Force<S>) -> S {
        self.angular.dot(f.moment) + self.linear.dot(f.force)
    }
    /// `self × m`: the rate of a motion vector that moves with this velocity (equation 2.31).
    #[inline(always)]
    pub fn cross(self, m: Self) -> Self {
        Self::new(
            self.angular.cross(m.angular),
            self.angular.cross(m.linear) + self.linear.cross(m.angular),
        )
    }
    /// `self ×* f`: the rate of a force vector that moves with this velocity (equation 2.32).
    #[inline(always)]
    pub fn cross_force(self, f: Force<S>) -> Force<S> {
        Force::new(
            self.angular.cross(f.moment) + self.linear.cross(f.force),
            self.angular.cross(f.force),
        )
    }
}

impl<S: Scalar> Force<S> {
    /// From the moment and the force.
    #[inline(always)]
    pub fn new(moment: Vec3<S>, force: Vec3<S>) -> Self {
        Self { moment, force }
    }
    /// No force.
    #[inline(always)]
    pub fn zero() -> Self {
        Self::new(Vec3::zero(), Vec3::zero())
    }
    /// The linear force `force` acting at the point `at`.
    #[inline(always)]
    pub fn at_point(force: Vec3<S>, at: Vec3<S>) -> Self {
        Self::new(at.cross(force), force)
    }
}

macro_rules! six_vector {
    ($t:ident, $a:ident, $b:ident) => {
        impl<S: Scalar> Add for $t<S> {
            type Output = Self;
            #[inline(always)]
            fn add(self, o: Self) -> Self {
                Self::new(self.$a + o.$a, self.$b + o.$b)
            }
        }
        impl<S: Scalar> Sub for $t<S> {
            type Output = Self;
            #[inline(always)]
            fn sub(self, o: Self) -> Self {
                Self::new(self.$a - o.$a, self.$b - o.$b)
            }
        }
        impl<S: Scalar> Neg for $t<S> {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Self::new(-self.$a, -self.$b)
            }
        }
        impl<S: Scalar> Mul<S> for $t<S> {
            type Output = Self;
            #[inline(always)]
            fn mul(self, s: S) -> Self {
                Self::new(self.$a * s, self.$b * s)
            }
        }
        impl<S: Scalar> AddAssign for $t<S> {
            #[inline(always)]
            fn add_assign(&mut self, o: Self) {
                *self = *self + o;
            }
        }
        impl<S: Scalar> SubAssign for $t<S> {
            #[inline(always)]
            fn sub_assign(&mut self, o: Self) {
                *self = *self - o;
            }
        }
    };
}
six_vector!(Motion, angular, linear);
six_vector!(Force, moment, force);

/// The Plücker transform ᴮXᴬ from the coordinates of a frame A to those of a frame B.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform<S> {
    /// E: takes vectors from the axes of A to those of B. Its transpose is the orientation of B in A.
    pub rotation: Mat3<S>,
    /// r: the origin of B, in the coordinates of A (m).
    pub origin: Vec3<S>,
}

impl<S: Scalar> Transform<S> {
    /// To the frame whose orientation in this one is the transpose of `rotation`, at `origin`.
    #[inline(always)]
    pub fn new(rotation: Mat3<S>, origin: Vec3<S>) -> Self {
        Self { rotation, origin }
    }
    /// Between frames that coincide.
    #[inline(always)]
    pub fn identity() -> Self {
        Self::new(Mat3::identity(), Vec3::zero())
    }
    /// First `o` (from A to B), then `self` (from B to C): from A to C.
    #[inline(always)]
    pub fn after(self, o: Self) -> Self {
        Self::new(
            self.rotation.matmul(o.rotation),
            o.origin + o.rotation.apply_transposed(self.origin),
        )
    }
    /// From B to A.
    #[inline(always)]
    pub fn inverse(self) -> Self {
        Self::new(self.rotation.transpose(), -self.rotation.apply(self.origin))
    }
    /// A point's coordinates, from A to B.
    #[inline(always)]
    pub fn point(self, p: Vec3<S>) -> Vec3<S> {
        self.rotation.apply(p - self.origin)
    }
    /// A point's coordinates, from B to A.
    #[inline(always)]
    pub fn inverse_point(self, p: Vec3<S>) -> Vec3<S> {
        self.rotation.apply_transposed(p) + self.origin
    }
    /// A motion, from A to B.
    #[inline(always)]
    pub fn motion(self, m: Motion<S>) -> Motion<S> {
        Motion::new(
            self.rotation.apply(m.angular),
            self.rotation.apply(m.linear - self.origin.cross(m.angular)),
        )
    }
    /// A motion, from B to A.
    #[inline(always)]
    pub fn inverse_motion(self, m: Motion<S>) -> Motion<S> {
        let angular = self.rotation.apply_transposed(m.angular);
        let linear = self.rotation.apply_transposed(m.linear);
        Motion::new(angular, linear + self.origin.cross(angular))
    }
    /// A force, from A to B.
    #[inline(always)]
    pub fn force(self, f: Force<S>) -> Force<S> {
        Force::new(
            self.rotation.apply(f.moment - self.origin.cross(f.force)),
            self.rotation.apply(f.force),
        )
    }
    /// A force, from B to A: the transpose of [`motion`](Self::motion).
    #[inline(always)]
    pub fn inverse_force(self, f: Force<S>) -> Force<S> {
        let force = self.rotation.apply_transposed(f.force);
        let moment = self.rotation.apply_transposed(f.moment);
        Force::new(moment + self.origin.cross(force), force)
    }
    /// A body's inertia, from B to A (table 2.8).
    #[inline(always)]
    pub fn inverse_inertia(self, i: RigidInertia<S>) -> RigidInertia<S> {
        let h = self.rotation.apply_transposed(i.first_moment);
        let r = self.origin;
        let moved = h + r * i.mass;
        // −r× h× − (h + m r)× r×, of which b× a× = a bᵀ − (a · b) 1.
        let trace = r.dot(h) + moved.dot(r);
        let spread = SymMat3::from_diagonal(Vec3::new(trace, trace, trace))
            - SymMat3::symmetric_outer(h, r)
            - SymMat3::symmetric_outer(r, r) * (i.mass * S::splat(0.5));
        RigidInertia {
            mass: i.mass,
            first_moment: moved,
            inertia: i.inertia.congruence(self.rotation) + spread,
        }
    }
}

/// The inertia of a rigid body by the ten parameters in which its dynamics are linear.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidInertia<S> {
    /// Mass (kg).
    pub mass: S,
    /// Mass times the position of the centre of mass (kg m).
    pub first_moment: Vec3<S>,
    /// Rotational inertia about the frame's origin, not the centre of mass (kg m²).
    pub inertia: SymMat3<S>,
}

impl<S: Scalar> RigidInertia<S> {
    /// Of a body with the given mass, centre of mass and rotational inertia about that centre.
    #[inline(always)]
    pub fn about_center(mass: S, center: Vec3<S>, inertia: SymMat3<S>) -> Self {
        let at_center = Self { mass, first_moment: Vec3::zero(), inertia };
        Transform::new(Mat3::identity(), center).inverse_inertia(at_center)
    }
    /// Of nothing.
    #[inline(always)]
    pub fn zero() -> Self {
        Self { mass: S::zero(), first_moment: Vec3::zero(), inertia: SymMat3::zero() }
    }
    /// The parameters m, m cx, m cy, m cz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz.
    #[inline(always)]
    pub fn to_parameters(self) -> [S; 10] {
        let h = self.first_moment;
        let [xx, xy, yy, xz, yz, zz] = self.inertia.to_array();
        [self.mass, h.x, h.y, h.z, xx, xy, yy, xz, yz, zz]
    }
    /// From the parameters m, m cx, m cy, m cz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz.
    #[inline(always)]
    pub fn from_parameters(p: [S; 10]) -> Self {
        Self {
            mass: p[0],
            first_moment: Vec3::new(p[1], p[2], p[3]),
            inertia: SymMat3::from_array([p[4], p[5], p[6], p[7], p[8], p[9]]),
        }
    }
    /// Inertia times motion: the momentum of a velocity, the force of an acceleration (equation 2.63).
    #[inline(always)]
    pub fn apply(self, m: Motion<S>) -> Force<S> {
        Force::new(
            self.inertia.apply(m.angular) + self.first_moment.cross(m.linear),
            m.linear * self.mass - self.first_moment.cross(m.angular),
        )
    }
    /// The derivative of `u · (I a)` by the ten parameters of I, in which it is linear.
    #[inline(always)]
    pub fn parameter_gradient(u: Motion<S>, a: Motion<S>) -> [S; 10] {
        let by_moment = a.linear.cross(u.angular) - a.angular.cross(u.linear);
        let products = SymMat3::symmetric_outer(u.angular, a.angular);
        let half = S::splat(0.5);
        [
            u.linear.dot(a.linear),
            by_moment.x,
            by_moment.y,
            by_moment.z,
            products.xx * half,
            products.xy,
            products.yy * half,
            products.xz,
            products.yz,
            products.zz * half,
        ]
    }
}

impl<S: Scalar> Add for RigidInertia<S> {
    type Output = Self;
    /// The inertia of two bodies joined.
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self {
            mass: self.mass + o.mass,
            first_moment: self.first_moment + o.first_moment,
            inertia: self.inertia + o.inertia,
        }
    }
}
impl<S: Scalar> AddAssign for RigidInertia<S> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}
