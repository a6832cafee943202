//! What the page must hold, whatever its look.

use costate_report::{
    Correlation, Motion, NotIdentifiable, Outcome, Parameter, Provenance, ReportData, Signal,
    Stats, html,
};
use proptest::prelude::*;

fn parameter(path: &str, estimate: f64) -> Parameter {
    Parameter {
        path: path.into(),
        unit: "Pa".into(),
        initial: 1.0,
        estimate,
        std_error: Some(0.1),
        ci95: Some([estimate - 0.2, estimate + 0.2]),
        transform: "log".into(),
        note: String::new(),
    }
}

fn signal(name: &str, validation: bool, t: Vec<f64>, measured: Vec<f64>) -> Signal {
    let fitted: Vec<f64> = measured.iter().map(|v| 0.9 * v).collect();
    Signal {
        name: name.into(),
        unit: "m".into(),
        recording: if validation { "kept" } else { "used" }.into(),
        validation,
        initial_guess: Some(fitted.iter().map(|v| 2.0 * v).collect()),
        stats: Stats::of(&measured, &fitted),
        t,
        measured,
        fitted,
    }
}

fn wave(n: usize) -> (Vec<f64>, Vec<f64>) {
    let t: Vec<f64> = (0..n).map(|i| 0.01 * i as f64).collect();
    let y = t.iter().map(|t| (5.0 * t).sin()).collect();
    (t, y)
}

fn page(data: &ReportData) -> String {
    html(data).expect("plots of any numbers can be drawn")
}

#[test]
fn every_part_is_on_the_page() {
    let (t, y) = wave(50);
    let data = ReportData {
        title: "the title".into(),
        summary: "the summary".into(),
        outcome: Some(Outcome { converged: false, text: "interrupted".into() }),
        parameters: vec![parameter("soft.a.young", 3.0), parameter("soft.b.poisson", 0.4)],
        signals: vec![signal("tip.z", true, t.clone(), y.clone()), signal("tip.z", false, t, y)],
        cost: vec![vec![10.0, 1.0], vec![2.0, 0.5]],
        final_cost: Some(0.5),
        correlation: Some(Correlation {
            names: vec!["soft.a.young".into(), "soft.b.poisson".into()],
            values: vec![1.0, -0.87, -0.87, 1.0],
        }),
        weak_directions: vec!["the product, not the factors".into()],
        not_identifiable: vec![NotIdentifiable {
            what: "geom.floor.friction".into(),
            reason: "never in contact".into(),
        }],
        warnings: vec!["the warning".into()],
        motion: Some(Motion { gif: b"GIF89a".to_vec(), caption: "the caption".into() }),
        provenance: Provenance {
            program: "costate 0.1.0".into(),
            files: vec![("recording".into(), "run.csv".into())],
            iterations: Some(17),
            wall_s: Some(3.25),
            facts: vec![("method".into(), "least squares".into())],
        },
    };
    let page = page(&data);
    for part in [
        "the title",
        "the summary",
        "interrupted",
        "soft.a.young",
        "soft.b.poisson",
        "−0.87",
        "the product, not the factors",
        "geom.floor.friction",
        "never in contact",
        "the warning",
        "data:image/gif;base64,R0lGODlh",
        "the caption",
        "costate 0.1.0",
        "run.csv",
        "17",
        "3.25 s",
        "least squares",
    ] {
        assert!(page.contains(part), "{part} is missing");
    }
    // Three plots per signal, intervals, cost.
    assert_eq!(page.matches("<svg ").count(), 8);
    let place = |what: &str| page.rfind(what).expect("both recordings are shown");
    assert!(place("used") < place("kept"), "fitted recordings come first");
    for outside in ["<script", "src=\"http", "href=", "url(", "@import"] {
        assert!(!page.contains(outside), "{outside} would need something outside the page");
    }
    assert_eq!(page, html(&data).expect("as before"), "same bytes on a second run");
}

