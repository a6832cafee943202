//! Observations of whole runs: offsets over many steps, sensitivities and gradients.

use costate_dynamics::System;
use costate_dynamics::observe::{
    Clock, Observation, Point, Sample, Signal, SignalObserver, SignalSet,
};
use costate_dynamics::rollout::{AdjointOptions, Observer, Run, Seeds};
use costate_model::{InputSignal, Inputs, Interpolation};

use crate::derivatives::{centre, embedded, marker, vertex};
use crate::harness::{Random, model};

/// Samples every 7.3 ms from the first moment on, by a clock that may be 40 ms early or late.
fn set(offset: f64) -> SignalSet {
    let force = Observation::ContactForce { geom: "floor".into(), body: None, region: None };
    let observations = [
        (Observation::Position(marker()), 2),
        (Observation::Velocity(embedded()), 0),
        (Observation::Position(centre(None)), 2),
        (Observation::Acceleration(vertex(8)), 1),
        (Observation::Orientation(vertex(4), vertex(5), vertex(7)), 1),
        (Observation::Energy, 0),
        (force, 2),
    ];
    let signals: Vec<Signal> = observations
        .into_iter()
        .enumerate()
        .map(|(i, (observation, component))| Signal {
            clock: Some(0),
            ..Signal::new(format!("s{i}"), observation, component)
        })
        .collect();
    let samples = (0..20)
        .flat_map(|k| (0..signals.len()).map(move |signal| (signal, 0.0073 * f64::from(k))))
        .map(|(signal, time)| Sample { signal, time })
        .collect();
    SignalSet {
        clocks: vec![Clock { path: "recording.a.offset".into(), offset, bounds: [-0.04, 0.04] }],
        signals,
        samples,
        ..SignalSet::default()
    }
}

fn inputs() -> Inputs {
    let push = InputSignal {
        times: vec![0.0, 0.05, 0.1],
        values: vec![0.5, -1.0, 0.0, 0.3, 2.0, 1.0, 0.0, 1.0, -0.4],
        interpolation: Interpolation::Linear,
    };
    Inputs { signals: vec![Some(push), None] }
}

struct Setup {
    system: System,
    observer: SignalObserver,
    inputs: Inputs,
    samples: usize,
}

impl Setup {
    fn new(offset: f64) -> Self {
        let mut model = model();
        model.options.timestep = 1e-3;
        let set = set(offset);
        let system = System::new(&model).unwrap();
        let observer = SignalObserver::new(&system, &set).unwrap();
        Self { system, observer, inputs: inputs(), samples: set.samples.len() }
    }

    fn observe(&self, theta: &[f64], p: &[f64], push: &[f64]) -> Vec<f64> {
        let mut inputs = self.inputs.clone();
        if let Some(signal) = &mut inputs.signals[0] {
            signal.values.copy_from_slice(push);
        }
        let c = self.system.derive(theta).unwrap();
        Run::new(&self.system, &c, &inputs).observe(&self.observer, p).unwrap()
    }
}

#[test]
fn the_run_covers_the_bounds_of_the_offset() {
    let setup = Setup::new(0.01);
    // 19 · 7.3 ms + 40 ms.
    assert_eq!(setup.observer.steps(), 179);
    let theta = setup.system.theta();
    let push = setup.inputs.signals[0].as_ref().unwrap().values.clone();
    for offset in [-0.04, -0.0123, 0.0, 0.011, 0.04] {
        let mut p = setup.observer.leaves().theta();
        p[0] = offset;
        let y = setup.observe(&theta, &p, &push);
        assert!(y.iter().all(|y| y.is_finite()));
        // The same as by a clock that is known to be off by as much.
        let fixed = Setup::new(offset);
        assert_eq!(y, fixed.observe(&theta, &p, &push));
    }
    let early = setup.observe(
        &theta,
        &{
            let mut p = setup.observer.leaves().theta();
            p[0] = -0.04;
            p
        },
        &push,
    );
    // Before the start the body, which starts at rest, is where it starts.
    assert_eq!(early[0], early[setup.samples / 20]);
}

