//! Intervals against the truth on fresh noise, with fixed seeds.

use crate::common::*;
use costate_identify::Experiment;
use costate_identify::experiment::{Sigma, SignalSpec};
use costate_identify::least_squares::Loss;
use costate_identify::random::Random;
use rayon::prelude::*;

fn clean(sigma: Sigma) -> Experiment {
    let mut experiment = experiment(sigma, vec![recording("r", 80, 0.02)]);
    experiment.parameters = vec![spec(K, 30.0), spec(D, 0.2)];
    experiment
}

/// How often, of `count` draws of noise, the interval of each parameter covers the truth.
fn coverage(
    experiment: &Experiment,
    count: u64,
    noise: impl Fn(&mut Experiment, u64) + Sync,
) -> [u64; 2] {
    (0..count)
        .into_par_iter()
        .map(|seed| {
            let mut experiment = experiment.clone();
            noise(&mut experiment, seed);
            let result = run(&experiment);
            assert!(result.converged, "{seed}: {:?}", result.warnings);
            [(K, STIFFNESS), (D, DAMPING)].map(|(path, truth)| {
                let [low, high] = interval(&result, path);
                u64::from(low <= truth && truth <= high)
            })
        })
        .reduce(|| [0; 2], |a, b| [a[0] + b[0], a[1] + b[1]])
}

#[test]
fn intervals_cover_the_truth_19_times_in_20() {
    // 99.7 % of right methods stay within these bounds for 200 draws.
    for sigma in [Sigma::Auto, Sigma::Given(2e-3)] {
        let found = coverage(&clean(sigma), 200, |e, seed| add_noise(e, 2e-3, 1000 + seed));
        assert!(found.iter().all(|c| (180..=199).contains(c)), "{sigma:?}: {found:?}");
    }
}

#[test]
fn correlated_noise_widens_the_intervals_and_is_told() {
    let coloured = |e: &mut Experiment, seed: u64| {
        let mut random = Random::new(seed + 50);
        let mut r = 0.0;
        for value in &mut e.recordings[0].data[0].values {
            r = 0.8 * r + 2e-3 * 0.6 * random.normal();
            *value += r;
        }
    };
    let mut experiment = clean(Sigma::Auto);
    experiment.recordings[0] = recording("r", 200, 0.02);
    let parameters = std::mem::take(&mut experiment.parameters);
    synthesise(&mut experiment);
    // The static deflection is what slow noise hides most.
    experiment.parameters = parameters;
    experiment.parameters.push(spec("signal.z.bias", 0.01));
    let found = coverage(&experiment, 100, coloured);
    assert!(found.iter().all(|c| *c >= 87), "{found:?}");
    let mut one = experiment.clone();
    coloured(&mut one, 3);
    let result = run(&one);
    assert!(result.widening > 1.5, "{}", result.widening);
    assert!(result.warnings.iter().any(|w| w.contains("widened")), "{:?}", result.warnings);
    assert!((result.signals[0].autocorrelation - 0.8).abs() < 0.15);
    add_noise(&mut experiment, 1e-3, 1);
    assert_eq!(run(&experiment).widening, 1.0);
}

#[test]
fn noise_is_estimated_for_each_signal() {
    let mut experiment = clean(Sigma::Auto);
    let mut velocity = height();
    velocity.name = "vz".into();
    let costate_dynamics::observe::Observation::Position(point) =
        velocity.terms[0].observation.clone()
    else {
        panic!("the height is a position");
    };
    velocity.terms[0].observation = costate_dynamics::observe::Observation::Velocity(point);
    experiment.signals.push(SignalSpec::new(velocity, Sigma::Auto));
    let mut data = experiment.recordings[0].data[0].clone();
    data.signal = 1;
    experiment.recordings[0].data.push(data);
    synthesise(&mut experiment);
    let mut random = Random::new(11);
    for (k, sigma) in [1e-3, 0.05].into_iter().enumerate() {
        for value in &mut experiment.recordings[0].data[k].values {
            *value += sigma * random.normal();
        }
    }
    let result = run(&experiment);
    assert!((result.signals[0].sigma / 1e-3 - 1.0).abs() < 0.25, "{}", result.signals[0].sigma);
    assert!((result.signals[1].sigma / 0.05 - 1.0).abs() < 0.25, "{}", result.signals[1].sigma);
    let reduced = result.goodness.chi2_reduced.unwrap();
    assert!((reduced - 1.0).abs() < 0.05, "{reduced}");
    for (path, truth) in [(K, STIFFNESS), (D, DAMPING)] {
        let [low, high] = interval(&result, path);
        assert!(low < truth && truth < high);
    }
}

#[test]
fn robust_losses_forgive_outliers() {
    let mut experiment = clean(Sigma::Given(1e-3));
    add_noise(&mut experiment, 1e-3, 4);
    for i in [7, 30, 31, 55] {
        experiment.recordings[0].data[0].values[i] += 0.2;
    }
    let off = |experiment: &Experiment| (estimate(&run(experiment), K) / STIFFNESS - 1.0).abs();
    let plain = off(&experiment);
    for loss in [Loss::Huber(1.345), Loss::Cauchy(2.385)] {
        experiment.method.loss = loss;
        let robust = off(&experiment);
        assert!(robust < 0.3 * plain && robust < 0.01, "{loss:?}: {robust} {plain}");
    }
}

#[test]
fn a_priori_knowledge_weighs_by_its_deviation() {
    let mut experiment = clean(Sigma::Given(1e-3));
    add_noise(&mut experiment, 1e-3, 4);
    let free = run(&experiment);
    let error = one(free.parameters[K].std_error.as_ref().unwrap());
    // As sure as the data, one deviation off: the estimate goes half way, the error falls by √2.
    let mean = estimate(&free, K) + error;
    let prior = costate_model::Prior { mean: Some(mean), sd: error, transformed: false };
    experiment.parameters[0].entry.prior = Some(prior);
    let both = run(&experiment);
    let moved = (estimate(&both, K) - estimate(&free, K)) / error;
    assert!((moved - 0.5).abs() < 0.02, "{moved}");
    let ratio = one(both.parameters[K].std_error.as_ref().unwrap()) / error;
    assert!((ratio - 0.5f64.sqrt()).abs() < 0.02, "{ratio}");
}
