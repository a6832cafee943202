//! Membranes, hinges and springs: proofs of their derivatives on random shapes and motions.

mod common;
#[path = "common/proof.rs"]
mod proof;

use costate_dynamics::System;
use costate_model::{
    DampingLaw, HingeSettings, MembraneSettings, Model, SoftBuilder, SpringSettings,
};
use proof::{noise, prove};
use proptest::prelude::*;

/// Moves every vertex of a grid of two by two cells at random, in and out of its plane.
fn shaken(seed: u64, amount: f64) -> (Vec<f64>, Vec<f64>) {
    let grid = SoftBuilder::cloth_grid("c", [2, 2], [0.1, 0.12], false);
    let flat: Vec<f64> = grid.vertices().iter().flatten().copied().collect();
    let x = flat.iter().enumerate().map(|(i, x)| x + amount * noise(seed, i)).collect();
    let v = (0..flat.len()).map(|i| noise(seed ^ 77, i)).collect();
    (x, v)
}

/// A cloth of eight triangles with everything that has a parameter.
fn cloth(seed: u64, amount: f64, damping: DampingLaw, bending: &str) -> System {
    let (x, v) = shaken(seed, amount);
    let mut model = Model::new("cloth");
    model.options.timestep = 1e-3;
    let field = |i: usize, base: f64| {
        (0..8).map(|e| base * (1.0 + 0.3 * noise(seed ^ 5, 8 * i + e))).collect::<Vec<f64>>()
    };
    let rest_angle = if seed.is_multiple_of(2) { None } else { Some(vec![0.4]) };
    SoftBuilder::cloth_grid("c", [2, 2], [0.1, 0.12], seed.is_multiple_of(3))
        .position([0.1, -0.2, 0.3])
        .rotation([0.9, 0.1, -0.3, 0.2])
        .velocity([0.5, -1.0, 0.7])
        .angular_velocity([1.0, 2.0, -1.0])
        .start_position(x)
        .start_velocity(v)
        .mass_damping(0.2)
        .radius(vec![0.01])
        .membrane(MembraneSettings {
            damping_law: damping,
            stiffness: field(0, 50.0),
            area_stiffness: field(1, 60.0),
            damping: field(2, 0.05),
            drag: vec![0.8],
            lift: vec![0.5],
            activation: field(3, 0.1),
            density: field(4, 2.0),
        })
        .with_all_hinges()
        .hinges(HingeSettings {
            law: bending.into(),
            stiffness: vec![0.05],
            damping: vec![1e-4],
            rest_angle,
        })
        .with_springs(
            vec![[0, 8], [2, 6], [1, 7]],
            SpringSettings { stiffness: vec![40.0], damping: vec![0.1], rest_length: None },
        )
        .build(&mut model)
        .unwrap();
    System::new(&model).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    #[test]
    fn derivatives_of_cloth(seed in any::<u64>(), warp in any::<bool>(), shells in any::<bool>()) {
        let damping = if warp { DampingLaw::Warp } else { DampingLaw::FrameIndifferent };
        let bending = if shells { "discrete-shells" } else { "warp" };
        prove(&cloth(seed, 0.03, damping, bending), 12, seed);
    }
}
