//! The largest stable time step of the explicit integrator.
//!
//! For a mode with M⁻¹K = k and M⁻¹C = c, semi-implicit Euler with explicit damping is stable
//! while h²k + 2hc < 4, that is for h < 4 / (c + √(c² + 4k)). The largest k and c are estimated
//! by power iteration with the exact tangents of the forces; taking both at once is on the safe
//! side where they belong to different modes.

use costate_model::State;

use crate::constants::Constants;
use crate::error::DynamicsError;
use crate::force::Tangents;
use crate::system::{System, Workspace};

/// Power iterations at most, and the relative change at which they stop.
const ITERATIONS: usize = 300;
const SETTLED: f64 = 2e-4;

/// The estimate of the largest stable step.
#[derive(Clone, Debug, PartialEq)]
pub struct StableStep {
    /// Largest stable step, s (infinite where nothing limits it).
    pub bound: f64,
    /// Largest eigenvalue of M⁻¹K, 1/s².
    pub stiffness_rate: f64,
    /// Largest eigenvalue of M⁻¹C, 1/s.
    pub damping_rate: f64,
    /// What sets the bound, in words.
    pub limited_by: String,
}

/// The bound for one mode.
fn bound(k: f64, c: f64) -> f64 {
    4.0 / (c + (c * c + 4.0 * k).sqrt())
}

enum Part {
    Stiffness,
    Damping,
}

impl System {
    /// Estimates the largest stable step at a state: elements, damping, and contacts as if every
    /// vertex touched. In contacts with articulated bodies both sides' masses count, the body's as often as
    /// vertices touch it at the state, once at least.
    pub fn stable_step(&self, c: &Constants, state: &State, u: &[f64]) -> StableStep {
        let mut ws = self.workspace();
        let rest = State { v: vec![0.0; state.v.len()], ..state.clone() };
        let (k, by_k) = self.largest_rate(c, &rest, u, Part::Stiffness, &mut ws);
        let (d, by_d) = self.largest_rate(c, &rest, u, Part::Damping, &mut ws);
        let alpha =
            c.values[self.layout.mass_damping.clone()].iter().fold(0.0f64, |a, b| a.max(*b));
        let d_all = d + alpha;
        let mut best = StableStep {
            bound: bound(k, d_all),
            stiffness_rate: k,
            damping_rate: d_all,
            limited_by: describe(k, d, alpha, &by_k, &by_d),
        };
        let w = &c.values[self.layout.inverse_mass.clone()];
        for (force, range) in self.forces.iter().zip(&self.layout.forces) {
            if let Some((k, d, what)) = force.contact_rates(&c.values[range.clone()], w) {
                let limit = bound(k, d);
                if limit < best.bound {
                    best.bound = limit;
                    best.limited_by = what;
                }
            }
        }
        if let Some(scratch) = &mut ws.coupling {
            for (closed, k_contact, d_contact, what) in self.coupled_rates(c, &rest, scratch) {
                // Beside a contact that is closed the elements act too; they are in the power iteration's
                // matrix, and contacts with articulated bodies are not.
                let [k, d] = if closed { [k, d_all] } else { [0.0; 2] };
                let limit = bound(k + k_contact, d + d_contact);
                if limit < best.bound {
                    best.bound = limit;
                    best.limited_by = what;
                }
            }
        }
        best
    }

    /// Refuses a time step beyond the largest stable one.
    ///
    /// # Errors
    /// [`DynamicsError::UnstableStep`].
    pub fn check_timestep(
        &self,
        c: &Constants,
        state: &State,
        u: &[f64],
    ) -> Result<StableStep, DynamicsError> {
        let stable = self.stable_step(c, state, u);
        if self.timestep() > stable.bound {
            return Err(DynamicsError::UnstableStep {
                step: self.timestep(),
                bound: stable.bound,
                limited_by: stable.limited_by,
            });
        }
        Ok(stable)
    }

    /// Largest eigenvalue of M⁻¹K or M⁻¹C and the force that contributes most to it.
    fn largest_rate(
        &self,
        c: &Constants,
        state: &State,
        u: &[f64],
        part: Part,
        ws: &mut Workspace,
    ) -> (f64, String) {
        let n = self.soft_len();
        let w = &c.values[self.layout.inverse_mass.clone()];
        let mut z = start_vector(n);
        mask(&mut z, w);
        let zero = vec![0.0; n];
        let at = self.soft_at(state, u);
        let mut image = vec![0.0; n];
        let (mut rate, mut settled) = (0.0f64, 0);
        let mut shares = vec![0.0; self.forces.len()];
        for _ in 0..ITERATIONS {
            let norm = z.iter().map(|x| x * x).sum::<f64>().sqrt();
            if norm == 0.0 || !norm.is_finite() {
                break;
            }
            z.iter_mut().for_each(|x| *x /= norm);
            image.fill(0.0);
            for (i, (force, range)) in self.forces.iter().zip(&self.layout.forces).enumerate() {
                let before: f64 = weighted(&z, &image, w);
                let (x, v) = match part {
                    Part::Stiffness => (z.as_slice(), zero.as_slice()),
                    Part::Damping => (zero.as_slice(), z.as_slice()),
                };
                let tangents = Tangents { columns: 1, x, v, u: &[], c: &[] };
                let scratch = &mut ws.scratch[i];
                force.pushforward(&c.values[range.clone()], at, tangents, &mut image, scratch);
                shares[i] = before - weighted(&z, &image, w);
            }
            for (j, value) in image.iter_mut().enumerate() {
                *value *= -w[j / 3];
            }
            let new = image.iter().map(|x| x * x).sum::<f64>().sqrt();
            std::mem::swap(&mut z, &mut image);
            settled = if (new - rate).abs() <= SETTLED * new { settled + 1 } else { 0 };
            rate = new;
            if settled >= 5 {
                break;
            }
        }
        let largest = (0..shares.len()).max_by(|&a, &b| shares[a].total_cmp(&shares[b]));
        let label = largest.map_or(String::new(), |i| self.forces[i].label().to_string());
        (rate, label)
    }
}

fn describe(k: f64, d: f64, alpha: f64, by_k: &str, by_d: &str) -> String {
    if k == 0.0 && d + alpha == 0.0 {
        "nothing: no element is stiff or damped here".into()
    } else if d + alpha >= k.sqrt() {
        if alpha > d {
            "mass-proportional damping".into()
        } else {
            format!("the damping of {by_d} (2/c = {:.2e} s)", 2.0 / d)
        }
    } else {
        format!("the stiffness of {by_k} (2/sqrt(k) = {:.2e} s)", 2.0 / k.sqrt())
    }
}

fn weighted(z: &[f64], image: &[f64], w: &[f64]) -> f64 {
    z.iter().zip(image).enumerate().map(|(j, (a, b))| a * b * w[j / 3]).sum()
}

fn mask(z: &mut [f64], w: &[f64]) {
    for (j, value) in z.iter_mut().enumerate() {
        if w[j / 3] == 0.0 {
            *value = 0.0;
        }
    }
}

/// A vector with a part along every mode.
fn start_vector(n: usize) -> Vec<f64> {
    let mut seed: u64 = 0x9E37_79B9_7F4A_7C15;
    (0..n)
        .map(|_| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        })
        .collect()
}
