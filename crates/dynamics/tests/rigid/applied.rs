//! Forces applied from outside, by degree of freedom.

use costate_dynamics::rigid::{Dynamics, Integrator, RigidState};

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
