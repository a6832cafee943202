//! Adjoints of constants with those that follow from others at the reference pose carried back to them.

use super::op::Scratch;
use super::plan::Step;
use super::{CompileError, Derivation};

impl Derivation {
    /// Turns an adjoint of the constants as if they were independent into that by the ones that are given,
    /// the others (inverse inertias at the reference pose, say) following: what `mj_setConst`
    /// recomputes. That by the followers is zero afterwards, as far as they do follow.
    ///
    /// The pullback to θ does this on its way; it is for comparisons by constants.
    ///
    /// # Errors
    /// As [`derive`](Self::derive).
    pub fn rederive(&self, theta: &[f64], c_bar: &mut [f64]) -> Result<(), CompileError> {
        let z = self.evaluate(theta)?;
        let mut z_bar = vec![0.0; z.len()];
        z_bar[self.constants()].copy_from_slice(c_bar);
        let mut scratch = Scratch::default();
        for step in self.plan.steps.iter().rev() {
            match step {
                Step::Op(op) => op.pull(&z, &mut z_bar, &mut scratch),
                Step::Bound(bound) => bound.pull(&z, &mut z_bar),
                Step::TotalMass(total) => total.pull(&z, &mut z_bar),
                Step::PrincipalAxes(axes) => axes.pull(&z, &mut z_bar),
                Step::ReferencePose(start) => {
                    self.pull_reference_pose(&z, &mut z_bar, *start);
                    break;
                }
            }
        }
        c_bar.copy_from_slice(&z_bar[self.constants()]);
        Ok(())
    }
}
