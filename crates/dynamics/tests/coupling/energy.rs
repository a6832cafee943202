//! Energy of a free ball and a free block that meet.

use costate_dynamics::observe::{Observation, Sample, Signal, SignalObserver, SignalSet};
use costate_dynamics::rollout::Run;
use costate_model::Inputs;

use crate::world::{block, compile, contact, free_ball, run};

const H: f64 = 1e-4;
const STEPS: usize = 2000;

/// Energy at every hundredth step, J: of the soft body with the contact springs, and of the ball.
fn energies(viscosity: f64, damping: f64, friction: f64) -> Vec<f64> {
    let mut model = free_ball("0.06 0.04 0.17", "Euler", H)
        .with("joint.ball.qvel", &[0.4, 0.2, -2.0, 4.0, -7.0, 2.0])
        .unwrap();
    block("block", viscosity).build(&mut model).unwrap();
    model.add_soft_contact("ball", &contact(2000.0, damping, friction)).unwrap();
    let system = compile(&model);
    let signals = vec![Signal::new("energy", Observation::Energy, 0)];
    let every = (0..=STEPS).step_by(100);
    let samples = every.clone().map(|k| Sample { signal: 0, time: H * k as f64 }).collect();
    let set = SignalSet { signals, samples, ..SignalSet::default() };
    let observer = SignalObserver::new(&system, &set).unwrap();
    let (c, states) = run(&system, STEPS);
    let inputs = Inputs::default();
    let p = observer.leaves().theta();
    let soft = Run::new(&system, &c, &inputs).observe(&observer, &p).unwrap();
    let ball = |k: usize| {
        let v = &states[k].v[3 * system.vertex_count()..];
        let square = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>();
        0.5 * 0.2 * square(&v[..3]) + 0.5 * 0.4 * 0.2 * 0.0025 * square(&v[3..])
    };
    every.zip(soft).map(|(k, soft)| soft + ball(k)).collect()
}

/// The explicit step keeps the energy of springs up to oscillations of first order in its size.
#[test]
fn springs_give_back_what_they_took() {
    let e = energies(0.0, 0.0, 0.0);
    let off = e.iter().fold(0.0f64, |most, x| most.max((x / e[0] - 1.0).abs()));
    assert!(off < 2e-3, "{off:e}");
}

#[test]
fn damping_and_friction_only_take() {
    for (viscosity, damping, friction) in [(0.0, 3.0, 0.0), (0.0, 0.0, 0.5), (5.0, 3.0, 0.5)] {
        let e = energies(viscosity, damping, friction);
        assert!(e.windows(2).all(|w| w[1] < w[0] * (1.0 + 1e-3)), "{e:?}");
        assert!(e[e.len() - 1] < 0.97 * e[0], "{e:?}");
    }
}
