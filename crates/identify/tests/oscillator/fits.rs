//! Fits of a mass on a spring.

use crate::common::*;
use costate_identify::experiment::{Derivatives, MethodKind, Sigma, Unidentifiable};
use costate_identify::{FitProblem, IdentifyError, Problem, evaluate, identify};
use costate_model::{Prior, Transform};

fn three() -> costate_identify::Experiment {
    experiment(Sigma::Auto, vec![recording("r", 100, 0.02)])
}

#[test]
fn clean_data_give_the_truth_from_far_starts() {
    let mut experiment = three();
    for (k, d) in [(4.0, 0.01), (400.0, 3.0)] {
        experiment.parameters = vec![spec(K, k), spec(D, d)];
        let result = run(&experiment);
        assert!(result.converged, "{:?}", result.warnings);
        assert!((estimate(&result, K) / STIFFNESS - 1.0).abs() < 1e-9, "{:?}", result.parameters);
        assert!((estimate(&result, D) / DAMPING - 1.0).abs() < 1e-8);
    }
}

#[test]
fn a_scan_over_the_last_horizon_and_fits_of_parts_lead_to_the_truth() {
    let mut experiment = three();
    experiment.parameters = vec![spec(K, 4000.0), spec(D, 0.01)];
    experiment.method.horizons = Some(vec![]);
    experiment.method.max_iterations = 1;
    let lost = run(&experiment);
    assert!(estimate(&lost, K) > 3.0 * STIFFNESS);
    experiment.parameters[0].scan = Some((0..12).map(|i| 5.0 * 1.7f64.powi(i)).collect());
    let near = run(&experiment);
    assert!((estimate(&near, K) / STIFFNESS - 1.0).abs() < 0.2, "{:?}", near.parameters);
    experiment.method.horizons = Some(vec![0.3, 0.6]);
    experiment.method.max_iterations = 3;
    let found = run(&experiment);
    assert!((estimate(&found, K) / STIFFNESS - 1.0).abs() < 1e-6, "{:?}", found.parameters);
}

#[test]
fn any_subset_may_be_fitted_and_the_rest_stays_to_the_bit() {
    let mut experiment = three();
    add_noise(&mut experiment, 1e-3, 1);
    let none = run(&experiment);
    assert!(none.converged && none.parameters.is_empty());
    for subset in [vec![K], vec![D], vec![K, D], vec![D, K]] {
        experiment.parameters = subset.iter().map(|p| spec(p, 1.2)).collect();
        let problem = Problem::new(&experiment).unwrap();
        let p: Vec<f64> = problem.start().iter().map(|p| p + 0.1).collect();
        let model = problem.model_at(&p).unwrap();
        let (theta, _) = problem.recordings[0].parameters(&problem.unknowns, &p);
        assert_eq!(model.theta(), theta);
        for (_, leaf) in experiment.model.leaves.iter() {
            if !subset.contains(&leaf.path.as_str()) {
                assert_eq!(model.get(&leaf.path).unwrap(), leaf.values);
            }
        }
        let result = run(&experiment);
        assert_eq!(result.parameters.len(), subset.len());
        for path in subset {
            let truth = if path == K { STIFFNESS } else { DAMPING };
            assert!((estimate(&result, path) / truth - 1.0).abs() < 0.2, "{path}");
        }
    }
}

