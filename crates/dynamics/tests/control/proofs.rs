//! Tangents against differences and adjoints against tangents, for every leaf of several scenes.

use costate_dynamics::check;

use crate::{inputs, sampled, system};

const SLIDER: &str = "costate = 1\nrobot = \"slider.xml\"\n[values]\n\"joint.slide.qvel\" = 0.3\n\
                      [input.a]\n[input.b]\n";
const ARM: &str = "costate = 1\nrobot = \"arm.xml\"\n[values]\n\"joint.shoulder.qpos\" = 0.4\n\
                   \"joint.elbow.qvel\" = 0.5\n[input.a]\n[input.b]\n";

/// Proofs over a run, and that every leaf of the control matters in it.
fn prove(text: &str, steps: usize) {
    let s = system(text);
    let given = inputs(
        &s,
        &[
            ("input.a", sampled(200, 1e-3, |t| 0.3 + 0.7 * (9.0 * t).sin())),
            ("input.b", sampled(200, 1e-3, |t| 0.2 * (4.0 * t).cos())),
        ],
    );
    let found = check(&s, &given, steps, None).unwrap();
    for leaf in &found {
        let own = ["controller.", "drive.", "friction."].iter().any(|p| leaf.path.starts_with(p));
        assert!(leaf.influences || !own, "{} does not matter", leaf.path);
        let good = leaf.difference_error <= 1e-7 && leaf.adjoint_error <= 1e-11;
        assert!(good || !leaf.influences, "{leaf:?}");
    }
}

#[test]
fn held_laws_and_cascades() {
    prove(
        &format!(
            "{ARM}[controller.outer]\nsample_time = 0.005\ntype = \"pd\"\njoint = \"shoulder\"\n\
             target = \"input.a\"\nkp = 8.0\nkd = 0.3\ndelay = 0.0033\nmax_delay = 0.01\n\
             [controller.inner]\nactuator = \"shoulder\"\nsample_time = 0.002\n\
             gains = {{ k = 2.0, i = 9.0, top = 1.5 }}\n\
             signals = {{ e = \"controller.outer - joint.shoulder.velocity\" }}\n\
             law = \"clip(k * e + i * integral(e) + 0.1 * previous(e, 3), -top, top)\"\n\
             [controller.elbow]\nactuator = \"elbow\"\ntype = \"cascade\"\njoint = \"elbow\"\n\
             target = \"input.b\"\nkp = 6.0\nkv = 0.5\nki = 3.0\nspeed_limit = 1.1\nlimit = 0.25\n"
        ),
        60,
    );
}

#[test]
fn drives_with_delay_and_friction_by_load() {
    prove(
        &format!(
            "{ARM}[drive.one]\nactuator = \"shoulder\"\nvoltage = \"8 * input.a\"\n\
             torque_constant = 0.4\nresistance = 3.0\nback_emf = 0.5\ndelay = 0.0024\n\
             [drive.two]\nactuator = \"elbow\"\nvoltage = \"input.b * 20\"\n\
             enabled = \"time < 0.03\"\ntorque_constant = 0.2\nresistance = 2.0\n\
             [friction.one]\njoint = \"shoulder\"\ndry = 0.02\nviscous = 0.01\n\
             stribeck = {{ extra = 0.03, velocity = 0.2 }}\n\
             load = {{ coefficient = 0.1, extra = 0.06, velocity = 0.3, torque = \"gear\" }}\n\
             [friction.two]\njoint = \"elbow\"\ndry = 0.01\n\
             load = {{ coefficient = 0.12, torque = \"motor\" }}\n"
        ),
        40,
    );
}

#[test]
fn bristles() {
    prove(
        &format!(
            "{SLIDER}[controller.c]\nactuator = \"motor\"\nlaw = \"input.a + input.b\"\n\
             [friction.f]\njoint = \"slide\"\nlaw = \"lugre\"\nstiffness = 2e3\ndamping = 20\n\
             viscous = 0.4\ndry = 0.3\nstribeck = {{ extra = 0.2, velocity = 0.1 }}\n"
        ),
        60,
    );
}

#[test]
fn play() {
    prove(
        &format!(
            "{SLIDER}[drive.d]\nactuator = \"motor\"\nvoltage = \"10 * input.a + drive.d.velocity\"\n\
             torque_constant = 0.5\nresistance = 2.0\n\
             play = {{ width = 1e-3, inertia = 0.05, stiffness = 1e3, damping = 2.0 }}\n"
        ),
        60,
    );
}

#[test]
fn friction_by_formulas() {
    prove(
        &format!(
            "{ARM}[controller.c]\nactuator = \"elbow\"\nlaw = \"0.3 * input.b\"\n\
             [friction.one]\njoint = \"shoulder\"\nlaw = \"formula\"\n\
             gains = {{ dry = 0.02, extra = 0.03, scale = 0.2, load = 0.1, k = 0.02, sink = 0.3 }}\n\
             signals = {{ slow = \"exp(-(velocity / scale)^2)\" }}\n\
             dry = \"dry + extra * slow + load * abs(motor - external) * slow\"\n\
             viscous = \"k * (1 + sink * tanh(position))\"\n\
             [friction.two]\njoint = \"elbow\"\nlaw = \"formula\"\ngains = {{ k = 0.12 }}\n\
             dry = \"0.01 + k * abs(motor)\"\n"
        ),
        40,
    );
}

#[test]
fn friction_by_formulas_is_that_of_the_laws() {
    let laws = "[friction.one]\njoint = \"shoulder\"\ndry = 0.02\nviscous = 0.01\n\
                stribeck = { extra = 0.03, velocity = 0.2 }\n\
                [friction.two]\njoint = \"elbow\"\ndry = 0.01\n\
                load = { coefficient = 0.12, torque = \"gear\" }\n";
    let formulas = "[friction.one]\njoint = \"shoulder\"\nlaw = \"formula\"\n\
                    dry = \"0.02 + 0.03 * exp(-(velocity / 0.2)^2)\"\nviscous = 0.01\n\
                    [friction.two]\njoint = \"elbow\"\nlaw = \"formula\"\n\
                    dry = \"0.01 + 0.12 * abs(motor - external)\"\n";
    let motions = [laws, formulas].map(|friction| {
        let s = system(&format!("{ARM}{friction}"));
        let given = [("actuator.shoulder", sampled(200, 1e-3, |t| 0.3 * (9.0 * t).sin()))];
        crate::simulate(&s, &inputs(&s, &given), 150)
    });
    let [a, b] = motions;
    assert_eq!(a.states.last(), b.states.last());
}

#[test]
fn what_has_a_name_is_computed_once() {
    // Each signal doubles the last: written out, the law would have 2^60 terms.
    let mut text = format!("{ARM}[controller.c]\nactuator = \"elbow\"\nlaw = \"1e-20 * s59\"\n");
    text += "[controller.c.signals]\ns0 = \"joint.elbow.position\"\n";
    for i in 1..60 {
        text += &format!("s{i} = \"s{0} + s{0}\"\n", i - 1);
    }
    let s = system(&text);
    assert!(crate::simulate(&s, &inputs(&s, &[]), 3).states.len() == 4);
}
