//! States, inputs and what a simulation returns: plain data.

/// The state of a system at one time.
///
/// `q` and `v` hold the soft vertices first: positions and velocities as x, y, z per vertex in
/// the order of bodies and their vertices. Behind them come the coordinates `qpos` and velocities
/// `qvel` of an articulation's joints, in their order; an orientation is a unit quaternion in `q` and
/// an angular velocity in the body's axes in `v`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Time, s.
    pub time: f64,
    /// Positions, m or rad.
    pub q: Vec<f64>,
    /// Velocities, m/s or rad/s.
    pub v: Vec<f64>,
    /// Activations of actuators with dynamics of their own.
    pub act: Vec<f64>,
}

/// States at successive times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectory {
    /// The states, in order of time.
    pub states: Vec<State>,
}

/// A named input of a model: a load, a prescribed path, a control.
#[derive(Clone, Debug, PartialEq)]
pub struct InputChannel {
    /// Full name, `soft.beam.load.tip`.
    pub name: String,
    /// How many numbers it takes.
    pub size: usize,
    /// SI unit.
    pub unit: &'static str,
}

/// How an input runs between its samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// The last sample holds.
    #[default]
    Hold,
    /// Straight lines between samples.
    Linear,
}

/// The samples of one input channel; before the first and after the last the end value holds.
#[derive(Clone, Debug, PartialEq)]
pub struct InputSignal {
    /// Sample times, ascending, s.
    pub times: Vec<f64>,
    /// Samples, row-major [times, channel size].
    pub values: Vec<f64>,
    /// What happens between them.
    pub interpolation: Interpolation,
}

impl InputSignal {
    /// The same value at all times.
    pub fn constant(value: &[f64]) -> Self {
        Self { times: vec![0.0], values: value.to_vec(), interpolation: Interpolation::Hold }
    }
    /// The two samples that the value at `time` is made of, with their weights.
    pub fn weights(&self, time: f64) -> [(usize, f64); 2] {
        let after = self.times.partition_point(|&t| t <= time);
        if after == 0 {
            return [(0, 1.0), (0, 0.0)];
        }
        let before = after - 1;
        if after == self.times.len() || self.interpolation == Interpolation::Hold {
            return [(before, 1.0), (before, 0.0)];
        }
        let s = (time - self.times[before]) / (self.times[after] - self.times[before]);
        [(before, 1.0 - s), (after, s)]
    }
}

/// All inputs of a run, one signal per channel of the model (in the model's order); a channel
/// without a signal is zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inputs {
    /// Signals by channel.
    pub signals: Vec<Option<InputSignal>>,
}

impl Inputs {
    /// Writes the values of all channels at `time` end to end.
    pub fn sample(&self, channels: &[InputChannel], time: f64, out: &mut Vec<f64>) {
        out.clear();
        for (i, channel) in channels.iter().enumerate() {
            match self.signals.get(i).and_then(Option::as_ref) {
                None => out.extend(std::iter::repeat_n(0.0, channel.size)),
                Some(signal) => {
                    let [(a, wa), (b, wb)] = signal.weights(time);
                    for k in 0..channel.size {
                        let va = signal.values[a * channel.size + k];
                        let vb = signal.values[b * channel.size + k];
                        out.push(if wb == 0.0 { va } else { wa * va + wb * vb });
                    }
                }
            }
        }
    }
}
