//! What is seen of the contact of soft vertices with articulated bodies. Between two steps it runs straight
//! from its value at the first to that at the second, as what sensors measure does.

use costate_model::State;

use super::local::{Local, Moment, Observable, Slopes};
use crate::coupling::{CoupledAdjoints, CouplingScratch};

/// Net force, N, of one geom of articulated bodies on some vertices.
pub(super) struct CoupledForce {
    /// Its place among the geoms that vertices touch.
    pub surface: usize,
    pub vertices: Vec<u32>,
}

/// Blends what `evaluate` gives at both ends of the interval; `pull` adds the derivatives of a component.
fn blend(
    at: &Moment,
    out: &mut Local,
    components: usize,
    evaluate: impl Fn(&State, &mut CouplingScratch) -> [f64; 3],
    pull: impl Fn(&State, usize, CoupledAdjoints, &mut CouplingScratch),
) {
    let system = at.at.system;
    let Some(mut scratch) = system.coupling_scratch() else { return };
    for (k, state) in [at.at.start, at.at.end].into_iter().enumerate() {
        let (weight, rate) = (at.blend.v[k], at.blend.v_rate[k]);
        if weight == 0.0 && (rate == 0.0 || !at.derivatives) {
            continue;
        }
        let value = evaluate(state, &mut scratch);
        for (a, x) in value.into_iter().enumerate().take(components) {
            out.value[a] += weight * x;
            out.rate[a] += rate * x;
        }
        if weight == 0.0 || !at.derivatives {
            continue;
        }
        for a in 0..components {
            let mut bar = system.zero_adjoint();
            let mut c = vec![0.0; at.at.c.values.len()];
            let into = CoupledAdjoints { q: &mut bar.q, v: &mut bar.v, c: &mut c };
            pull(state, a, into, &mut scratch);
            let Slopes { q, v, .. } = &mut out.ends[k];
            for (slopes, bars) in [(q, &bar.q), (v, &bar.v), (&mut out.c, &c)] {
                for (i, &b) in bars.iter().enumerate().filter(|(_, b)| **b != 0.0) {
                    let mut slope = [0.0; 3];
                    slope[a] = weight * b;
                    slopes.push((i as u32, slope));
                }
            }
        }
    }
}

impl Observable for CoupledForce {
    fn evaluate(&self, at: &Moment, out: &mut Local) {
        let (system, c) = (at.at.system, at.at.c);
        let evaluate = |state: &State, scratch: &mut CouplingScratch| {
            let mut f = vec![0.0; system.soft_len()];
            system.coupled_forces(c, state, self.surface, &mut f, scratch);
            let mut sum = [0.0; 3];
            for &i in &self.vertices {
                for (a, sum) in sum.iter_mut().enumerate() {
                    *sum += f[3 * i as usize + a];
                }
            }
            sum
        };
        let pull = |state: &State, a: usize, to: CoupledAdjoints, scratch: &mut CouplingScratch| {
            let mut lambda = vec![0.0; system.soft_len()];
            for &i in &self.vertices {
                lambda[3 * i as usize + a] = 1.0;
            }
            system.couple_pullback(c, state, [&lambda, &[]], Some(self.surface), to, scratch);
        };
        blend(at, out, 3, evaluate, pull);
    }
}

/// Adds the energy of the contact springs between vertices and articulated bodies.
pub(super) fn add_energy(at: &Moment, out: &mut Local) {
    let (system, c) = (at.at.system, at.at.c);
    let evaluate = |state: &State, scratch: &mut CouplingScratch| {
        [system.coupled_energy(c, state, scratch, None), 0.0, 0.0]
    };
    let pull = |state: &State, _: usize, to: CoupledAdjoints, scratch: &mut CouplingScratch| {
        system.coupled_energy(c, state, scratch, Some(to));
    };
    blend(at, out, 1, evaluate, pull);
}
