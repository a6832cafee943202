//! Derivatives of forces for observations of them.

use std::ops::Range;

use costate_model::State;

use super::local::{Block, Local, Moment};
use crate::force::{Adjoints, At};

/// The whole state at a moment.
pub(super) fn state(at: &Moment) -> State {
    let n = at.at.system.vertex_count() as u32;
    State {
        time: at.at.start.time,
        q: (0..n).flat_map(|i| at.x(i).to_array()).collect(),
        v: (0..n).flat_map(|i| at.v(i).to_array()).collect(),
        act: Vec::new(),
    }
}

/// Adjoints of three components by everything that forces read.
pub(super) struct Rows {
    x: [Vec<f64>; 3],
    v: [Vec<f64>; 3],
    c: [Vec<f64>; 3],
    u: [Vec<f64>; 3],
}

impl Rows {
    /// Zero.
    pub fn new(at: &Moment) -> Self {
        let (n, nc) = (at.at.system.soft_len(), at.at.c.values.len());
        let zero = |n: usize| [vec![0.0; n], vec![0.0; n], vec![0.0; n]];
        Self { x: zero(n), v: zero(n), c: zero(nc), u: zero(at.at.system.input_len()) }
    }

    /// Where adjoints of component `a` accumulate for a force with the given constants.
    pub fn adjoints(&mut self, a: usize, constants: &Range<usize>) -> Adjoints<'_> {
        Adjoints {
            x: &mut self.x[a],
            v: &mut self.v[a],
            u: &mut self.u[a],
            c: &mut self.c[a][constants.clone()],
            work: &mut [],
        }
    }

    /// Adds the adjoints of Σᵢ wᵢ fᵢ over (vertex, weight) pairs, for the forces with the given
    /// indices.
    pub fn pull_forces(
        &mut self,
        at: &Moment,
        state: &State,
        weights: &[(u32, f64)],
        forces: impl Iterator<Item = usize>,
    ) {
        let system = at.at.system;
        let here = At { x: &state.q, v: &state.v, u: at.at.u.now };
        let mut lambda = vec![0.0; system.soft_len()];
        for force in forces {
            let range = &system.layout().forces[force];
            let mut scratch = system.forces()[force].scratch();
            for a in 0..3 {
                for &(i, w) in weights {
                    lambda[3 * i as usize + a] = w;
                }
                let c = &at.at.c.values[range.clone()];
                let adjoints = self.adjoints(a, range);
                system.forces()[force].pullback(c, here, &lambda, adjoints, &mut scratch);
                for &(i, _) in weights {
                    lambda[3 * i as usize + a] = 0.0;
                }
            }
        }
    }

    /// Adds what is not zero to the derivatives.
    pub fn collect(&self, out: &mut Local) {
        let blocks = |rows: &[Vec<f64>; 3], to: &mut Vec<(u32, Block)>| {
            for i in 0..rows[0].len() / 3 {
                let block = [0, 1, 2].map(|a: usize| {
                    let row = &rows[a][3 * i..3 * i + 3];
                    [row[0], row[1], row[2]]
                });
                if block.iter().flatten().any(|x| *x != 0.0) {
                    to.push((i as u32, block));
                }
            }
        };
        blocks(&self.x, &mut out.x);
        blocks(&self.v, &mut out.v);
        let slopes = |rows: &[Vec<f64>; 3], to: &mut Vec<(u32, [f64; 3])>| {
            for i in 0..rows[0].len() {
                let slope = [rows[0][i], rows[1][i], rows[2][i]];
                if slope.iter().any(|x| *x != 0.0) {
                    to.push((i as u32, slope));
                }
            }
        };
        slopes(&self.c, &mut out.c);
        slopes(&self.u, &mut out.u);
    }
}
