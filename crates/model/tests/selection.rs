//! Selections: views, spreads, and the map from p to θ with its derivatives.

use costate_model::{
    Entry, GridSplit, MaterialSettings, Model, ModelError, Prior, Selection, SoftBuilder, Spread,
    TetrahedraMass, TetrahedraSettings, Transform,
};
use proptest::prelude::*;

fn model() -> Model {
    let mut model = Model::new("m");
    let settings = TetrahedraSettings::new(MaterialSettings::lame("neo-hookean", 1e3, 3e3), 100.0);
    SoftBuilder::grid("g", [2, 1, 1], [0.1, 0.2, 0.3], GridSplit::Five)
        .tetrahedra(settings)
        .region_where("left", |x| x[0] < 0.11)
        .region_where("right", |x| x[0] > 0.09)
        .build(&mut model)
        .unwrap();
    model
}

fn select(entries: Vec<Entry>) -> Selection {
    Selection { entries }
}

#[test]
fn views_keep_the_values_and_come_back() {
    let model = model();
    let (engineering, binding) =
        select(vec![Entry::new("soft.g.young"), Entry::new("soft.g.mass")]).bind(&model).unwrap();
    let (mu, lambda) = (1e3, 3e3);
    let young = engineering.get("soft.g.young").unwrap()[0];
    assert!((young - mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu)).abs() < 1e-9);
    assert!((engineering.get("soft.g.poisson").unwrap()[0] - 0.375).abs() < 1e-15);
    assert!((engineering.get("soft.g.mass").unwrap()[0] - 100.0 * 0.2 * 0.2 * 0.3).abs() < 1e-12);
    assert!(engineering.get("soft.g.mu").is_err());
    assert_eq!(binding.names(), ["soft.g.young", "soft.g.mass"]);
    let (back, _) = select(vec![Entry::new("soft.g.mu"), Entry::new("soft.g.density")])
        .bind(&engineering)
        .unwrap();
    for path in ["soft.g.mu", "soft.g.lambda", "soft.g.density"] {
        let (a, b) = (back.get(path).unwrap()[0], model.get(path).unwrap()[0]);
        assert!((a / b - 1.0).abs() < 1e-14, "{path}: {a} {b}");
    }
    assert!(matches!(back.soft[0].tetrahedra.as_ref().unwrap().mass, TetrahedraMass::Density(_)));
}

#[test]
fn two_views_of_one_quantity_are_refused_by_name() {
    let model = model();
    for (a, b) in [
        ("soft.g.mu", "soft.g.young"),
        ("soft.g.poisson", "soft.g.lambda"),
        ("soft.g.density", "soft.g.mass"),
    ] {
        let error = select(vec![Entry::new(a), Entry::new(b)]).bind(&model).unwrap_err();
        assert_eq!(error, ModelError::ConflictingViews { first: a.into(), second: b.into() });
    }
}

#[test]
fn spreads_and_components_name_their_unknowns() {
    let model = model();
    let mut gravity = Entry::new("option.gravity");
    gravity.components = Some(vec![2]);
    let mut mu = Entry::new("soft.g.mu");
    mu.spread = Spread::PerElement;
    let mut lambda = Entry::new("soft.g.lambda");
    lambda.spread = Spread::PerGroup(Some(vec!["left".into()]));
    let (bound, binding) = select(vec![gravity, mu, lambda]).bind(&model).unwrap();
    assert_eq!(binding.len(), 1 + 10 + 1);
    assert_eq!(binding.unknowns[0].name, "option.gravity[2]");
    assert_eq!(binding.unknowns[3].name, "soft.g.mu[2]");
    assert_eq!(binding.unknowns[11].name, "soft.g.lambda[left]");
    assert_eq!(binding.unknowns[11].targets.len(), 5);
    assert_eq!(bound.get("soft.g.lambda").unwrap().len(), 10);
    // Nothing moves at the start, and what is not selected keeps its bits.
    let theta = binding.theta(&binding.start());
    let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-13 * b.abs();
    assert!(theta.iter().zip(&bound.theta()).all(close));
}

#[test]
fn components_that_are_tied_are_one_unknown() {
    let mut gravity = Entry::new("option.gravity");
    gravity.tied = true;
    gravity.components = Some(vec![0, 2]);
    // They differ in the model, and a start says what both are.
    assert!(select(vec![gravity.clone()]).bind(&model()).is_err());
    gravity.start = Some(vec![-3.0]);
    let (_, binding) = select(vec![gravity]).bind(&model()).unwrap();
    assert_eq!(binding.len(), 1);
    assert_eq!(
        (&*binding.unknowns[0].name, binding.unknowns[0].targets.len()),
        ("option.gravity", 2)
    );
    assert_eq!(binding.base.iter().filter(|x| **x == -3.0).count(), 2);
}

