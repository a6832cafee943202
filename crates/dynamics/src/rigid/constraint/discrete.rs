//! Rows under the discrete integrator, whose references are those of the end of the step.
//!
//! With the velocity v + h J a and the position r + h(v + h J a) there, a row's deviation
//! J a + B(v + h J a) + K d(r + h v + h² J a) + J̇ v is s (J a − a_ref) with s = 1 + hB + h²K d and
//! a_ref = −(B v + K d(r + h v) + J̇ v)/s, so that the rows keep their form with a constraint mass
//! s times as large. The approximate diagonal of J M⁻¹Jᵀ is that of A = M + hD + h²K: it shrinks by
//! Σ Jᵢ²/Aᵢᵢ over Σ Jᵢ²/Mᵢᵢ (both as MuJoCo has them, measured).

use costate_num::{Mask, Scalar};

use super::build::{Constraints, Source};

impl<S: Scalar> Constraints<S> {
    /// Turns rows of the continuous dynamics into those of a step `h`, with the diagonals of M and A.
    pub(in crate::rigid) fn discretise(&mut self, h: f64, inertia: &[S], metric: &[S]) {
        for item in &self.items {
            let mut of_first = S::one();
            for r in item.row..item.row + item.count {
                let (response, state) = (self.responses[r], self.states[r]);
                let stiffness = response.stiffness * response.impedance;
                let s = S::one() + (response.damping + stiffness.scale(h)).scale(h);
                let ahead = state.position + state.velocity.scale(h);
                let pull = response.damping * state.velocity + stiffness * ahead + state.bias;
                self.rows.reference[r] = -(pull / s);
                let contact = matches!(item.source, Source::Contact(_));
                if !contact || r == item.row {
                    let (dofs, values) = self.rows.row(r);
                    let (mut with, mut without) = (S::zero(), S::zero());
                    for (&dof, &value) in dofs.iter().zip(values) {
                        with += value * value / metric[dof];
                        without += value * value / inertia[dof];
                    }
                    let still = without.equals(S::zero());
                    let ratio = without / S::select(still, S::one(), with);
                    of_first = s * if still.all() { S::one() } else { ratio };
                }
                // The masses of a contact's rows are in proportion to the first one's.
                self.rows.mass[r] = self.rows.mass[r] * of_first;
            }
        }
    }
}
