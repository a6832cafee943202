//! Register lanes chosen at run time.
//!
//! A [`Kernel`] is a computation written once over a lane type. [`dispatch`] runs it on the widest
//! registers that the processor has:
//!
//! ```
//! use costate_num::{dispatch, Kernel, Lanes, Scalar};
//!
//! struct Roots<'a> { values: &'a [f64], roots: &'a mut [f64] }
//!
//! impl Kernel for Roots<'_> {
//!     type Output = ();
//!     #[inline(always)]
//!     fn run<L: Lanes>(self) {
//!         let mut i = 0;
//!         while i < self.values.len() {
//!             let end = self.values.len().min(i + L::N);
//!             let x = L::load_padded(&self.values[i..end], 1.0);
//!             x.sqrt().store_partial(&mut self.roots[i..end]);
//!             i += L::N;
//!         }
//!     }
//! }
//!
//! let mut roots = [0.0; 3];
//! dispatch(Roots { values: &[1.0, 4.0, 9.0], roots: &mut roots });
//! assert_eq!(roots, [1.0, 2.0, 3.0]);
//! ```

mod isa;
#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(test)]
mod tests;

pub use isa::{Element, Isa, IsaError, dispatch, dispatch_on, isa};

use crate::scalar::Scalar;
use crate::vector::Vec3;

/// The most lanes that any register type has.
pub const MAX_LANES: usize = 16;

/// A register of `N` numbers of type `E` (`f64` where not said), each of which is computed on its own.
///
/// The number of lanes depends on the processor; results must not. So a kernel may not combine the
/// lanes of a register with each other: it writes them out, and sums run in the order of the items.
/// The operations of [`Scalar`] give the same bits in every lane type.
///
/// `f64` and `f32` are lane types of one lane.
pub trait Lanes<E: Copy = f64>: Scalar {
    /// The number of lanes.
    const N: usize;

    /// The first `N` of the values.
    ///
    /// # Panics
    /// If there are fewer than `N`.
    fn load(values: &[E]) -> Self;
    /// Writes the lanes to the first `N` places.
    ///
    /// # Panics
    /// If there are fewer than `N`.
    fn store(self, out: &mut [E]);
    /// One lane, by its number.
    ///
    /// # Panics
    /// If `i` is `N` or more.
    fn lane(self, i: usize) -> E;

    /// Up to `N` values, the remaining lanes filled with `fill`.
    #[inline(always)]
    fn load_padded(values: &[E], fill: E) -> Self {
        if values.len() >= Self::N {
            return Self::load(values);
        }
        let mut padded = [fill; MAX_LANES];
        padded[..values.len()].copy_from_slice(values);
        Self::load(&padded)
    }
    /// Writes as many lanes as there are places in `out`, at most `N`.
    #[inline(always)]
    fn store_partial(self, out: &mut [E]) {
        if out.len() >= Self::N {
            return self.store(out);
        }
        let mut i = 0;
        while i < out.len() {
            out[i] = self.lane(i);
            i += 1;
        }
    }
    /// Lane `i` is `values[indices[i]]`.
    ///
    /// # Panics
    /// If there are fewer than `N` indices, or one of the first `N` is out of bounds.
    #[inline(always)]
    fn gather(values: &[E], indices: &[u32]) -> Self {
        let indices = &indices[..Self::N];
        let mut lanes = [values[indices[0] as usize]; MAX_LANES];
        let mut i = 1;
        while i < Self::N {
            lanes[i] = values[indices[i] as usize];
            i += 1;
        }
        Self::load(&lanes)
    }
    /// The points with the given numbers, from interleaved coordinates x₀ y₀ z₀ x₁ y₁ z₁ …
    ///
    /// # Panics
    /// If there are fewer than `N` vertices, or one of the first `N` lies beyond the positions.
    #[inline(always)]
    fn load_vec3(positions: &[E], vertices: &[u32]) -> Vec3<Self> {
        let vertices = &vertices[..Self::N];
        let first = positions[0];
        let (mut x, mut y, mut z) = ([first; MAX_LANES], [first; MAX_LANES], [first; MAX_LANES]);
        let mut i = 0;
        while i < Self::N {
            let start = 3 * vertices[i] as usize;
            let point = &positions[start..start + 3];
            (x[i], y[i], z[i]) = (point[0], point[1], point[2]);
            i += 1;
        }
        Vec3::new(Self::load(&x), Self::load(&y), Self::load(&z))
    }
    /// Writes the four numbers of lane `i`, one of each register, to `out[offset + i · stride ..][..4]`.
    ///
    /// # Panics
    /// If a place lies beyond `out`.
    #[inline(always)]
    fn store_four(values: [Self; 4], out: &mut [E], offset: usize, stride: usize) {
        let [a, b, c, d] = values;
        let mut i = 0;
        while i < Self::N {
            let place = &mut out[offset + i * stride..][..4];
            (place[0], place[1], place[2], place[3]) = (a.lane(i), b.lane(i), c.lane(i), d.lane(i));
            i += 1;
        }
    }
}

/// A computation over registers of `E`, for [`dispatch`].
///
/// Mark `run`, and every function that it calls with lanes, `#[inline(always)]`: only code that is
/// inlined into the dispatch's own entry point is compiled for the processor's registers. A closure
/// that is handed to another function (a parallel loop, an iterator) is not, and runs many times
/// slower: put the parallel loop outside and dispatch each chunk.
pub trait Kernel<E: Copy = f64> {
    /// What the computation returns.
    type Output;
    /// Whether the computation is worth compiling for SSE2's two lanes; otherwise processors with
    /// nothing wider run it on one lane, with the same bits.
    const SSE2: bool = true;
    /// Runs the computation with lanes of type `L`.
    fn run<L: Lanes<E>>(self) -> Self::Output;
}