#[test]
fn forward_and_adjoint_jacobians_agree_with_each_other_and_with_differences() {
    let mut experiment = experiment(
        Sigma::Given(1e-3),
        vec![recording("r", 12, 0.05), with_override(recording("s", 7, 0.03), M, &[0.8])],
    );
    let mut velocity = spec("recording.s.initial.velocity", 0.1);
    velocity.entry.components = Some(vec![2]);
    let mut offset = spec("recording.r.offset", 1.3e-3);
    offset.entry.bounds = Some((-0.01, 0.01));
    experiment.parameters =
        vec![spec(K, 30.0), spec(M, 0.4), spec("signal.z.bias", 0.01), velocity, offset];
    let blocks = |derivatives| {
        let mut experiment = experiment.clone();
        experiment.method.derivatives = derivatives;
        let problem = Problem::new(&experiment).unwrap();
        let sigma = vec![vec![1e-3; 12], vec![1e-3; 7]];
        let fit = FitProblem::new(&problem, sigma, None);
        let p = problem.start();
        use costate_identify::least_squares::LeastSquares;
        let blocks = fit.linearise(&p).unwrap();
        let gradient = fit.cost_gradient(&p).unwrap();
        // Central differences of the residuals, best of several widths.
        let mut worst = 0.0f64;
        for i in 0..p.len() {
            for (b, block) in blocks.iter().enumerate() {
                let Some(k) = problem.structure.columns(b).position(|c| c == i) else { continue };
                let column = block.jacobian.column(k);
                let scale = column.amax().max(1e-30);
                let best = (3..8)
                    .map(|w| {
                        let d = 10f64.powi(-w) * p[i].abs().max(0.1);
                        let mut q = p.clone();
                        q[i] = p[i] + d;
                        let up = fit.residuals(&q).unwrap()[b].0.clone();
                        q[i] = p[i] - d;
                        let down = fit.residuals(&q).unwrap()[b].0.clone();
                        (0..up.len())
                            .map(|t| ((up[t] - down[t]) / (2.0 * d) - column[t]).abs() / scale)
                            .fold(0.0, f64::max)
                    })
                    .fold(f64::INFINITY, f64::min);
                if !block.residuals.is_empty() {
                    worst = worst.max(best);
                }
            }
        }
        assert!(worst < 1e-7, "{worst}");
        let mut expected = vec![0.0; p.len()];
        for (b, block) in blocks.iter().enumerate() {
            for (k, c) in problem.structure.columns(b).enumerate() {
                for (t, r) in block.residuals.iter().enumerate() {
                    expected[c] += r * block.jacobian[(t, k)];
                }
            }
        }
        for (g, e) in gradient.gradient.iter().zip(&expected) {
            assert!((g - e).abs() <= 1e-10 * (1.0 + e.abs()), "{g} {e}");
        }
        blocks
    };
    let (forward, adjoint) = (blocks(Derivatives::Forward), blocks(Derivatives::Adjoint));
    for (f, a) in forward.iter().zip(&adjoint) {
        assert_eq!(f.residuals, a.residuals);
        if f.jacobian.ncols() > 0 && f.jacobian.nrows() > 0 {
            assert!((&f.jacobian - &a.jacobian).amax() <= 1e-10 * f.jacobian.amax());
        }
    }
}

#[test]
fn stiffness_and_mass_together_are_refused_or_told_as_a_ratio() {
    let mut experiment = three();
    // Without gravity the motion depends on k/m and d/m only.
    experiment.model = experiment.model.with("option.gravity", &[0.0; 3]).unwrap();
    experiment.model = experiment.model.with(D, &[0.0]).unwrap();
    synthesise(&mut experiment);
    add_noise(&mut experiment, 1e-4, 3);
    experiment.parameters = vec![spec(K, 35.0), spec(M, 0.45)];
    let error = identify(&experiment, &Default::default()).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, IdentifyError::NotIdentifiable(_)));
    assert!(text.contains("ratio") && text.contains(K) && text.contains(M), "{text}");
    experiment.method.unidentifiable = Unidentifiable::Warn;
    let result = run(&experiment);
    assert_eq!(result.weak_directions.len(), 1, "{:?}", result.weak_directions);
    assert!(result.weak_directions[0].text.contains("ratio"));
    assert_eq!(result.not_identifiable.len(), 1);
    let ratio = estimate(&result, K) / estimate(&result, M);
    assert!((ratio / (STIFFNESS / MASS) - 1.0).abs() < 1e-3, "{ratio}");
    // A prior on the mass makes both known.
    experiment.method.unidentifiable = Unidentifiable::Refuse;
    experiment.parameters[1].entry.prior =
        Some(Prior { mean: Some(0.5), sd: 0.01, transformed: false });
    let result = run(&experiment);
    assert!(result.converged);
    let error = one(result.parameters[M].std_error.as_ref().unwrap());
    assert!((error / 0.01 - 1.0).abs() < 1e-3, "{error}");
    assert!((estimate(&result, M) - 0.5).abs() < 1e-4);
    assert!((one(result.parameters[K].std_error.as_ref().unwrap()) / 0.8 - 1.0).abs() < 0.05);
}

