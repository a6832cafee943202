//! Distance of two points.

use costate_num::{Scalar, Vec3};

use super::relation::Shape;

/// |x₁ − x₀|, m; where the points meet its derivative is zero.
pub(super) struct Distance;

impl Shape<2> for Distance {
    #[inline(always)]
    fn value<S: Scalar>(&self, x: &[Vec3<S>; 2]) -> Vec3<S> {
        Vec3::new((x[1] - x[0]).norm(), S::zero(), S::zero())
    }
}