/// The derivative of a position by the offset is its velocity, across steps too.
#[test]
fn positions_move_with_the_offset() {
    let setup = Setup::new(0.0);
    let theta = setup.system.theta();
    let push = setup.inputs.signals[0].as_ref().unwrap().values.clone();
    let at = |offset: f64| {
        let mut p = setup.observer.leaves().theta();
        p[0] = offset;
        setup.observe(&theta, &p, &push)
    };
    let width = 0.004;
    let (before, now, after) = (at(0.012 - width), at(0.012), at(0.012 + width));
    for i in (0..setup.samples).step_by(7).skip(1) {
        let mean = 0.5 * (before[i] + after[i]);
        assert!((mean - now[i]).abs() < 0.5 * 40.0 * width * width, "{mean} {}", now[i]);
    }
}

#[test]
fn sensitivities_and_gradients_agree_with_differences() {
    let setup = Setup::new(0.0037);
    let random = &mut Random(11);
    let theta = setup.system.theta();
    let p = setup.observer.leaves().theta();
    let push = setup.inputs.signals[0].as_ref().unwrap().values.clone();
    // Small enough that no vertex enters or leaves contact in another step.
    let theta_dot: Vec<f64> = theta.iter().map(|t| t * 0.01 * random.next()).collect();
    let mut p_dot: Vec<f64> = random.fill(p.len());
    p_dot[0] *= 1e-3;
    let push_dot = random.fill(push.len());

    let c = setup.system.derive(&theta).unwrap();
    let run = Run::new(&setup.system, &c, &setup.inputs);
    let mut tangent_inputs = setup.inputs.clone();
    if let Some(signal) = &mut tangent_inputs.signals[0] {
        signal.values.copy_from_slice(&push_dot);
    }
    let seeds = Seeds {
        columns: 1,
        c: setup.system.derive_pushforward(&theta, &c, &theta_dot),
        p: p_dot.clone(),
        initial: None,
        inputs: vec![tangent_inputs],
    };
    let forward = run.sensitivities(&setup.observer, &p, &seeds, &[]).unwrap();

    let moved = |x: &[f64], d: &[f64], w: f64| -> Vec<f64> {
        x.iter().zip(d).map(|(x, d)| x + w * d).collect()
    };
    let at = |w: f64| {
        setup.observe(
            &moved(&theta, &theta_dot, w),
            &moved(&p, &p_dot, w),
            &moved(&push, &push_dot, w),
        )
    };
    let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let best = (3..8)
        .map(|e| {
            let w = 10f64.powi(-e);
            let (plus, minus) = (at(w), at(-w));
            let error: Vec<f64> = (0..plus.len())
                .map(|i| (plus[i] - minus[i]) / (2.0 * w) - forward.y_dot[i])
                .collect();
            norm(&error) / norm(&forward.y_dot)
        })
        .fold(f64::INFINITY, f64::min);
    assert!(best <= 1e-7, "{best:e}");

    let y_bar = random.fill(setup.samples);
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let gradient = run
        .gradient(&setup.observer, &p, &AdjointOptions::default(), &mut |y| {
            (dot(y, &y_bar), y_bar.clone())
        })
        .unwrap();
    let theta_bar = setup.system.derive_pullback(&theta, &c, &gradient.c);
    let reverse = dot(&theta_bar, &theta_dot)
        + dot(&gradient.p, &p_dot)
        + dot(&gradient.inputs[0], &push_dot);
    let along = dot(&y_bar, &forward.y_dot);
    assert!((reverse - along).abs() <= 1e-11 * along.abs().max(1.0), "{reverse} {along}");
}

/// Signals by the model's own clock read no more steps than their samples need.
#[test]
fn known_clocks_read_only_their_steps() {
    let point = Point::Vertex { body: "block".into(), vertex: 1 };
    let signal = Signal::new("s", Observation::Position(point), 0);
    let samples = [0.0, 0.05, 0.1].map(|time| Sample { signal: 0, time }).to_vec();
    let set = SignalSet { signals: vec![signal], samples, ..SignalSet::default() };
    let observer = SignalObserver::new(&System::new(&model()).unwrap(), &set).unwrap();
    let read: Vec<usize> = (0..20).filter(|&k| observer.reads(k)).collect();
    assert_eq!((observer.steps(), read), (10, vec![0, 4, 9]));
}
