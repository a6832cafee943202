//! What a robot's sensors measure along a motion.

use costate::dynamics::DynamicsError;
use costate::dynamics::observe::{Observation, Sample, Signal, SignalObserver, SignalSet};
use costate::dynamics::rollout::{Observer, Run};
use costate::model::State;
use costate::model::rigid::Articulation;

/// Where the name of every column of a sensor begins.
pub const PREFIX: &str = "sensor.";

/// The columns of all sensors at the given states of the run: `sensor.NAME`, or `sensor.NAME.0` … for one of
/// several numbers.
///
/// # Errors
/// What stopped the run.
pub fn columns(
    run: &Run<'_>,
    robot: &Articulation,
    states: &[State],
) -> Result<Vec<(String, Vec<f64>)>, DynamicsError> {
    let mut set = SignalSet::default();
    for sensor in &robot.sensors {
        let (components, unit) = (sensor.kind.len(), sensor.kind.unit(robot));
        for i in 0..components {
            let observation = Observation::Sensor { sensor: sensor.name.clone(), components, unit };
            let name = match components {
                1 => format!("{PREFIX}{}", sensor.name),
                _ => format!("{PREFIX}{}.{i}", sensor.name),
            };
            let signal = set.signals.len();
            set.signals.push(Signal::new(name, observation, i));
            set.samples.extend(states.iter().map(|s| Sample { signal, time: s.time }));
        }
    }
    let observer = SignalObserver::new(run.system, &set)?;
    let y = run.observe(&observer, &observer.leaves().theta())?;
    debug_assert_eq!(y.len(), observer.len());
    let values = y.chunks(states.len().max(1)).map(<[f64]>::to_vec);
    Ok(set.signals.into_iter().map(|signal| signal.name).zip(values).collect())
}
