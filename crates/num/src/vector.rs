//! Small vectors and matrices over any [`Scalar`].

use crate::scalar::Scalar;
use core::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// A vector of three components.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vec3<S> {
    /// First component.
    pub x: S,
    /// Second component.
    pub y: S,
    /// Third component.
    pub z: S,
}

impl<S: Scalar> Vec3<S> {
    /// The vector with the given components.
    #[inline(always)]
    pub fn new(x: S, y: S, z: S) -> Self {
        Self { x, y, z }
    }
    /// The zero vector.
    #[inline(always)]
    pub fn zero() -> Self {
        Self::new(S::zero(), S::zero(), S::zero())
    }
    /// A constant vector.
    #[inline(always)]
    pub fn splat(v: [f64; 3]) -> Self {
        Self::new(S::splat(v[0]), S::splat(v[1]), S::splat(v[2]))
    }
    /// Components as an array.
    #[inline(always)]
    pub fn to_array(self) -> [S; 3] {
        [self.x, self.y, self.z]
    }
    /// From an array of components.
    #[inline(always)]
    pub fn from_array(a: [S; 3]) -> Self {
        Self::new(a[0], a[1], a[2])
    }
    /// Inner product.
    #[inline(always)]
    pub fn dot(self, o: Self) -> S {
        self.x * o.x + self.y * o.y + self.z * o.z
    }
    /// Cross product.
    #[inline(always)]
    pub fn cross(self, o: Self) -> Self {
        Self::new(
            self.y * o.z - self.z * o.y,
            self.z * o.x - self.x * o.z,
            self.x * o.y - self.y * o.x,
        )
    }
    /// Squared Euclidean length.
    #[inline(always)]
    pub fn norm_squared(self) -> S {
        self.dot(self)
    }
    /// Euclidean length; its derivative at the zero vector is zero.
    #[inline(always)]
    pub fn norm(self) -> S {
        self.norm_squared().sqrt()
    }
    /// The unit vector and the length; the zero vector gives zero and has zero derivative.
    #[inline(always)]
    pub fn normalize(self) -> (Self, S) {
        let length = self.norm();
        let at_zero = length.equals(S::zero());
        let inverse = S::select(at_zero, S::zero(), S::select(at_zero, S::one(), length).recip());
        (self * inverse, length)
    }
    /// The product of each component with its like.
    #[inline(always)]
    pub fn component_mul(self, o: Self) -> Self {
        Self::new(self.x * o.x, self.y * o.y, self.z * o.z)
    }
    /// Lane-wise choice between two vectors.
    #[inline(always)]
    pub fn select(mask: S::Mask, a: Self, b: Self) -> Self {
        Self::new(S::select(mask, a.x, b.x), S::select(mask, a.y, b.y), S::select(mask, a.z, b.z))
    }
}

impl<S: Scalar> Add for Vec3<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self::new(self.x + o.x, self.y + o.y, self.z + o.z)
    }
}
impl<S: Scalar> Sub for Vec3<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self::new(self.x - o.x, self.y - o.y, self.z - o.z)
    }
}
impl<S: Scalar> Neg for Vec3<S> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::new(-self.x, -self.y, -self.z)
    }
}
impl<S: Scalar> Mul<S> for Vec3<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: S) -> Self {
        Self::new(self.x * s, self.y * s, self.z * s)
    }
}
impl<S: Scalar> Div<S> for Vec3<S> {
    type Output = Self;
    #[inline(always)]
    fn div(self, s: S) -> Self {
        Self::new(self.x / s, self.y / s, self.z / s)
    }
}
impl<S: Scalar> AddAssign for Vec3<S> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}
impl<S: Scalar> SubAssign for Vec3<S> {
    #[inline(always)]
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}

/// A 3 × 3 matrix, stored by columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mat3<S> {
    /// The three columns.
    pub columns: [Vec3<S>; 3],
}

