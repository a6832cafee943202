//! Functions of up to three points: what is written once for all of them.

use costate_num::{DualN, Scalar, Vec3};

use super::local::{Block, Local, Moment, Observable};
use super::point::PointMap;

/// A function of the positions of `N` points (at most three), with up to three components.
pub(super) trait Shape<const N: usize>: Send + Sync {
    /// Its value; components that it does not have are zero.
    fn value<S: Scalar>(&self, x: &[Vec3<S>; N]) -> Vec3<S>;
}

/// A [`Shape`] of points of a motion.
pub(super) struct Relation<F, const N: usize> {
    pub points: [PointMap; N],
    pub shape: F,
}

impl<F: Shape<N>, const N: usize> Observable for Relation<F, N> {
    fn evaluate(&self, at: &Moment, out: &mut Local) {
        let locals: [Local; N] = std::array::from_fn(|i| {
            let mut local = Local::default();
            self.points[i].position(at, &mut local);
            local
        });
        if !at.derivatives {
            let x = std::array::from_fn(|i| Vec3::from_array(locals[i].value));
            out.value = self.shape.value(&x).to_array();
            return;
        }
        let x: [Vec3<DualN<f64, 9>>; N] = std::array::from_fn(|i| {
            let [x, y, z] = locals[i].value;
            Vec3::new(
                DualN::variable(x, 3 * i),
                DualN::variable(y, 3 * i + 1),
                DualN::variable(z, 3 * i + 2),
            )
        });
        let value = self.shape.value(&x).to_array();
        out.value = value.map(|c| c.value);
        for (i, local) in locals.iter().enumerate() {
            let block: Block =
                value.map(|c| [c.tangent[3 * i], c.tangent[3 * i + 1], c.tangent[3 * i + 2]]);
            out.chain(&block, local);
        }
    }
}
