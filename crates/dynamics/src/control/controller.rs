//! Controllers: laws evaluated at ticks, held between them, late by a delay.

use costate_model::control::Controller;

use super::network::{Network, Source, invalid};
use crate::error::DynamicsError;

/// How far a sample time may be from a whole number of steps.
const WHOLE: f64 = 1e-6;

impl Network<'_> {
    pub fn controller(&mut self, controller: &Controller) -> Result<(), DynamicsError> {
        let element = format!("controller.{}", controller.name);
        let period = match controller.sample_time {
            None => 1,
            Some(time) => {
                let steps = time / self.h();
                if !(steps.round() >= 1.0 && (steps - steps.round()).abs() <= WHOLE * steps) {
                    let message = format!(
                        "its sample time of {time} s is no whole number of time steps of {} s",
                        self.h()
                    );
                    return Err(invalid(&element, message));
                }
                steps.round() as usize
            }
        };
        let law = self.formula(&controller.law, period)?;
        let mut out = law;
        if period > 1 {
            let tick = self.source(Source::Tick(period));
            let (slot, held) = self.recall(law);
            out = self.graph.select(tick, law, held);
            self.remember(slot, out);
        }
        if let Some(delay) = controller.delay {
            out = self.delayed(out, delay);
        }
        self.controllers.push(out);
        if let Some(actuator) = controller.actuator {
            self.command(actuator, out);
        }
        Ok(())
    }
}