#[test]
fn bad_selections_are_errors() {
    let model = model();
    let mut both = Entry::new("soft.g.mu");
    both.spread = Spread::PerGroup(None);
    // The two regions have no tetrahedron in common, but the same leaf is chosen twice.
    assert!(select(vec![both.clone(), Entry::new("soft.g.mu")]).bind(&model).is_err());
    both.spread = Spread::PerGroup(Some(vec!["middle".into()]));
    let text = select(vec![both]).bind(&model).unwrap_err().to_string();
    assert!(text.contains("middle") && text.contains("left"), "{text}");
    let mut scalar = Entry::new("soft.g.mass_damping");
    scalar.spread = Spread::PerElement;
    assert!(matches!(select(vec![scalar]).bind(&model), Err(ModelError::NotAField { .. })));
    let mut start = Entry::new("soft.g.mu");
    start.start = Some(vec![-1.0]);
    assert!(matches!(select(vec![start]).bind(&model), Err(ModelError::OutOfBounds { .. })));
    let mut prior = Entry::new("soft.g.mu");
    prior.prior = Some(Prior { mean: Some(1.0), sd: 0.0, transformed: false });
    assert!(select(vec![prior]).bind(&model).is_err());
    let mut component = Entry::new("option.gravity");
    component.components = Some(vec![3]);
    assert!(select(vec![component]).bind(&model).is_err());
    assert!(select(vec![Entry::new("soft.g.yuong")]).bind(&model).is_err());
}

#[test]
fn fields_that_vary_are_tied_only_on_request() {
    let model = model();
    let values: Vec<f64> = (0..10).map(|i| 500.0 + i as f64).collect();
    let model = model.with("soft.g.mu", &values).unwrap();
    let mut entry = Entry::new("soft.g.mu");
    assert!(select(vec![entry.clone()]).bind(&model).is_err());
    entry.start = Some(vec![700.0]);
    let (_, binding) = select(vec![entry]).bind(&model).unwrap();
    assert_eq!(binding.len(), 1);
    assert_eq!(binding.unknowns[0].targets.len(), 10);
}

#[test]
fn no_selection_is_a_selection() {
    let model = model();
    let (_, binding) = Selection::default().bind(&model).unwrap();
    assert!(binding.is_empty());
    assert_eq!(binding.theta(&[]), model.theta());
}

#[test]
fn starts_on_open_bounds_and_tiny_starts_are_inside() {
    let model = model();
    let mut entry = Entry::new("soft.g.mu");
    entry.start = Some(vec![1e-8]);
    entry.transform = Some(Transform::log());
    let (_, binding) = select(vec![entry.clone()]).bind(&model).unwrap();
    let u = &binding.unknowns[0];
    assert!(u.lower < u.start && u.start < u.upper);
    entry.transform = Some(Transform::bounded(0.0, 1.0).unwrap());
    entry.start = Some(vec![0.0]);
    let (_, binding) = select(vec![entry]).bind(&model).unwrap();
    assert!(binding.start()[0].is_finite());
}

proptest! {
    #[test]
    fn the_chain_rule_holds(
        seed in proptest::collection::vec(-1.0..1.0f64, 13),
        bar in proptest::collection::vec(-1.0..1.0f64, 200),
    ) {
        let model = model();
        let mut young = Entry::new("soft.g.young");
        young.spread = Spread::PerElement;
        let mut poisson = Entry::new("soft.g.poisson");
        poisson.transform = Some(Transform::bounded(0.0, 0.5).unwrap());
        let mut density = Entry::new("soft.g.density");
        density.transform =
            Some(Transform::log().then(&Transform::affine(1.0, 0.5).unwrap()));
        let mut gravity = Entry::new("option.gravity");
        gravity.components = Some(vec![1]);
        let (_, binding) = select(vec![young, poisson, density, gravity]).bind(&model).unwrap();
        prop_assert_eq!(binding.len(), 13);
        let p: Vec<f64> = binding.start().iter().zip(&seed).map(|(a, b)| a + 0.3 * b).collect();
        let theta_dot = binding.pushforward(&p, &seed);
        let theta_bar: Vec<f64> = (0..theta_dot.len()).map(|i| bar[i % bar.len()]).collect();
        let p_bar = binding.pullback(&p, &theta_bar);
        let left: f64 = theta_dot.iter().zip(&theta_bar).map(|(a, b)| a * b).sum();
        let right: f64 = seed.iter().zip(&p_bar).map(|(a, b)| a * b).sum();
        prop_assert!((left - right).abs() <= 1e-12 * (1.0 + left.abs()));
        let shifted = |d: f64| {
            let q: Vec<f64> = p.iter().zip(&seed).map(|(a, b)| a + d * b).collect();
            binding.theta(&q)
        };
        let scale: f64 = theta_dot.iter().fold(0.0, |m, x| x.abs().max(m));
        let best = (3..8).map(|k| {
            let d = 10f64.powi(-k);
            let (up, down) = (shifted(d), shifted(-d));
            (0..up.len())
                .map(|i| ((up[i] - down[i]) / (2.0 * d) - theta_dot[i]).abs())
                .fold(0.0, f64::max)
        }).fold(f64::INFINITY, f64::min);
        prop_assert!(best <= 1e-7 * scale, "{} {}", best, scale);
    }
}
