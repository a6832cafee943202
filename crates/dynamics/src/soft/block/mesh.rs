//! The stencils of a block, as lanes read them, and the sums over the elements at each vertex.

use std::ops::Range;

use costate_num::{Lanes, Vec3};
use rayon::prelude::*;

/// Elements in a group, whose constants lie together: the widest register.
pub(super) const WIDTH: usize = 8;

/// Numbers per vertex of an element in the element buffer, and per vertex of a chunk in the sums: a
/// vector, and a scalar beside it that few passes use. Together they are one or two registers.
pub(super) const FOUR: usize = 4;

/// From how many elements on the work is spread over threads.
const PARALLEL: usize = 8192;
/// Elements that are worked on in one go, a multiple of [`WIDTH`]: few enough for their buffer to
/// stay in the cache that is nearest, many enough for most of their vertices to be their own.
pub(super) const CHUNK: usize = 512;
/// Vertices that one thread takes at a time.
const VERTEX_CHUNK: usize = 1024;

/// Stencils of `V` vertices, in chunks.
///
/// The elements of a chunk are evaluated into a buffer, [`FOUR`] numbers per vertex of each, that is summed at the chunk's vertices
/// at once; the sums of all chunks are then added up at each vertex, in the order of the chunks. What
/// goes through memory is one vector per vertex and chunk, not one per vertex of each element.
pub(super) struct Mesh<const V: usize> {
    count: usize,
    /// Vertex k of each element, the last element repeated up to a multiple of [`WIDTH`].
    rows: [Vec<u32>; V],
    chunks: Vec<Chunk>,
    /// First vertex that any element touches.
    first: usize,
    /// For each vertex from `first` on, the sums of chunks that belong to it.
    sums: Lists,
    /// Number of sums of all chunks.
    sums_count: usize,
}

/// Elements that are worked on in one go; chunks depend on nothing but the mesh.
pub(super) struct Chunk {
    /// The elements.
    pub elements: Range<usize>,
    /// The vertices that they touch.
    vertices: Vec<u32>,
    /// Places in the chunk's buffer for each of its vertices, in the order of the elements.
    slots: Lists,
}

/// Lists of places, end to end.
#[derive(Default)]
struct Lists {
    /// Where each list starts in `places`; one entry more.
    starts: Vec<u32>,
    places: Vec<u32>,
}

impl Lists {
    /// Sorts (list, place) pairs, which come in the order that places shall have, into `count` lists.
    fn new(count: usize, pairs: &[(u32, u32)]) -> Self {
        let mut starts = vec![0u32; count + 1];
        for &(list, _) in pairs {
            starts[list as usize + 1] += 1;
        }
        for i in 0..count {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut places = vec![0u32; pairs.len()];
        for &(list, place) in pairs {
            let at = &mut next[list as usize];
            places[*at as usize] = place;
            *at += 1;
        }
        Self { starts, places }
    }

    fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The lists from `first` on.
    #[inline(always)]
    fn from(&self, first: usize) -> impl Iterator<Item = &[u32]> {
        self.starts[first..].windows(2).map(|w| &self.places[w[0] as usize..w[1] as usize])
    }
}

impl Chunk {
    /// Length of the sums at its vertices.
    pub(super) fn sums_len(&self) -> usize {
        FOUR * self.vertices.len()
    }

    /// Sums the buffer of the chunk's elements at each of its vertices.
    pub(super) fn sum(&self, buffer: &[f64], sums: &mut [f64]) {
        for (slots, sum) in self.slots.from(0).zip(sums.chunks_exact_mut(FOUR)) {
            sum.copy_from_slice(&total(slots, buffer));
        }
    }

