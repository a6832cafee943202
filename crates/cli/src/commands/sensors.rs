//! What a robot's sensors measure along a motion.

use costate::dynamics::DynamicsError;
use costate::dynamics::observe::{Observation, Sample, Signal, SignalObserver, SignalSet};
use costate::dynamics::rollout::{Observer, Run};
use costate::model::State;
use costate::model::rigid::Articulation;

/// Where the name of every column of a sensor begins.
pub const PREFIX: &str = "sensor.";

/// What sensors measured.
#[derive(Default)]
pub struct Measured {
    /// Columns `sensor.NAME`, or `sensor.NAME.0` … of a sensor of several numbers.
    pub columns: Vec<(String, Vec<f64>)>,
    /// Why numbers that are no observations are left out.
    pub left_out: Vec<String>,
}

/// The numbers of all sensors at the given states of the run.
///
/// # Errors
/// What stopped the run.
pub fn measure(
    run: &Run<'_>,
    robot: &Articulation,
    states: &[State],
) -> Result<Measured, DynamicsError> {
    let mut set = SignalSet::default();
    let mut left_out: Vec<String> = Vec::new();
    for sensor in &robot.sensors {
        let (components, unit) = (sensor.kind.len(), sensor.kind.unit(robot));
        for i in 0..components {
            let observation = Observation::Sensor { sensor: sensor.name.clone(), components, unit };
            let name = match components {
                1 => format!("{PREFIX}{}", sensor.name),
                _ => format!("{PREFIX}{}.{i}", sensor.name),
            };
            let signal = Signal::new(name, observation, i);
            let alone = SignalSet { signals: vec![signal.clone()], ..SignalSet::default() };
            if let Err(error) = SignalObserver::new(run.system, &alone) {
                let text = format!("{} is not written: {error}", signal.name);
                left_out.push(text);
                continue;
            }
            let place = set.signals.len();
            set.signals.push(signal);
            set.samples.extend(states.iter().map(|s| Sample { signal: place, time: s.time }));
        }
    }
    let observer = SignalObserver::new(run.system, &set)?;
    let y = run.observe(&observer, &observer.leaves().theta())?;
    debug_assert_eq!(y.len(), observer.len());
    let values = y.chunks(states.len().max(1)).map(<[f64]>::to_vec);
    let columns = set.signals.into_iter().map(|signal| signal.name).zip(values).collect();
    Ok(Measured { columns, left_out })
}