impl<S: Scalar> Mat3<S> {
    /// The matrix with the given columns.
    #[inline(always)]
    pub fn from_columns(a: Vec3<S>, b: Vec3<S>, c: Vec3<S>) -> Self {
        Self { columns: [a, b, c] }
    }
    /// From nine numbers, row by row.
    #[inline(always)]
    pub fn from_rows(r: [S; 9]) -> Self {
        Self::from_columns(
            Vec3::new(r[0], r[3], r[6]),
            Vec3::new(r[1], r[4], r[7]),
            Vec3::new(r[2], r[5], r[8]),
        )
    }
    /// The nine numbers, row by row.
    #[inline(always)]
    pub fn to_rows(self) -> [S; 9] {
        let [a, b, c] = self.columns;
        [a.x, b.x, c.x, a.y, b.y, c.y, a.z, b.z, c.z]
    }
    /// The zero matrix.
    #[inline(always)]
    pub fn zero() -> Self {
        Self::from_columns(Vec3::zero(), Vec3::zero(), Vec3::zero())
    }
    /// The identity.
    #[inline(always)]
    pub fn identity() -> Self {
        Self::from_columns(
            Vec3::splat([1.0, 0.0, 0.0]),
            Vec3::splat([0.0, 1.0, 0.0]),
            Vec3::splat([0.0, 0.0, 1.0]),
        )
    }
    /// The diagonal matrix with the given entries.
    #[inline(always)]
    pub fn from_diagonal(d: Vec3<S>) -> Self {
        let zero = S::zero();
        Self::from_columns(
            Vec3::new(d.x, zero, zero),
            Vec3::new(zero, d.y, zero),
            Vec3::new(zero, zero, d.z),
        )
    }
    /// The entries of the diagonal.
    #[inline(always)]
    pub fn diagonal(self) -> Vec3<S> {
        let [a, b, c] = self.columns;
        Vec3::new(a.x, b.y, c.z)
    }
    /// The skew-symmetric matrix whose product with a vector is the cross product `v ×`.
    #[inline(always)]
    pub fn skew(v: Vec3<S>) -> Self {
        let zero = S::zero();
        Self::from_columns(
            Vec3::new(zero, v.z, -v.y),
            Vec3::new(-v.z, zero, v.x),
            Vec3::new(v.y, -v.x, zero),
        )
    }
    /// Matrix times vector.
    #[inline(always)]
    pub fn apply(self, v: Vec3<S>) -> Vec3<S> {
        let [a, b, c] = self.columns;
        a * v.x + b * v.y + c * v.z
    }
    /// Transposed matrix times vector.
    #[inline(always)]
    pub fn apply_transposed(self, v: Vec3<S>) -> Vec3<S> {
        let [a, b, c] = self.columns;
        Vec3::new(a.dot(v), b.dot(v), c.dot(v))
    }
    /// Matrix product.
    #[inline(always)]
    pub fn matmul(self, o: Self) -> Self {
        let [a, b, c] = o.columns;
        Self::from_columns(self.apply(a), self.apply(b), self.apply(c))
    }
    /// Transpose.
    #[inline(always)]
    pub fn transpose(self) -> Self {
        let [a, b, c] = self.columns;
        Self::from_columns(
            Vec3::new(a.x, b.x, c.x),
            Vec3::new(a.y, b.y, c.y),
            Vec3::new(a.z, b.z, c.z),
        )
    }
    /// Determinant.
    #[inline(always)]
    pub fn determinant(self) -> S {
        let [a, b, c] = self.columns;
        a.dot(b.cross(c))
    }
    /// Cofactor matrix, the derivative of the determinant: columns b×c, c×a, a×b.
    #[inline(always)]
    pub fn cofactor(self) -> Self {
        let [a, b, c] = self.columns;
        Self::from_columns(b.cross(c), c.cross(a), a.cross(b))
    }
    /// Inverse (infinite where the determinant is zero).
    #[inline(always)]
    pub fn inverse(self) -> Self {
        let cofactor = self.cofactor();
        cofactor.transpose() * self.determinant().recip()
    }
    /// Sum of the diagonal.
    #[inline(always)]
    pub fn trace(self) -> S {
        let [a, b, c] = self.columns;
        a.x + b.y + c.z
    }
    /// Frobenius inner product.
    #[inline(always)]
    pub fn inner(self, o: Self) -> S {
        let ([a, b, c], [d, e, f]) = (self.columns, o.columns);
        a.dot(d) + b.dot(e) + c.dot(f)
    }
    /// Symmetric part, half the sum with the transpose.
    #[inline(always)]
    pub fn symmetric_part(self) -> Self {
        (self + self.transpose()) * S::splat(0.5)
    }
    /// The outer product `a bᵀ`.
    #[inline(always)]
    pub fn outer(a: Vec3<S>, b: Vec3<S>) -> Self {
        Self::from_columns(a * b.x, a * b.y, a * b.z)
    }
}

impl<S: Scalar> Add for Mat3<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        let ([a, b, c], [d, e, f]) = (self.columns, o.columns);
        Self::from_columns(a + d, b + e, c + f)
    }
}
impl<S: Scalar> Sub for Mat3<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        let ([a, b, c], [d, e, f]) = (self.columns, o.columns);
        Self::from_columns(a - d, b - e, c - f)
    }
}
impl<S: Scalar> Neg for Mat3<S> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        let [a, b, c] = self.columns;
        Self::from_columns(-a, -b, -c)
    }
}
impl<S: Scalar> Mul<S> for Mat3<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: S) -> Self {
        let [a, b, c] = self.columns;
        Self::from_columns(a * s, b * s, c * s)
    }
}
impl<S: Scalar> AddAssign for Mat3<S> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}
impl<S: Scalar> SubAssign for Mat3<S> {
    #[inline(always)]
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}
