//! The stencils of a block, as lanes read them, and the sums over the elements at each vertex.

use std::ops::Range;

use costate_num::{Lanes, Vec3};
use rayon::prelude::*;

/// Elements in a block of the element buffer: the widest register. A buffer has `3 V` rows of this
/// many numbers per block, whatever register is in use, so that sums do not depend on it.
pub(super) const WIDTH: usize = 8;

/// From how many elements on the work is spread over threads.
const PARALLEL: usize = 8192;
/// Elements that one thread takes at a time, a multiple of [`WIDTH`].
const CHUNK: usize = 2048;
/// Vertices that one thread takes at a time.
const VERTEX_CHUNK: usize = 1024;

/// Stencils of `V` vertices.
pub(super) struct Mesh<const V: usize> {
    count: usize,
    /// Vertex k of each element, the last element repeated up to a multiple of [`WIDTH`].
    rows: [Vec<u32>; V],
    /// First vertex that any element touches.
    first: usize,
    /// For each vertex from `first` on, where its slots start in `slots`; one entry more.
    starts: Vec<u32>,
    /// Places in an element buffer, by vertex, in the order of the elements.
    slots: Vec<u32>,
}

impl<const V: usize> Mesh<V> {
    pub(super) fn new(stencils: &[[u32; V]]) -> Self {
        let count = stencils.len();
        let padded = count.next_multiple_of(WIDTH);
        let rows = std::array::from_fn(|k| {
            (0..padded).map(|e| stencils[e.min(count - 1)][k]).collect::<Vec<u32>>()
        });
        let touched = || stencils.iter().flatten().map(|&v| v as usize);
        let first = touched().min().unwrap_or(0);
        let vertices = touched().max().map_or(0, |last| last + 1 - first);
        let mut starts = vec![0u32; vertices + 1];
        for v in touched() {
            starts[v - first + 1] += 1;
        }
        for v in 0..vertices {
            starts[v + 1] += starts[v];
        }
        let mut next = starts.clone();
        let mut slots = vec![0u32; count * V];
        for (e, stencil) in stencils.iter().enumerate() {
            for (k, &v) in stencil.iter().enumerate() {
                let at = &mut next[v as usize - first];
                slots[*at as usize] = ((e / WIDTH * V + k) * 3 * WIDTH + e % WIDTH) as u32;
                *at += 1;
            }
        }
        Self { count, rows, first, starts, slots }
    }

    /// Number of elements.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Length of an element buffer of one vector per vertex of each element.
    pub(super) fn buffer_len(&self) -> usize {
        self.rows[0].len() * V * 3
    }

    /// Length of the part of a buffer that belongs to a range of elements.
    pub(super) fn part_len(elements: &Range<usize>) -> usize {
        elements.len().next_multiple_of(WIDTH) * V * 3
    }

    /// The ranges of elements that are worked on in one go; they depend on nothing but the mesh.
    pub(super) fn chunks(&self) -> impl Iterator<Item = Range<usize>> {
        let size = if self.is_spread() { CHUNK } else { self.count };
        (0..self.count).step_by(size.max(1)).map(move |e| e..(e + size).min(self.count))
    }

    /// Whether the work is spread over threads.
    pub(super) fn is_spread(&self) -> bool {
        self.count >= PARALLEL
    }

    /// A vector quantity at the vertices of the elements from `e` on.
    #[inline(always)]
    pub(super) fn load<S: Lanes>(&self, values: &[f64], e: usize) -> [Vec3<S>; V] {
        let mut out = [Vec3::zero(); V];
        let mut k = 0;
        while k < V {
            out[k] = S::load_vec3(values, &self.rows[k][e..]);
            k += 1;
        }
        out
    }

    /// Adds to each vertex the sum of its slots in `buffer`.
    pub(super) fn gather(&self, buffer: &[f64], to: &mut [f64]) {
        let vertices = self.starts.len() - 1;
        let to = &mut to[3 * self.first..3 * (self.first + vertices)];
        if self.is_spread() {
            to.par_chunks_mut(3 * VERTEX_CHUNK)
                .enumerate()
                .for_each(|(i, part)| self.gather_part(buffer, i * VERTEX_CHUNK, part));
        } else {
            self.gather_part(buffer, 0, to);
        }
    }

    fn gather_part(&self, buffer: &[f64], first: usize, to: &mut [f64]) {
        let starts = &self.starts[first..first + to.len() / 3 + 1];
        for (window, out) in starts.windows(2).zip(to.chunks_exact_mut(3)) {
            let (mut x, mut y, mut z) = (0.0, 0.0, 0.0);
            for &slot in &self.slots[window[0] as usize..window[1] as usize] {
                let rows = &buffer[slot as usize..slot as usize + 2 * WIDTH + 1];
                x += rows[0];
                y += rows[WIDTH];
                z += rows[2 * WIDTH];
            }
            out[0] += x;
            out[1] += y;
            out[2] += z;
        }
    }
}

/// Writes one vector per vertex of the elements from `e` on to their part of a buffer, `e` counted
/// from the part's first element.
#[inline(always)]
pub(super) fn store<S: Lanes, const V: usize>(
    vectors: &[Vec3<S>; V],
    buffer: &mut [f64],
    e: usize,
) {
    let block = &mut buffer[e / WIDTH * V * 3 * WIDTH..][..V * 3 * WIDTH];
    let lane = e % WIDTH;
    let mut k = 0;
    while k < V {
        let at = 3 * k * WIDTH + lane;
        vectors[k].x.store(&mut block[at..]);
        vectors[k].y.store(&mut block[at + WIDTH..]);
        vectors[k].z.store(&mut block[at + 2 * WIDTH..]);
        k += 1;
    }
}
