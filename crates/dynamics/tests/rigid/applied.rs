//! Forces applied from outside, by degree of freedom.

use costate_dynamics::rigid::{
    Derivation, DriveTangents, Dynamics, Integrator, Mechanism, RigidState, RigidTangents,
    TangentMethod,
};

use crate::proof::{INTEGRATORS, Point, prove, prove_sensors};
use crate::tangent::waves;
use crate::zoo::{point, sensors};

fn pushed(integrator: Integrator) -> Point {
    let p = point(integrator);
    let applied = waves(9, p.state.qvel.len());
    Point { applied, ..p }
}

#[test]
fn steps_under_applied_forces_have_proved_derivatives() {
    let mut failures = Vec::new();
    for integrator in INTEGRATORS {
        failures.extend(prove(&format!("{integrator:?}"), &pushed(integrator), false));
    }
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn sensors_feel_applied_forces() {
    let mut failures = Vec::new();
    for integrator in [Integrator::Euler, Integrator::ImplicitFast, Integrator::Discrete] {
        let mut p = pushed(integrator);
        p.mechanism.tree.sensors = sensors();
        failures.extend(prove_sensors(&format!("{integrator:?}"), &p));
    }
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}

/// They are what the inertia times the change of the acceleration is.
#[test]
fn applied_forces_accelerate_by_the_inertia() {
    let p = pushed(Integrator::Euler);
    let m = &p.mechanism;
    let evaluate = |applied: &[f64]| {
        let mut d = Dynamics::new(&m.tree);
        assert_eq!(d.evaluate(&m.tree, &m.layout, &p.c, p.state.under(&p.ctrl, applied)), None);
        d
    };
    let (free, pushed) = (evaluate(&[]), evaluate(&p.applied));
    let change: Vec<f64> =
        pushed.qacc_smooth.iter().zip(&free.qacc_smooth).map(|(a, b)| a - b).collect();
    let mut force = vec![0.0; change.len()];
    free.mass.multiply(&m.tree, &change, &mut force);
    for (found, applied) in force.iter().zip(&p.applied) {
        assert!((found - applied).abs() < 1e-11, "{found} for {applied}");
    }
}

/// None at all and zeros are the same to the bit, under every integrator.
#[test]
fn no_applied_forces_are_zero() {
    for integrator in INTEGRATORS {
        let p = point(integrator);
        let zeros = vec![0.0; p.state.qvel.len()];
        let step = |applied: &[f64]| {
            let mut next = RigidState::default();
            let m = &p.mechanism;
            let at = p.state.under(&p.ctrl, applied);
            m.step(&p.c, at, &[], &mut next, &mut m.workspace()).unwrap();
            next
        };
        assert_eq!(step(&[]), step(&zeros), "{integrator:?}");
    }
}

const PUSHED: &str = r#"<mujoco><option timestep="0.01" integrator="INTEGRATOR"/><worldbody>
<body name="a" pos="0 0 1"><joint name="h" axis="0.2 1 0" damping="0.3"/>
<inertial pos="0.1 0 -0.1" mass="0.6" diaginertia="0.003 0.004 0.002"/>
<body name="b" pos="0.25 0 0"><joint name="s" type="slide" axis="0 0.1 1" damping="2"/>
<joint name="q" type="ball" damping="0.05"/>
<inertial pos="0.08 0.01 0.02" mass="0.3" diaginertia="0.001 0.002 0.001"/></body></body>
<body name="c" pos="1 0 1"><freejoint/>
<inertial pos="0.01 0.02 0" mass="0.4" diaginertia="0.001 0.003 0.002"/></body>
</worldbody></mujoco>"#;

/// Velocities after twenty steps of MuJoCo 4.0 with `qfrc_applied` = 0.1 sin(1.7 i + 0.3).
const MUJOCO: [(&str, [f64; 11]); 4] = [
    (
        "Euler",
        [
            2.3313891873865775,
            -0.6313635969702791,
            -1.2762279701042147,
            1.0410562011458568,
            0.8326858054939592,
            0.22821515965245712,
            0.27066988549474214,
            -1.7544191197683459,
            20.221158015779285,
            -3.039869670992049,
            -8.006560779961282,
        ],
    ),
    (
        "RK4",
        [
            2.3148138914421916,
            -0.641901643577436,
            -1.268296060325377,
            1.167425257593105,
            0.8074187765680915,
            0.25772473364918846,
            0.2805552475447554,
            -1.7267695652121335,
            20.41120656703209,
            -3.2091625892385216,
            -7.447385552885234,
        ],
    ),
    (
        "implicit",
        [
            2.3255375042063733,
            -0.6295486267585466,
            -1.2629852732067923,
            1.0755335904068635,
            0.792806332538905,
            0.28451334368319525,
            0.29284030215849105,
            -1.7003515366051427,
            20.56756330583527,
            -3.323290323238851,
            -6.91393196035034,
        ],
    ),
    (
        "implicitfast",
        [
            2.3313891873865775,
            -0.6313635969702791,
            -1.2762279701042147,
            1.0410562011458568,
            0.8326858054939592,
            0.28451334368319525,
            0.2928403021584911,
            -1.700351536605142,
            20.56756330583527,
            -3.323290323238851,
            -6.913931960350342,
        ],
    ),
];

#[test]
fn applied_forces_move_bodies_as_in_mujoco() {
    for (integrator, expected) in MUJOCO {
        let text = PUSHED.replace("INTEGRATOR", integrator);
        let model = costate_formats::parse_mjcf("pushed.xml", &text).unwrap();
        let derivation = Derivation::new(&model).unwrap();
        let c = derivation.derive(&model.theta()).unwrap();
        let m = Mechanism::new(derivation.tree.clone());
        let nv = m.tree.nv;
        let applied: Vec<f64> = (0..nv).map(|i| 0.1 * (1.7 * i as f64 + 0.3).sin()).collect();
        let qpos = c[m.layout.qpos0.range()].to_vec();
        let mut state = RigidState { qpos, qvel: vec![0.0; nv], act: Vec::new() };
        let mut ws = m.workspace();
        for _ in 0..20 {
            let mut next = RigidState::default();
            m.step(&c, state.under(&[], &applied), &[], &mut next, &mut ws).unwrap();
            state = next;
        }
        for (found, expected) in state.qvel.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-10, "{integrator}: {found} {expected}");
        }
    }
}

/// Memory that has been used gives the tangents that new memory does.
#[test]
fn tangents_by_rows_do_not_depend_on_former_ones() {
    let p = pushed(Integrator::ImplicitFast);
    let m = Mechanism { tangents: TangentMethod::Rows, ..p.mechanism.clone() };
    let nv = m.tree.nv;
    let (mut ws, mut push) = (m.workspace(), m.push_workspace());
    let applied = waves(6, nv);
    let mut tangents = || {
        let mut out = RigidTangents::zeros(&m.tree, 1);
        let (at, drive) =
            (p.state.under(&p.ctrl, &p.applied), DriveTangents { ctrl: &[], applied: &applied });
        m.step_pushforward(&p.c, at, &[], &mut out, &[], drive, &mut ws, &mut push).unwrap();
        out
    };
    let first = tangents();
    assert!(first.v.iter().any(|v| v.abs() > 1e-6));
    assert_eq!(first, tangents());
}
