//! The balance of forces on a motion that is given.

use costate_dynamics::{Balance, Motion};
use costate_model::InputSignal;

use crate::{inputs, simulate, system};

const ARM: &str = "costate = 1\nrobot = \"arm.xml\"\n[option]\ntimestep = 1e-7\n\
                   [values]\n\"joint.shoulder.qpos\" = 0.4\n\"joint.elbow.qvel\" = 0.5\n\
                   \"joint.shoulder.qvel\" = -0.3\n\
                   [input.a]\n[controller.offset]\nactuator = \"elbow\"\n\
                   gains = { gain = 0.7, offset = 0.1 }\nlaw = \"gain * input.a - offset\"\n\
                   [friction.one]\njoint = \"shoulder\"\nviscous = 0.2\n";

#[test]
fn a_simulated_motion_is_balanced() {
    let s = system(ARM);
    let given = inputs(&s, &[("input.a", InputSignal::constant(&[0.8]))]);
    let motion = simulate(&s, &given, 1);
    let [before, after] = [&motion.states[0], &motion.states[1]];
    let a: Vec<f64> = before.v.iter().zip(&after.v).map(|(x, y)| (y - x) / 1e-7).collect();
    let c = s.derive(&s.theta()).unwrap();
    let mut balance = Balance::new(&s).unwrap();
    let mut out = [0.0; 2];
    let u = [0.0, 0.8];
    let at = Motion { q: &before.q, v: &before.v, a: &a, u: &u };
    balance.evaluate(&c, &[], at, &mut out, &mut []);
    assert!(out.iter().all(|e| e.abs() < 1e-6), "{out:?}");
    // Without the motion the same forces are far from balanced.
    let at = Motion { a: &[0.0; 2], ..at };
    balance.evaluate(&c, &[], at, &mut out, &mut []);
    assert!(out.iter().all(|e| e.abs() > 1e-2), "{out:?}");
}

#[test]
fn its_derivatives_are_those_of_differences() {
    let s = system(&format!("{ARM}dry = 0.05\n"));
    let theta = s.theta();
    let c = s.derive(&theta).unwrap();
    let at = Motion { q: &[0.3, -0.7], v: &[0.6, -0.2], a: &[2.0, 5.0], u: &[0.4, 0.8] };
    let mut balance = Balance::new(&s).unwrap();
    let wave = |k: usize| -> Vec<f64> {
        (0..theta.len()).map(|i| (1.3 * (i + 7 * k) as f64).sin() * theta[i]).collect()
    };
    let directions: Vec<Vec<f64>> = (0..6).map(wave).collect();
    let c_dot: Vec<f64> =
        directions.iter().flat_map(|d| s.derive_pushforward(&theta, &c, d)).collect();
    let (mut out, mut out_dot) = ([0.0; 2], [0.0; 12]);
    balance.evaluate(&c, &c_dot, at, &mut out, &mut out_dot);
    for (k, direction) in directions.iter().enumerate() {
        let mut best = f64::INFINITY;
        for width in [1e-3, 1e-4, 1e-5, 1e-6] {
            let mut moved = |sign: f64| {
                let theta: Vec<f64> =
                    theta.iter().zip(direction).map(|(x, d)| x + sign * width * d).collect();
                let mut out = [0.0; 2];
                balance.evaluate(&s.derive(&theta).unwrap(), &[], at, &mut out, &mut []);
                out
            };
            let (up, down) = (moved(1.0), moved(-1.0));
            let error = (0..2).fold(0.0f64, |m, i| {
                let slope = (up[i] - down[i]) / (2.0 * width);
                m.max((slope - out_dot[2 * k + i]).abs())
            });
            best = best.min(error);
        }
        assert!(best < 1e-7, "{k}: {best:e}");
    }
}

#[test]
fn what_remembers_has_no_balance() {
    let held = format!("{ARM}[controller.held]\nsample_time = 2e-7\nlaw = \"input.a\"\n");
    assert!(Balance::new(&system(&held)).is_err());
}