#[test]
fn what_the_data_cannot_show_is_refused_with_the_reason() {
    let mut experiment = three();
    // Released at its rest length without gravity nothing moves.
    experiment.model = experiment.model.with("option.gravity", &[0.0; 3]).unwrap();
    let still = [0.0, 0.0, 0.0, 0.0, 0.0, -1.0];
    experiment.model = experiment.model.with("soft.a.start_position", &still).unwrap();
    synthesise(&mut experiment);
    experiment.parameters = vec![spec(K, 30.0)];
    let text = identify(&experiment, &Default::default()).unwrap_err().to_string();
    assert!(text.contains(K) && text.contains("does not deform"), "{text}");
    experiment.parameters = vec![spec(M, 0.3)];
    let text = identify(&experiment, &Default::default()).unwrap_err().to_string();
    assert!(text.contains(M) && text.contains("mass cancels"), "{text}");
    // A leaf that the motion never reads.
    let mut experiment = three();
    experiment.parameters = vec![spec("soft.a.radius", 0.01)];
    let error = identify(&experiment, &Default::default()).unwrap_err();
    assert!(error.to_string().contains("soft.a.radius"), "{error}");
}

#[test]
fn starts_on_a_bound_and_tiny_starts_do_not_stall() {
    let mut experiment = three();
    let mut tiny = spec(D, 1e-8);
    tiny.entry.transform = Some(Transform::log());
    let mut at_zero = spec(D, 0.0);
    at_zero.entry.bounds = Some((0.0, 2.0));
    let mut bounded = spec(D, 0.0);
    bounded.entry.transform = Some(Transform::bounded(0.0, 2.0).unwrap());
    for damping in [tiny, at_zero, bounded] {
        experiment.parameters = vec![damping];
        let result = run(&experiment);
        assert!(result.converged);
        assert!((estimate(&result, D) / DAMPING - 1.0).abs() < 1e-8, "{:?}", result.parameters);
    }
}

#[test]
fn an_estimate_on_its_bound_is_told() {
    let mut experiment = three();
    let mut stiffness = spec(K, 30.0);
    stiffness.entry.bounds = Some((10.0, 35.0));
    experiment.parameters = vec![stiffness, spec(D, 0.2)];
    let result = run(&experiment);
    assert!((estimate(&result, K) - 35.0).abs() < 1e-9);
    assert!(result.parameters[K].at_bound && result.parameters[K].std_error.is_none());
    assert!(result.warnings.iter().any(|w| w.contains(K) && w.contains("bound")));
}

