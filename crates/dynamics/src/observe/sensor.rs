//! What the sensors of articulated bodies measure.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use costate_model::State;
use costate_model::rigid::{ContactField, ContactSensor, SensorKind};

use super::compile::{Compiler, invalid};
use super::local::{Local, Moment, Observable, Slopes};
use crate::constants::Constants;
use crate::coupling::{CoupledAdjoints, CouplingScratch, applied};
use crate::error::DynamicsError;
use crate::rigid::{Adjoint, At, RigidError, RigidWorkspace, SensorWorkspace};
use crate::step::StateAdjoint;
use crate::system::System;

/// Up to three numbers of a sensor. Between steps they run straight from what the sensor measures at
/// the start of the step to what it measures at its end, both under the step's own controls.
pub(super) struct SensorReading {
    /// Its numbers among those of all sensors.
    data: Range<usize>,
    /// Memory that is not in use, one for each thread that has read at the same time.
    memory: Mutex<Vec<Memory>>,
}

struct Memory {
    workspace: RigidWorkspace,
    sensors: SensorWorkspace,
    measured: Vec<f64>,
    y_bar: Vec<f64>,
    ctrl: Vec<f64>,
    bar: Adjoint,
    coupled: Option<Box<CouplingScratch>>,
    /// Adjoints of the whole state and of all constants through forces of soft vertices.
    through_soft: StateAdjoint,
    c_through_soft: Vec<f64>,
}

/// A state and what acts on it.
struct Reading<'a> {
    system: &'a System,
    c: &'a Constants,
    u: &'a [f64],
    state: &'a State,
}

impl Reading<'_> {
    /// Calls `act` with the mechanism (the one that derivatives are of, if so), the rigid constants and the
    /// state.
    fn with(
        &self,
        derivatives: bool,
        memory: &mut Memory,
        act: impl FnOnce(
            &crate::rigid::Mechanism,
            &[f64],
            At<f64>,
            &mut Memory,
        ) -> Result<(), RigidError>,
    ) -> Result<(), RigidError> {
        let Some(a) = self.system.articulated() else { return Ok(()) };
        let soft = self.system.soft_len();
        let mut ctrl = std::mem::take(&mut memory.ctrl);
        ctrl.resize(a.tree().actuators.len(), 0.0);
        a.read_controls(self.u, &mut ctrl);
        let own = &self.state.act[..a.tree().na];
        let (qpos, qvel) = (&self.state.q[soft..], &self.state.v[soft..]);
        let mut coupled = memory.coupled.take();
        if let Some(coupled) = &mut coupled {
            self.system.find_applied(self.c, self.state, coupled);
        }
        let at = At { qpos, qvel, act: own, ctrl: &ctrl, applied: applied(&coupled) };
        let constants = &self.c.values[self.system.layout().rigid.clone()];
        let mechanism = if derivatives { a.differentiated() } else { a.mechanism() };
        let result = act(mechanism, constants, at, memory);
        memory.ctrl = ctrl;
        memory.coupled = coupled;
        result
    }

    /// What all sensors measure, into the memory.
    fn sense(&self, memory: &mut Memory) -> Result<(), RigidError> {
        let time = self.state.time;
        self.with(false, memory, |mechanism, c, at, memory| {
            let Memory { workspace, sensors, measured, .. } = memory;
            mechanism.sense(c, at, time, &[], measured, workspace, sensors)
        })
    }

    /// The adjoints of one number, into the memory.
    fn pull(&self, number: usize, memory: &mut Memory) -> Result<(), RigidError> {
        self.with(true, memory, |mechanism, c, at, memory| {
            let Memory { workspace, sensors, y_bar, bar, .. } = memory;
            y_bar.clear();
            y_bar.resize(mechanism.sensor_values(), 0.0);
            y_bar[number] = 1.0;
            bar.clear();
            mechanism.sense_pullback(c, at, &[], y_bar, bar, workspace, sensors)
        })?;
        let Memory { coupled, through_soft, c_through_soft, bar, .. } = memory;
        if let Some(coupled) = coupled {
            through_soft.clear();
            c_through_soft.fill(0.0);
            let StateAdjoint { q, v, .. } = through_soft;
            let out = CoupledAdjoints { q, v, c: c_through_soft };
            let bars = [&[][..], &bar.applied];
            self.system.couple_pullback(self.c, self.state, bars, None, out, coupled);
        }
        Ok(())
    }
}

/// Input of each actuator that no controller commands.
fn actuator_inputs(system: &System) -> &[Option<usize>] {
    system.articulated().map_or(&[], |a| a.actuator_inputs())
}

fn add(
    slopes: &mut Vec<(u32, [f64; 3])>,
    first: usize,
    bar: &[f64],
    component: usize,
    weight: f64,
) {
    for (i, &b) in bar.iter().enumerate().filter(|(_, b)| **b != 0.0) {
        let mut slope = [0.0; 3];
        slope[component] = b * weight;
        slopes.push(((first + i) as u32, slope));
    }
}

impl SensorReading {
    fn take(&self, system: &System) -> Option<Memory> {
        let spare = self.memory.lock().unwrap_or_else(PoisonError::into_inner).pop();
        spare.or_else(|| {
            let a = system.articulated()?;
            let mechanism = a.mechanism();
            Some(Memory {
                workspace: mechanism.workspace(),
                sensors: mechanism.sensor_workspace(),
                measured: Vec::new(),
                y_bar: Vec::new(),
                ctrl: Vec::new(),
                bar: Adjoint::zeros(a.tree(), &mechanism.layout),
                coupled: system.coupling_scratch(),
                through_soft: system.zero_adjoint(),
                c_through_soft: vec![0.0; system.layout().len],
            })
        })
    }