    /// Adds the sums of the chunk's elements at its vertices, where no other chunk has any: vectors, and
    /// scalars where they are wanted.
    pub(super) fn add(&self, buffer: &[f64], to: &mut [f64], work: &mut [f64]) {
        for (slots, &vertex) in self.slots.from(0).zip(&self.vertices) {
            let [x, y, z, w] = total(slots, buffer);
            let out = &mut to[3 * vertex as usize..][..3];
            out[0] += x;
            out[1] += y;
            out[2] += z;
            if let Some(out) = work.get_mut(vertex as usize) {
                *out += w;
            }
        }
    }
}

/// The sum of the fours at some places of a buffer.
#[inline(always)]
fn total(places: &[u32], buffer: &[f64]) -> [f64; FOUR] {
    let mut sum = [0.0; FOUR];
    for &place in places {
        let four = &buffer[FOUR * place as usize..][..FOUR];
        for (sum, value) in sum.iter_mut().zip(four) {
            *sum += value;
        }
    }
    sum
}

impl<const V: usize> Mesh<V> {
    pub(super) fn new(stencils: &[[u32; V]]) -> Self {
        let count = stencils.len();
        let padded = count.next_multiple_of(WIDTH);
        let rows = std::array::from_fn(|k| {
            (0..padded).map(|e| stencils[e.min(count - 1)][k]).collect::<Vec<u32>>()
        });
        let first = stencils.iter().flatten().min().map_or(0, |&v| v as usize);
        let last = stencils.iter().flatten().max().map_or(0, |&v| v as usize + 1);
        let mut chunks = Vec::new();
        let mut of_vertices = Vec::new();
        let mut slots = Vec::new();
        for start in (0..count).step_by(CHUNK) {
            let elements = start..(start + CHUNK).min(count);
            let mut vertices: Vec<u32> =
                stencils[elements.clone()].iter().flatten().copied().collect();
            vertices.sort_unstable();
            vertices.dedup();
            slots.clear();
            for (e, stencil) in stencils[elements.clone()].iter().enumerate() {
                for (k, v) in stencil.iter().enumerate() {
                    let local = vertices.partition_point(|known| known < v);
                    slots.push((local as u32, (e * V + k) as u32));
                }
            }
            let begin = of_vertices.len() as u32;
            let own = vertices.iter().zip(begin..);
            of_vertices.extend(own.map(|(&v, sum)| (v - first as u32, sum)));
            let slots = Lists::new(vertices.len(), &slots);
            chunks.push(Chunk { elements, vertices, slots });
        }
        let sums = Lists::new(last - first, &of_vertices);
        Self { count, rows, chunks, first, sums, sums_count: of_vertices.len() }
    }

    /// The chunks.
    pub(super) fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// Vertex `k` of the elements from `e` on, the last element repeated up to a multiple of [`WIDTH`].
    pub(super) fn vertices(&self, k: usize, e: usize, count: usize) -> &[u32] {
        &self.rows[k][e..e + count]
    }

    /// Length of the sums of all chunks.
    pub(super) fn sums_len(&self) -> usize {
        FOUR * self.sums_count
    }

    /// Length of the buffer of a range of elements: a vector and a scalar per vertex of each.
    pub(super) fn buffer_len(elements: &Range<usize>) -> usize {
        elements.len().next_multiple_of(WIDTH) * V * FOUR
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

    /// Adds to each vertex the vectors in the sums of its chunks.
    pub(super) fn gather(&self, sums: &[f64], to: &mut [f64]) {
        let to = &mut to[3 * self.first..3 * (self.first + self.sums.len())];
        if self.is_spread() {
            to.par_chunks_mut(3 * VERTEX_CHUNK)
                .enumerate()
                .for_each(|(i, part)| self.gather_part(sums, i * VERTEX_CHUNK, part));
        } else {
            self.gather_part(sums, 0, to);
        }
    }

    fn gather_part(&self, sums: &[f64], first: usize, to: &mut [f64]) {
        for (places, out) in self.sums.from(first).zip(to.chunks_exact_mut(3)) {
            let [x, y, z, _] = total(places, sums);
            out[0] += x;
            out[1] += y;
            out[2] += z;
        }
    }

    /// Adds to each vertex the scalars in the sums of its chunks.
    pub(super) fn gather_work(&self, sums: &[f64], to: &mut [f64]) {
        let to = &mut to[self.first..self.first + self.sums.len()];
        let part = |(i, part): (usize, &mut [f64])| {
            for (places, out) in self.sums.from(i * VERTEX_CHUNK).zip(part) {
                *out += places.iter().map(|&at| sums[FOUR * at as usize + 3]).sum::<f64>();
            }
        };
        if self.is_spread() {
            to.par_chunks_mut(VERTEX_CHUNK).enumerate().for_each(part);
        } else {
            to.chunks_mut(VERTEX_CHUNK).enumerate().for_each(part);
        }
    }
}

/// Writes a vector, and a scalar beside it, per vertex of the elements from `e` on to their part of a
/// buffer, `e` counted from the part's first element.
#[inline(always)]
pub(super) fn store<S: Lanes, const V: usize>(
    vectors: &[Vec3<S>; V],
    scalars: &[S; V],
    buffer: &mut [f64],
    e: usize,
) {
    let mut k = 0;
    while k < V {
        let Vec3 { x, y, z } = vectors[k];
        S::store_four([x, y, z, scalars[k]], buffer, (e * V + k) * FOUR, V * FOUR);
        k += 1;
    }
}
