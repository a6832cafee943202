//! Symmetric 3 × 3 matrices by their six entries.

use crate::scalar::Scalar;
use crate::vector::{Mat3, Vec3};
use core::ops::{Add, AddAssign, Mul, Sub};

/// A symmetric 3 × 3 matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SymMat3<S> {
    /// Row x, column x.
    pub xx: S,
    /// Row x, column y.
    pub xy: S,
    /// Row y, column y.
    pub yy: S,
    /// Row x, column z.
    pub xz: S,
    /// Row y, column z.
    pub yz: S,
    /// Row z, column z.
    pub zz: S,
}

impl<S: Scalar> SymMat3<S> {
    /// From the entries xx, xy, yy, xz, yz, zz.
    #[inline(always)]
    pub fn from_array(a: [S; 6]) -> Self {
        Self { xx: a[0], xy: a[1], yy: a[2], xz: a[3], yz: a[4], zz: a[5] }
    }
    /// The entries xx, xy, yy, xz, yz, zz.
    #[inline(always)]
    pub fn to_array(self) -> [S; 6] {
        [self.xx, self.xy, self.yy, self.xz, self.yz, self.zz]
    }
    /// The zero matrix.
    #[inline(always)]
    pub fn zero() -> Self {
        Self::from_array([S::zero(); 6])
    }
    /// The diagonal matrix with the given entries.
    #[inline(always)]
    pub fn from_diagonal(d: Vec3<S>) -> Self {
        let zero = S::zero();
        Self::from_array([d.x, zero, d.y, zero, zero, d.z])
    }
    /// The symmetric part of a matrix.
    #[inline(always)]
    pub fn from_matrix(m: Mat3<S>) -> Self {
        let [a, b, c] = m.symmetric_part().columns;
        Self::from_array([a.x, b.x, b.y, c.x, c.y, c.z])
    }
    /// As a full matrix.
    #[inline(always)]
    pub fn to_matrix(self) -> Mat3<S> {
        Mat3::from_columns(
            Vec3::new(self.xx, self.xy, self.xz),
            Vec3::new(self.xy, self.yy, self.yz),
            Vec3::new(self.xz, self.yz, self.zz),
        )
    }
    /// Matrix times vector.
    #[inline(always)]
    pub fn apply(self, v: Vec3<S>) -> Vec3<S> {
        self.to_matrix().apply(v)
    }
    /// Sum of the diagonal.
    #[inline(always)]
    pub fn trace(self) -> S {
        self.xx + self.yy + self.zz
    }
    /// `rᵀ self r`.
    #[inline(always)]
    pub fn congruence(self, r: Mat3<S>) -> Self {
        let [a, b, c] = r.columns;
        let (ma, mb, mc) = (self.apply(a), self.apply(b), self.apply(c));
        Self::from_array([a.dot(ma), a.dot(mb), b.dot(mb), a.dot(mc), b.dot(mc), c.dot(mc)])
    }
    /// `a bᵀ + b aᵀ`.
    #[inline(always)]
    pub fn symmetric_outer(a: Vec3<S>, b: Vec3<S>) -> Self {
        let two = S::splat(2.0);
        Self::from_array([
            two * a.x * b.x,
            a.x * b.y + a.y * b.x,
            two * a.y * b.y,
            a.x * b.z + a.z * b.x,
            a.y * b.z + a.z * b.y,
            two * a.z * b.z,
        ])
    }
}

impl<S: Scalar> Add for SymMat3<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self::from_array([
            self.xx + o.xx,
            self.xy + o.xy,
            self.yy + o.yy,
            self.xz + o.xz,
            self.yz + o.yz,
            self.zz + o.zz,
        ])
    }
}
impl<S: Scalar> Sub for SymMat3<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        self + o * -S::one()
    }
}
impl<S: Scalar> Mul<S> for SymMat3<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: S) -> Self {
        Self::from_array([
            self.xx * s,
            self.xy * s,
            self.yy * s,
            self.xz * s,
            self.yz * s,
            self.zz * s,
        ])
    }
}
impl<S: Scalar> AddAssign for SymMat3<S> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}