    fn read(&self, at: &Moment, memory: &mut Memory, out: &mut Local) -> Result<(), RigidError> {
        let system = at.at.system;
        let (soft, rigid) = (system.soft_len(), system.layout().rigid.start);
        for (k, state) in [at.at.start, at.at.end].into_iter().enumerate() {
            let (weight, rate) = (at.blend.v[k], at.blend.v_rate[k]);
            if weight == 0.0 && (rate == 0.0 || !at.derivatives) {
                continue;
            }
            let reading = Reading { system, c: at.at.c, u: at.at.u.now, state };
            reading.sense(memory)?;
            for (component, i) in self.data.clone().enumerate() {
                out.value[component] += weight * memory.measured[i];
                out.rate[component] += rate * memory.measured[i];
            }
            if weight == 0.0 || !at.derivatives {
                continue;
            }
            for (component, i) in self.data.clone().enumerate() {
                reading.pull(i, memory)?;
                let bar = &memory.bar;
                let Slopes { q, v, act } = &mut out.ends[k];
                add(q, soft, &bar.q, component, weight);
                add(v, soft, &bar.v, component, weight);
                add(act, 0, &bar.act, component, weight);
                add(&mut out.c, rigid, &bar.c, component, weight);
                if memory.coupled.is_some() {
                    let StateAdjoint { q: by_q, v: by_v, .. } = &memory.through_soft;
                    add(q, 0, by_q, component, weight);
                    add(v, 0, by_v, component, weight);
                    add(&mut out.c, 0, &memory.c_through_soft, component, weight);
                }
                for (input, b) in actuator_inputs(system).iter().zip(&bar.ctrl) {
                    if let (Some(input), true) = (input, *b != 0.0) {
                        add(&mut out.u, *input, &[*b], component, weight);
                    }
                }
            }
        }
        Ok(())
    }
}

impl Observable for SensorReading {
    fn evaluate(&self, at: &Moment, out: &mut Local) {
        let Some(mut memory) = self.take(at.at.system) else { return };
        if self.read(at, &mut memory, out).is_err() {
            // The step itself has gone through this state, so that its error has been told.
            out.value = [f64::NAN; 3];
        }
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
    }
}

/// Whether a sensor's numbers depend on forces, and so on what the actuators do.
fn feels_forces(kind: SensorKind) -> bool {
    use SensorKind as K;
    matches!(
        kind,
        K::Accelerometer(_)
            | K::Force(_)
            | K::Torque(_)
            | K::Touch(_)
            | K::Contact(_)
            | K::ActuatorFrc(_)
            | K::JointActuatorFrc(_)
            | K::TendonActuatorFrc(_)
            | K::FrameLinAcc(_)
            | K::FrameAngAcc(_)
    )
}

/// Refuses the number of contacts found, which has no derivative.
fn check_fields(
    element: &str,
    of: &ContactSensor,
    number: Option<usize>,
) -> Result<(), DynamicsError> {
    let counts = |number: usize| of.field(number) == Some(ContactField::Found);
    let refused = match number {
        Some(number) => counts(number),
        None => (0..of.len().min(3)).any(counts),
    };
    if refused {
        let message = "`found` is a count and has no derivative; observe another number of the sensor \
                       with `component`";
        return Err(invalid(element, message));
    }
    Ok(())
}

impl Compiler<'_> {
    /// A sensor by name: all of its numbers, or `number` alone of one with four.
    pub(super) fn sensor(
        &self,
        name: &str,
        number: Option<usize>,
    ) -> Result<SensorReading, DynamicsError> {
        let element = format!("sensor.{name}");
        let articulation = self.model().articulation.as_ref();
        let found = articulation.and_then(|a| Some((a, a.sensor(name)?)));
        let (Some((a, index)), Some(robot)) = (found, self.system.articulated()) else {
            let known: Vec<&str> =
                articulation.iter().flat_map(|a| &a.sensors).map(|s| &*s.name).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            return Err(invalid(&element, format!("there is no such sensor; known: {known}")));
        };
        let sensor = &a.sensors[index];
        if self.system.control.is_some() && feels_forces(sensor.kind) {
            let message = "what depends on forces is not offered where controllers or laws of \
                           friction act";
            return Err(invalid(&element, message));
        }
        if let SensorKind::Contact(of) = sensor.kind {
            check_fields(&element, &of, number)?;
        }
        let by_contact = matches!(
            sensor.kind,
            SensorKind::Force(_)
                | SensorKind::Torque(_)
                | SensorKind::Touch(_)
                | SensorKind::Contact(_)
        );
        if self.system.coupling().is_some() && by_contact {
            let message = "force, torque, touch and contact sensors do not feel soft bodies, so they are not \
                           offered where those touch the robot; observe the contact force on the soft bodies";
            return Err(invalid(&element, message));
        }
        let all = robot.tree().sensors[index].data.clone();
        let data = match number {
            None => all.start..all.end.min(all.start + 3),
            Some(k) => all.start + k..all.start + k + 1,
        };
        let reading = SensorReading { data, memory: Mutex::default() };
        // Some sensors cannot be read, or have no derivatives, beside what else the model has.
        let constants = self.system.derive(&self.system.theta())?;
        let u = vec![0.0; self.system.input_len()];
        let state = self.system.initial_state(&constants, &u);
        if let Some(mut memory) = reading.take(self.system) {
            let at = Reading { system: self.system, c: &constants, u: &u, state: &state };
            let tried = at.sense(&mut memory).and_then(|()| {
                reading.data.clone().try_for_each(|number| at.pull(number, &mut memory))
            });
            if let Err(error) = tried {
                return Err(invalid(&element, error));
            }
        }
        Ok(reading)
    }
}