#[test]
fn recordings_with_their_own_unknowns_and_validation() {
    let recordings = (0..4)
        .map(|i| {
            let mass = 0.3 + 0.2 * f64::from(i);
            with_override(recording(&format!("m{i}"), 60, 0.02), M, &[mass])
        })
        .collect();
    let mut experiment = experiment(Sigma::Auto, recordings);
    add_noise(&mut experiment, 1e-4, 5);
    experiment.recordings[3].validation = true;
    let mut mass = spec(M, 0.4);
    mass.per_recording = true;
    let mut gravity = spec("option.gravity", -9.0);
    gravity.entry.components = Some(vec![2]);
    // With the damping free too, stiffness, damping and masses could all grow together.
    experiment.parameters = vec![spec(K, 30.0), mass, gravity];
    let result = run(&experiment);
    assert!(result.converged);
    for i in 0..3 {
        let found = estimate(&result, &format!("recording.m{i}.{M}"));
        assert!((found - (0.3 + 0.2 * f64::from(i))).abs() < 0.02, "{i}: {found}");
    }
    assert!(!result.parameters.contains_key(&format!("recording.m3.{M}")));
    let validation: Vec<_> = result.signals.iter().filter(|s| s.recording == "m3").collect();
    assert_eq!(validation.len(), 1);
    assert!(validation[0].rms < 2e-3, "{}", validation[0].rms);
    // The estimates predict again what the result says.
    let again = evaluate(&experiment, &result, None).unwrap();
    for (a, b) in again.iter().zip(&result.signals) {
        assert!((a.rms - b.rms).abs() < 1e-9);
    }
}

#[test]
fn validation_recordings_find_what_is_their_own() {
    let masses = [0.3, 0.5, 0.7];
    let recordings = (0..3)
        .map(|i| with_override(recording(&format!("m{i}"), 60, 0.02), M, &[masses[i]]))
        .collect();
    let mut experiment = experiment(Sigma::Auto, recordings);
    add_noise(&mut experiment, 1e-4, 5);
    experiment.recordings[2].validation = true;
    experiment.recordings[2].overrides.clear();
    let mut mass = spec(M, 0.4);
    (mass.per_recording, mass.in_validation) = (true, true);
    experiment.parameters = vec![spec(K, 30.0), mass];
    let result = run(&experiment);
    assert!(result.converged);
    for (i, mass) in masses.iter().enumerate() {
        let found = &result.parameters[&format!("recording.m{i}.{M}")];
        let value = found.estimate.as_slice()[0];
        assert!((value - mass).abs() < 0.01, "{i}: {value}");
        assert!(found.std_error.is_some());
    }
    let fit = |result: &costate_identify::Identification| {
        result.signals.iter().find(|s| s.recording == "m2").map(|s| s.rms).unwrap()
    };
    assert!(fit(&result) < 1.5e-4, "{}", fit(&result));
    // What a validation recording has of its own moves nothing that is shared.
    experiment.parameters[1].in_validation = false;
    let without = run(&experiment);
    assert_eq!(without.parameters[K], result.parameters[K]);
    assert!(fit(&without) > 10.0 * fit(&result));
    // Predicted again, it is found again.
    experiment.parameters[1].in_validation = true;
    let again = evaluate(&experiment, &result, None).unwrap();
    for (a, b) in again.iter().zip(&result.signals) {
        assert!((a.rms - b.rms).abs() < 1e-9);
    }
}

#[test]
fn first_order_methods_find_the_same() {
    let mut experiment = three();
    add_noise(&mut experiment, 1e-3, 9);
    experiment.parameters = vec![spec(K, 30.0), spec(D, 0.2)];
    let reference = run(&experiment);
    for (kind, close) in [(MethodKind::Lbfgs, 1e-5), (MethodKind::Adam, 1e-3)] {
        experiment.method.kind = kind;
        experiment.method.max_iterations = 500;
        let result = run(&experiment);
        for path in [K, D] {
            let ratio = estimate(&result, path) / estimate(&reference, path);
            assert!((ratio - 1.0).abs() < close, "{kind:?} {path} {ratio}");
        }
    }
}

#[test]
fn an_unstable_start_is_refused_and_unstable_trials_are_only_rejected() {
    let mut experiment = three();
    experiment.parameters = vec![spec(K, 3e6)];
    let error = identify(&experiment, &Default::default()).unwrap_err();
    assert_eq!(error.kind(), "unstable_step", "{error}");
    experiment.parameters = vec![spec(K, 4e5)];
    let result = identify(&experiment, &Default::default());
    // Whatever it finds from there, it does not abort.
    assert!(result.is_ok(), "{:?}", result.err());
}
