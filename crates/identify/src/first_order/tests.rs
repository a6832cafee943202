use super::*;
use crate::least_squares::LmOptions;

/// Rosenbrock's function in a box; beyond `wall` it cannot be evaluated.
struct Valley {
    bounds: Vec<(f64, f64)>,
    wall: f64,
}

impl Smooth for Valley {
    fn evaluate(&self, p: &[f64]) -> Result<(f64, Vec<f64>), Failed> {
        if p[0] > self.wall {
            return Err(Failed::Rejected("beyond the wall".into()));
        }
        let (a, b) = (1.0 - p[0], p[1] - p[0] * p[0]);
        Ok((a * a + 100.0 * b * b, vec![-2.0 * a - 400.0 * p[0] * b, 200.0 * b]))
    }
    fn box_bounds(&self) -> &[(f64, f64)] {
        &self.bounds
    }
}

const ANY: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

fn options(max_iterations: usize) -> LmOptions {
    LmOptions { max_iterations, ..Default::default() }
}

#[test]
fn lbfgs_finds_the_valley_and_keeps_its_box() {
    let free = Valley { bounds: vec![ANY; 2], wall: 1.3 };
    let found = lbfgs(&free, &[-1.2, 1.0], vec![], &options(500), &mut |_, _, _, _| {}).unwrap();
    assert!(found.status.converged(), "{found:?}");
    assert!((found.p[0] - 1.0).abs() < 1e-6, "{found:?}");
    // In the box the best point lies on the bound x = 0.5.
    let boxed = Valley { bounds: vec![(-2.0, 0.5), ANY], wall: 9.0 };
    let found = lbfgs(&boxed, &[-1.2, 1.0], vec![], &options(2000), &mut |_, _, _, _| {}).unwrap();
    assert!(found.p[0] <= 0.5 && found.p[0] > 0.499, "{found:?}");
    // Started on a bound that the minimum does not lie on.
    let boxed = Valley { bounds: vec![(0.0, 3.0), (0.0, f64::INFINITY)], wall: 9.0 };
    let found = lbfgs(&boxed, &[0.0, 0.0], vec![], &options(2000), &mut |_, _, _, _| {}).unwrap();
    assert!((found.p[0] - 1.0).abs() < 1e-5, "{found:?}");
}

#[test]
fn adam_finds_the_valley() {
    let boxed = Valley { bounds: vec![(-2.0, 3.0), ANY], wall: 2.9 };
    let state = AdamState::new(vec![-1.2, 1.0]);
    let found = adam(&boxed, state, 0.05, &options(20_000), &mut |_, _| {}).unwrap();
    assert!((found.p[0] - 1.0).abs() < 1e-3, "{found:?}");
}

#[test]
fn both_continue_to_the_same_bits() {
    let valley = Valley { bounds: vec![(-2.0, 3.0), ANY], wall: 1.2 };
    let mut journals = Vec::new();
    let whole = lbfgs(&valley, &[-1.2, 1.0], vec![], &options(500), &mut |journal, _, _, _| {
        journals.push(journal.to_vec());
    })
    .unwrap();
    for journal in journals.into_iter().step_by(7) {
        let rest =
            lbfgs(&valley, &[-1.2, 1.0], journal, &options(500), &mut |_, _, _, _| {}).unwrap();
        assert_eq!((&rest.p, rest.cost.to_bits()), (&whole.p, whole.cost.to_bits()));
    }
    let mut states = Vec::new();
    let start = AdamState::new(vec![-1.2, 1.0]);
    let whole = adam(&valley, start, 0.05, &options(300), &mut |state, _| {
        states.push(serde_json::to_string(state).unwrap());
    })
    .unwrap();
    for text in states.iter().step_by(50) {
        let state: AdamState = serde_json::from_str(text).unwrap();
        let rest = adam(&valley, state, 0.05, &options(300), &mut |_, _| {}).unwrap();
        assert_eq!((&rest.p, rest.cost.to_bits()), (&whole.p, whole.cost.to_bits()));
    }
}