#[test]
fn names_are_escaped_everywhere() {
    let evil = "<script>\"&'x";
    let (t, y) = wave(5);
    let mut s = signal(evil, true, t, y);
    s.unit = evil.into();
    s.recording = evil.into();
    let mut p = parameter(evil, 1.0);
    p.unit = evil.into();
    p.transform = evil.into();
    p.note = evil.into();
    let data = ReportData {
        title: evil.into(),
        summary: evil.into(),
        outcome: Some(Outcome { converged: true, text: evil.into() }),
        parameters: vec![p],
        signals: vec![s],
        correlation: Some(Correlation {
            names: vec![evil.into(), "b".into()],
            values: vec![1.0, 0.5, 0.5, 1.0],
        }),
        weak_directions: vec![evil.into()],
        not_identifiable: vec![NotIdentifiable { what: evil.into(), reason: evil.into() }],
        warnings: vec![evil.into()],
        motion: Some(Motion { gif: Vec::new(), caption: evil.into() }),
        provenance: Provenance {
            program: evil.into(),
            files: vec![(evil.into(), evil.into())],
            facts: vec![(evil.into(), evil.into())],
            ..Provenance::default()
        },
        ..ReportData::default()
    };
    let page = page(&data);
    assert!(!page.contains("<script"), "a name became markup");
    assert!(page.matches("&lt;script&gt;").count() >= 20);
}

#[test]
fn an_empty_report_is_a_page_without_sections() {
    let page = page(&ReportData::default());
    assert!(page.starts_with("<!DOCTYPE html>"));
    assert!(!page.contains("<section") && !page.contains("<svg") && !page.contains("<footer"));
}

#[test]
fn long_signals_are_thinned() {
    let (t, y) = wave(200_000);
    let n =
        page(&ReportData { signals: vec![signal("tip.z", false, t, y)], ..ReportData::default() })
            .len();
    assert!(n < 120_000, "{n} bytes for one signal");
}

#[test]
fn many_parameters_and_signals_fit() {
    let names: Vec<String> = (0..90).map(|i| format!("soft.body.young[{i}]")).collect();
    let (t, y) = wave(20);
    let data = ReportData {
        parameters: names.iter().map(|n| parameter(n, 2.0)).collect(),
        signals: (0..12).map(|i| signal(&format!("s{i}"), false, t.clone(), y.clone())).collect(),
        correlation: Some(Correlation { values: vec![0.5; 90 * 90], names: names.clone() }),
        ..ReportData::default()
    };
    let page = page(&data);
    assert!(names.iter().all(|n| page.contains(n.as_str())));
    assert!(page.contains("strongest of 4005 pairs"));
    assert_eq!(page.matches("<details open").count(), 6);
    assert_eq!(page.matches("<details").count(), 12);
}

/// Numbers that reports of failed runs are made of.
fn odd() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -1e3..1e3f64,
        1 => Just(f64::NAN),
        1 => Just(f64::INFINITY),
        1 => Just(f64::NEG_INFINITY),
        1 => Just(0.0),
        1 => Just(-0.0),
        1 => Just(f64::MAX),
        1 => Just(f64::MIN),
        1 => Just(1e300),
        1 => Just(5e-324),
        1 => Just(1e-200),
        1 => Just(1e9),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]
    #[test]
    fn no_number_stops_a_report(
        n in 0usize..9,
        v in proptest::collection::vec(odd(), 64),
        cut in 0usize..9,
    ) {
        let column = |k: usize| v[8 * k..8 * k + n.min(8)].to_vec();
        let mut fitted = column(2);
        fitted.truncate(cut);
        let data = ReportData {
            parameters: (0..n.min(4))
                .map(|i| Parameter {
                    path: format!("p{i}"),
                    initial: v[i],
                    estimate: v[i + 1],
                    std_error: Some(v[i + 2]),
                    ci95: Some([v[i + 3], v[i + 4]]),
                    ..Parameter::default()
                })
                .collect(),
            signals: vec![Signal {
                name: "s".into(),
                t: column(0),
                stats: Stats { sigma: Some(v[9]), ..Stats::of(&column(1), &fitted) },
                measured: column(1),
                fitted,
                initial_guess: Some(column(3)),
                ..Signal::default()
            }],
            cost: vec![column(4), column(6)],
            correlation: Some(Correlation {
                names: (0..n).map(|i| format!("p{i}")).collect(),
                values: column(5),
            }),
            provenance: Provenance { wall_s: Some(v[3]), ..Provenance::default() },
            ..ReportData::default()
        };
        prop_assert!(html(&data).is_ok());
    }

    /// Ranges of any width and place have axes.
    #[test]
    fn no_range_stops_a_plot(exponent in -320..305i32, width in -20..1i32, base in -1.0..1.0f64) {
        let size = base * 10f64.powi(exponent);
        let y: Vec<f64> = (0..6).map(|i| size * (1.0 + 10f64.powi(width) * f64::from(i))).collect();
        let data = ReportData {
            signals: vec![signal("s", false, y.clone(), y.clone())],
            cost: vec![y],
            ..ReportData::default()
        };
        prop_assert!(html(&data).is_ok());
    }
}
