//! A ball over a floor, its end state and the derivatives of that.

use costate_dynamics::System;
use costate_dynamics::rollout::{AdjointOptions, Run, Seeds};
use costate_model::{GeomBuilder, Inputs, Model, Shape, SoftBuilder};

use crate::common::States;

pub const G: f64 = 9.81;
/// Time of impact and of reading of a ball dropped from 1 m.
pub const T1: f64 = 0.451_523_640_985;
pub const T: f64 = 0.8;

/// A ball of 1 kg, a point at `z` m, over a plane.
pub struct Ball {
    pub law: &'static str,
    pub h: f64,
    pub z: f64,
    pub stiffness: f64,
    pub damping: f64,
    pub ramp: f64,
    pub saltation: bool,
}

impl Default for Ball {
    fn default() -> Self {
        Self {
            law: "smooth",
            h: 1e-5,
            z: 1.0,
            stiffness: 1e4,
            damping: 0.0,
            ramp: 1e-3,
            saltation: false,
        }
    }
}

impl Ball {
    pub fn model(&self) -> Model {
        let mut model = Model::new("ball");
        model.options.timestep = self.h;
        model.options.saltation = self.saltation;
        SoftBuilder::new("b", vec![[0.0; 3]])
            .vertex_mass(vec![1.0])
            .radius(vec![0.1])
            .position([0.4, 0.0, self.z + 0.1])
            .load("push", vec![0])
            .build(&mut model)
            .unwrap();
        GeomBuilder::new("floor", Shape::Plane, &[])
            .law(self.law)
            .stiffness(self.stiffness)
            .damping(self.damping)
            .friction(0.3)
            .friction_damping(50.0)
            .ramp(self.ramp)
            .build(&mut model)
            .unwrap();
        model
    }
}

/// Runs `model` to `time` and returns (x, y, z, vx, vy, vz) of its first vertex.
pub fn end(model: &Model, time: f64) -> Vec<f64> {
    end_under(model, time, &Inputs::default())
}

pub fn end_under(model: &Model, time: f64, inputs: &Inputs) -> Vec<f64> {
    let system = System::new(model).unwrap();
    let c = system.derive(&system.theta()).unwrap();
    let steps = (time / system.timestep()).round() as usize;
    let observer = States { at: vec![steps], dof: system.dof() };
    Run::new(&system, &c, inputs).observe(&observer, &[]).unwrap()
}

/// Derivatives of [`end`] by entries of leaves; the adjoint must agree.
pub fn slopes(model: &Model, time: f64, leaves: &[(&str, usize)]) -> Vec<Vec<f64>> {
    let system = System::new(model).unwrap();
    let theta = system.theta();
    let c = system.derive(&theta).unwrap();
    let steps = (time / system.timestep()).round() as usize;
    let observer = States { at: vec![steps], dof: system.dof() };
    let inputs = Inputs::default();
    let run = Run::new(&system, &c, &inputs);
    let entry = |&(path, i): &(&str, usize)| {
        system.model().leaves.range(system.model().leaves.find(path).unwrap()).start + i
    };
    let mut seeds = Seeds { columns: leaves.len(), ..Seeds::default() };
    for leaf in leaves {
        let mut theta_dot = vec![0.0; theta.len()];
        theta_dot[entry(leaf)] = 1.0;
        seeds.c.extend(system.derive_pushforward(&theta, &c, &theta_dot));
    }
    let y_dot = run.sensitivities(&observer, &[], &seeds, &[]).unwrap().y_dot;

    let weights: Vec<f64> = (0..6).map(|i| (1.3 * f64::from(i) + 0.4).sin()).collect();
    let mut loss =
        |y: &[f64]| (y.iter().zip(&weights).map(|(a, b)| a * b).sum::<f64>(), weights.clone());
    let gradient = run.gradient(&observer, &[], &AdjointOptions::default(), &mut loss).unwrap();
    let theta_bar = system.derive_pullback(&theta, &c, &gradient.c);
    let columns: Vec<Vec<f64>> = y_dot.chunks_exact(6).map(<[f64]>::to_vec).collect();
    for (leaf, column) in leaves.iter().zip(&columns) {
        let pushed: f64 = column.iter().zip(&weights).map(|(a, b)| a * b).sum();
        let size: f64 = column.iter().map(|y| y.abs()).sum();
        let pulled = theta_bar[entry(leaf)];
        // The runs have up to 800 000 steps, each with its rounding.
        let gap = (pushed - pulled).abs();
        assert!(gap <= 1e-9 * size, "{leaf:?}: {pushed} {pulled}");
    }
    columns
}

/// [`slopes`] by one entry.
pub fn slope(model: &Model, time: f64, path: &str, i: usize) -> Vec<f64> {
    slopes(model, time, &[(path, i)]).remove(0)
}

/// Central difference of [`end`] by entry `i` of a leaf, from `-width` to `width`.
pub fn wide(model: &Model, time: f64, path: &str, i: usize, width: f64) -> Vec<f64> {
    let at = |step: f64| {
        let mut values = model.get(path).unwrap().to_vec();
        values[i] += step;
        end(&model.with(path, &values).unwrap(), time)
    };
    at(width).iter().zip(at(-width)).map(|(a, b)| (a - b) / (2.0 * width)).collect()
}

pub fn close(what: &str, value: f64, expected: f64, relative: f64) {
    let error = (value - expected).abs();
    assert!(error <= relative * expected.abs(), "{what}: {value}, expected {expected}");
}
