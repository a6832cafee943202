//! Results of identifications as reports.

use costate_identify::least_squares::Status;
use costate_identify::{
    Correlation, Goodness, Identification, Iteration, NotIdentifiable, Numbers, Parameter,
    RESULT_SCHEMA, Role, SignalFit, WeakDirection,
};
use costate_model::{Model, State, Trajectory};
use costate_render::{Error, MotionSettings, Style, Track};
use costate_report::{Motion, ReportData, html};

fn parameter(estimate: Numbers) -> Parameter {
    let n = estimate.as_slice().len();
    Parameter {
        unit: "Pa".into(),
        names: Vec::new(),
        initial: Numbers::One(1e4),
        std_error: Some(Numbers::Many(vec![12.0; n])),
        ci95: Some(vec![[1.0, 2.0]; n]),
        estimate,
        transform: "log".into(),
        at_bound: false,
        prior: None,
    }
}

fn signal(recording: &str, role: Role) -> SignalFit {
    SignalFit {
        recording: recording.into(),
        signal: "tip.z".into(),
        unit: "m".into(),
        role,
        sigma: 1e-3,
        sigma_estimated: true,
        samples: 3,
        rms: 1e-3,
        rms_initial: 5e-2,
        rms_rest: 4e-2,
        rms_signal: 3e-2,
        autocorrelation: 0.4,
        times: vec![0.0, 0.1, 0.2, 0.3],
        measured: vec![Some(0.1), None, Some(0.2), Some(0.1)],
        predicted: vec![0.1, 0.15, 0.19, 0.11],
        initial: vec![],
    }
}

fn result() -> Identification {
    let step = |iteration, cost, pass| Iteration { iteration, cost, wall_s: 0.1, pass };
    let mut field = parameter(Numbers::Many(vec![1.0, 2.0]));
    field.names = vec!["left".into(), "right".into()];
    field.at_bound = true;
    Identification {
        schema: RESULT_SCHEMA.into(),
        version: "0.1.0".into(),
        experiment: "silicone-beam".into(),
        method: "lm".into(),
        parameters: [
            ("soft.beam.young".to_string(), parameter(Numbers::One(263_824.0))),
            ("soft.beam.density".to_string(), field),
            (
                "soft.beam.activation".to_string(),
                parameter(Numbers::Many((0..4000).map(f64::from).collect())),
            ),
        ]
        .into(),
        cost: 1.5,
        cost_initial: 900.0,
        iterations: 4,
        evaluations: 9,
        converged: true,
        status: Status::Converged,
        wall_s: 2.0,
        goodness: Goodness {
            chi2: 3.0,
            samples: 3,
            parameters: 2,
            degrees_of_freedom: 1,
            chi2_reduced: Some(3.0),
        },
        widening: 1.7,
        correlation: Correlation {
            names: vec!["a".into(), "b".into()],
            matrix: vec![vec![1.0, -0.25], vec![-0.25, 1.0]],
        },
        weak_directions: vec![WeakDirection {
            text: "a and b together".into(),
            deviation: 1.0,
            ratio: 40.0,
            components: vec![],
        }],
        not_identifiable: vec![NotIdentifiable {
            path: Some("geom.floor.friction".into()),
            combination: None,
            reason: "never in contact".into(),
        }],
        warnings: vec!["a warning".into()],
        signals: vec![signal("b", Role::Validation), signal("a", Role::Fitted)],
        history: vec![step(0, 900.0, 0), step(1, 3.0, 0), step(0, 2.0, 1), step(1, 1.5, 1)],
    }
}

#[test]
fn a_result_fills_the_report() {
    let data = ReportData::from(&result());
    let paths: Vec<_> = data.parameters.iter().map(|p| p.path.as_str()).collect();
    let want = [
        "soft.beam.activation",
        "soft.beam.density[left]",
        "soft.beam.density[right]",
        "soft.beam.young",
    ];
    assert_eq!(paths, want);
    assert_eq!(data.parameters[0].note, "median of 4000 values from 0 to 3999");
    assert_eq!(data.parameters[1].note, "at its bound");
    assert_eq!(data.parameters[1].initial, 1e4);
    assert_eq!(data.parameters[3].std_error, Some(12.0));
    assert_eq!(data.cost, [vec![900.0, 3.0], vec![2.0, 1.5]]);
    assert!(data.signals[0].validation && data.signals[0].measured[1].is_nan());
    assert_eq!(data.signals[0].initial_guess, None);
    assert!(data.summary.starts_with("2 unknowns from 3 samples of 1 recording; 1 recording"));
    let page = html(&data).expect("a page");
    for part in
        ["silicone-beam", "soft.beam.young", "a and b together", "40 times", "−0.25", "1.70"]
    {
        assert!(page.contains(part), "{part} is missing");
    }
}

#[test]
fn a_result_without_numbers_is_a_report_too() {
    let mut r = result();
    r.status = Status::Interrupted;
    r.converged = false;
    r.cost = f64::NAN;
    r.parameters.insert("none".into(), parameter(Numbers::Many(vec![])));
    r.correlation.matrix.clear();
    r.history.clear();
    for p in r.parameters.values_mut() {
        p.std_error = None;
        p.ci95 = None;
    }
    for s in &mut r.signals {
        s.sigma = f64::NAN;
        s.times.clear();
        s.measured.clear();
        s.predicted.clear();
    }
    let page = html(&ReportData::from(&r)).expect("a page");
    assert!(page.contains("interrupted") && page.contains("No sample has a value"));
}

#[test]
fn a_motion_says_what_its_markers_are() {
    let model = Model::new("nothing");
    let style = Style { width: 32, height: 24, ..Style::default() };
    let track = Track { times: vec![], positions: vec![], measured: true };
    let settings = MotionSettings { style, tracks: vec![track], ..MotionSettings::default() };
    let none = Motion::of(&model, &Trajectory::default(), &settings);
    assert_eq!(none, Err(Error::NoFrames));
    let still = Trajectory { states: vec![State::default()] };
    let motion = Motion::of(&model, &still, &settings).expect("one frame");
    assert!(motion.gif.starts_with(b"GIF89a"));
    assert!(motion.caption.contains("Rings: measured") && !motion.caption.contains("Balls"));
}
