//! Dry friction against closed forms: a slider that stops, and a joint at rest.

use costate_dynamics::rigid::constraint::impedance::{
    SolverParameters, reference_acceleration, regularisation,
};
use costate_dynamics::rigid::constraint::{
    Law, Problem, ProblemTangents, Rows, Solver, SolverOptions,
};

use crate::snapshot::Inertia;

const DEFAULT: SolverParameters<f64> =
    SolverParameters { solref: [0.02, 1.0], solimp: [0.9, 0.95, 0.001, 0.5, 2.0] };

/// One dof of inertia `mass` with dry friction, started at velocity `v`.
struct Joint {
    mass: f64,
    loss: f64,
    h: f64,
    x: f64,
    v: f64,
    /// Derivatives of x and v by the loss, and by the velocity at the start.
    by_loss: [f64; 2],
    by_start: [f64; 2],
}

impl Joint {
    fn new(mass: f64, loss: f64, h: f64, v: f64) -> Self {
        Self { mass, loss, h, x: 0.0, v, by_loss: [0.0; 2], by_start: [0.0, 1.0] }
    }

    fn step(&mut self, solver: &mut Solver) {
        let mut response = DEFAULT.response(0.0, 2.0 * self.h);
        response.stiffness = 0.0;
        let mut rows = Rows::new();
        rows.entry(0, 1.0);
        let reference = reference_acceleration(response, self.v, 0.0);
        let mass = 1.0 / regularisation(response.impedance, 1.0 / self.mass);
        rows.push(Law::Friction, reference, mass, self.loss);
        let inertia = Inertia::dense(&[self.mass], 1);
        let problem = Problem { inertia: inertia.view(), force: &[0.0], rows: &rows };
        let solved = solver.solve(problem, &[&[0.0]], SolverOptions::default());
        assert!(solved.converged);
        for (tangent, loss_dot) in [(&mut self.by_loss, 1.0), (&mut self.by_start, 0.0)] {
            let mut dot = ProblemTangents::zeros(problem);
            dot.law.loss[0] = loss_dot;
            dot.reference[0] = -response.damping * tangent[1];
            let (mut a_dot, mut f_dot) = ([0.0], [0.0]);
            assert!(solver.pushforward(problem, &dot, &mut a_dot, &mut f_dot));
            tangent[1] += self.h * a_dot[0];
            tangent[0] += self.h * tangent[1];
        }
        self.v += self.h * solver.acceleration[0];
        self.x += self.h * self.v;
    }
}

#[test]
fn a_slider_with_dry_friction_stops() {
    let h = 1e-3;
    let mut slider = Joint::new(1.0, 0.5, h, 1.0);
    let mut solver = Solver::default();
    for _ in 0..1000 {
        slider.step(&mut solver);
    }
    // v = 1 − F t, x = t − F t²/2.
    assert!((slider.by_loss[1] + 1.0).abs() < 2.0 * h);
    assert!((slider.by_loss[0] + 0.5).abs() < 2.0 * h);
    for _ in 0..2000 {
        slider.step(&mut solver);
    }
    // x = 1/(2 F) at rest.
    assert!(slider.v.abs() < 1e-6, "{}", slider.v);
    assert!(slider.by_loss[1].abs() < 1e-6, "{}", slider.by_loss[1]);
    assert!((slider.by_loss[0] + 2.0).abs() < 2.0 * h, "{}", slider.by_loss[0]);
    assert!((slider.x - 1.0).abs() < 2.0 * h, "{}", slider.x);
}

/// Case R11: friction taken explicitly with a steep slope multiplies a tangent by −17.5 per step here.
#[test]
fn dry_friction_at_rest_shrinks_tangents() {
    for v in [0.0, 1e-6, -1e-3] {
        let mut joint = Joint::new(0.01, 1.0, 1.0 / 540.0, v);
        let mut solver = Solver::default();
        let mut previous = 1.0;
        for _ in 0..540 {
            joint.step(&mut solver);
            let factor = joint.by_start[1] / previous;
            assert!((0.0..1.0).contains(&factor), "{v}: {factor}");
            previous = joint.by_start[1];
        }
    }
}
