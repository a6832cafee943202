//! A constitutive law of one's own: Fung's exponential law, for tissue that stiffens as it stretches.
//! From the energy alone follow forces, tangents, adjoints and the derivatives by its parameters.
//!
//! `cargo run --release -p costate --example custom_material`

use std::error::Error;

use costate::dynamics::soft::{Material, Registry};
use costate::dynamics::{LeafCheck, check, material_law};
use costate::num::{Mat3, Scalar};
use costate::prelude::*;

/// ψ = μ/2b (exp(b (|F|² − 3 − 2 ln J)) − 1) + λ/2 (ln J)², with parameters μ, b and λ.
struct Fung;

impl Material<3> for Fung {
    const NAME: &'static str = "fung";
    #[inline(always)]
    fn energy<S: Scalar>(f: &Mat3<S>, &[mu, b, lambda]: &[S; 3]) -> S {
        let log = f.determinant().ln();
        let shear = f.inner(*f) - S::splat(3.0) - log.scale(2.0);
        mu / b.scale(2.0) * ((b * shear).exp() - S::one()) + lambda.scale(0.5) * log * log
    }
    #[inline(always)]
    fn lame_at_rest<S: Scalar>(&[mu, _, lambda]: &[S; 3]) -> [S; 2] {
        [mu, lambda]
    }
}

/// A strip of tissue that hangs from its upper end and swings.
const SCENE: &str = r#"
costate = 1
[option]
timestep = 2e-4
[soft.strip]
grid = { cells = [1, 1, 4], cell = [0.01, 0.01, 0.01] }
material = "fung"
parameters = { shear = 2e3, exponent = 4.0, bulk = 2e4 }
density = 1000.0
velocity = [0.5, 0.0, 0.0]
fixed = { side = "z+" }
"#;

fn run(steps: usize) -> Result<Vec<LeafCheck>, Box<dyn Error>> {
    let mut registry = Registry::default();
    registry.register(material_law!(Fung, 3));
    let scene = Scene::parse("strip.toml", SCENE)?;
    let system = System::with_registry(&scene.model, &registry)?;
    Ok(check(&system, &Inputs::default(), steps, None)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    for leaf in run(200)?.iter().filter(|c| c.influences) {
        let (by, error) = (leaf.derivative, leaf.difference_error);
        println!("{:30} derivative {by:13.6e}, relative error {error:.0e}", leaf.path);
    }
    Ok(())
}

#[test]
fn its_derivatives_are_exact() {
    let checks = run(20).unwrap();
    for name in ["shear", "exponent", "bulk"] {
        let check = checks.iter().find(|c| c.path == format!("soft.strip.{name}")).unwrap();
        assert!(check.influences && check.passes(), "{check:?}");
    }
}
