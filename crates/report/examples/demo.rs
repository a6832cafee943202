//! Writes `report.html`, a report with every part filled from formulas, into the folder named on
//! the command line: `cargo run --release -p costate-report --example demo -- out`.

use costate_num::Vec3;
use costate_render::{
    Bounds, Camera, Color, Line, Marker, Point, Radius, Renderer, Scene, Shape, Style, TimeStamp,
    Timeline, View, write_gif,
};
use costate_report::{
    Correlation, Motion, NotIdentifiable, Outcome, Parameter, Provenance, ReportData, Signal,
    Stats, html,
};
use std::error::Error;
use std::path::PathBuf;

/// Noise of unit variance from a linear congruential generator (Knuth's MMIX constants): the sum
/// of twelve uniform numbers is normal enough.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        let mut uniform = || {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
            self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1u64 << 53) as f64
        };
        (0..12).map(|_| uniform()).sum::<f64>() - 6.0
    }
}

/// Height of a mass on a spring that was let go.
fn swing(t: f64, amplitude: f64, rate: f64, damping: f64) -> f64 {
    amplitude * (-damping * t).exp() * (rate * t).cos()
}

fn signal(
    name: &str,
    recording: &str,
    validation: bool,
    count: usize,
    noise: &mut Noise,
) -> Signal {
    let t: Vec<f64> = (0..count).map(|i| 2.0 * i as f64 / count as f64).collect();
    let amplitude = if validation { 0.021 } else { 0.034 };
    let truth = |t: f64| swing(t, amplitude, 17.0, 1.1) + 0.0006 * (40.0 * t).sin();
    let measured: Vec<f64> = t
        .iter()
        .map(|t| if (0.9..1.0).contains(t) { f64::NAN } else { truth(*t) + 8e-4 * noise.next() })
        .collect();
    let fitted: Vec<f64> = t.iter().map(|t| swing(*t, amplitude, 17.0, 1.1)).collect();
    let start = t.iter().map(|t| swing(*t, amplitude, 11.0, 0.3)).collect();
    let mut stats = Stats::of(&measured, &fitted);
    stats.do_nothing_rms = Some(stats.signal_rms);
    stats.sigma = Some(8e-4);
    Signal {
        name: name.into(),
        unit: "m".into(),
        recording: recording.into(),
        validation,
        t,
        measured,
        fitted,
        initial_guess: Some(start),
        stats,
    }
}

fn motion() -> Result<Vec<u8>, Box<dyn Error>> {
    let timeline = Timeline::new(0.0, 2.0, 60);
    let scene = |t: f64| {
        let p = Vec3::new(0.0, 0.0, 0.5 + swing(t, 0.2, 17.0, 1.1));
        let color = Color::srgb(58, 134, 190);
        let hook = Vec3::new(0.0, 0.0, 1.0);
        Scene {
            points: vec![Point {
                position: p,
                color,
                radius: Radius::World(0.06),
                marker: Marker::Ball,
            }],
            lines: vec![Line { from: hook, to: p, color: Color::srgb(92, 98, 110), width: 3.0 }],
            shapes: vec![Shape::floor(
                Vec3::zero(),
                Vec3::new(0.0, 0.0, 1.0),
                Color::srgb(226, 229, 233),
            )],
            stamp: Some(TimeStamp { time: t, speed: timeline.speed }),
            ..Scene::default()
        }
    };
    let mut bounds = Bounds { low: [-0.2, -0.2, 0.0], high: [0.2, 0.2, 1.0] };
    timeline.times.iter().for_each(|t| bounds.include_scene(&scene(*t)));
    let style = Style::default();
    let camera = Camera::framing(&bounds, &View::default(), 4.0 / 3.0);
    let mut out = Vec::new();
    let mut renderer = Renderer::new(&camera, style)?;
    let count = timeline.times.len();
    write_gif(&mut out, &mut renderer, count, timeline.delay, |i| scene(timeline.times[i]))?;
    Ok(out)
}

fn main() -> Result<(), Box<dyn Error>> {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        return Err("name a folder to write into".into());
    };
    let mut noise = Noise(7);
    let parameter =
        |path: &str, unit: &str, initial, estimate: f64, error: f64, transform: &str| Parameter {
            path: path.into(),
            unit: unit.into(),
            initial,
            estimate,
            std_error: Some(error),
            ci95: Some([estimate - 1.96 * error, estimate + 1.96 * error]),
            transform: transform.into(),
            note: String::new(),
        };
    let parameters = vec![
        parameter("soft.beam.young", "Pa", 8e4, 263_824.0, 1_830.0, "log"),
        parameter("soft.beam.mass_damping", "1/s", 0.5, 2.214, 0.061, "log"),
        parameter("soft.beam.stiffness_damping", "s", 1e-3, 1.9e-4, 1.4e-4, "log"),
        parameter("recording.gravity_a.offset", "s", 0.0, 0.012_4, 0.000_3, "bounded"),
    ];
    let names = parameters.iter().map(|p| p.path.clone()).collect();
    let data = ReportData {
        title: "Silicone beam <demo>".into(),
        summary: "Stiffness, damping and start of the recording from the free vibration of a \
                  clamped beam. The numbers on this page are made by formulas."
            .into(),
        outcome: Some(Outcome { converged: true, text: "converged".into() }),
        parameters,
        signals: vec![
            signal("tip.z", "gravity_a", false, 400, &mut noise),
            signal("mid.z", "gravity_a", false, 90, &mut noise),
            signal("tip.z", "gravity_b", true, 5000, &mut noise),
            signal("mid.z", "gravity_b", true, 90, &mut noise),
        ],
        cost: vec![vec![8123.0, 2210.0, 410.0, 63.2, 14.1, 9.02, 8.991, 8.9909]],
        final_cost: Some(8.9909),
        correlation: Some(Correlation {
            names,
            values: vec![
                1.0, 0.12, -0.31, 0.44, 0.12, 1.0, -0.93, 0.05, -0.31, -0.93, 1.0, -0.2, 0.44,
                0.05, -0.2, 1.0,
            ],
        }),
        weak_directions: vec![
            "mass_damping × stiffness_damping^1.3: these data fix the sum of both at one \
             frequency, not each alone"
                .into(),
        ],
        not_identifiable: vec![NotIdentifiable {
            what: "soft.beam.friction".into(),
            reason: "the body never touches a geom in these recordings".into(),
        }],
        warnings: vec![
            "the residuals of tip.z are correlated (0.62 at lag 1): intervals are widened by 2.1"
                .into(),
        ],
        motion: Some(Motion { gif: motion()?, caption: "Motion with the estimates.".into() }),
        provenance: Provenance {
            program: format!("costate {}", env!("CARGO_PKG_VERSION")),
            files: vec![
                ("experiment".into(), "experiment.toml".into()),
                ("recording gravity_a".into(), "data/gravity_a.csv".into()),
            ],
            iterations: Some(7),
            wall_s: Some(12.4),
            facts: vec![("method".into(), "Levenberg-Marquardt, forward sensitivities".into())],
        },
    };
    std::fs::create_dir_all(&folder)?;
    let page = html(&data)?;
    std::fs::write(folder.join("report.html"), &page)?;
    println!("{} bytes", page.len());
    Ok(())
}
