//! Building the scenes that warp.sim's recorded results are of.

use costate_dynamics::rollout::{AdjointOptions, Gradient, Run};
use costate_dynamics::{At, Constants, System};
use costate_model::{
    Damping, DampingLaw, GeomBuilder, HingeSettings, Inputs, MassRule, MaterialSettings,
    MembraneSettings, Model, Shape, SoftBuilder, SpringSettings, TetrahedraSettings,
};
use serde_json::Value;

use crate::common::States;
use crate::recording::{number, numbers};

fn stencils<const N: usize>(value: &Value) -> Vec<[u32; N]> {
    numbers(value).chunks(N).map(|c| std::array::from_fn(|i| c[i] as u32)).collect()
}

/// Column k of a table with `width` columns.
fn column(table: &[f64], width: usize, k: usize) -> Vec<f64> {
    table.iter().skip(k).step_by(width).copied().collect()
}

/// A recorded scene, built here.
pub struct Scene {
    pub system: System,
    pub constants: Constants,
    pub steps: usize,
    /// For each recorded hinge its number here; hinges on the border have none.
    pub hinges: Vec<Option<usize>>,
}

/// Builds the scene that `inputs` describes. The recorded inverse rest shapes, which are rounded
/// to float32, take the place of those that follow from the rest positions.
pub fn scene(json: &Value) -> Scene {
    let inputs = &json["inputs"];
    let mut model = Model::new("reference");
    model.options.timestep = number(&json["dt"]);
    model = model.with("option.gravity", &numbers(&inputs["gravity"])).unwrap();
    let x = numbers(&inputs["positions"]);
    let vertices: Vec<[f64; 3]> = x.chunks(3).map(|c| [c[0], c[1], c[2]]).collect();
    let mass = numbers(&inputs["masses"]);
    let active = numbers(&inputs["active"]);
    let fixed: Vec<u32> = (0..mass.len() as u32)
        .filter(|&i| mass[i as usize] == 0.0 || active[i as usize] == 0.0)
        .collect();
    let mut body = SoftBuilder::new("b", vertices)
        .vertex_mass(mass)
        .start_position(x.clone())
        .start_velocity(numbers(&inputs["velocities"]))
        .radius(numbers(&inputs["radii"]))
        .fix(&fixed);
    if let Some(springs) = inputs.get("springs") {
        let settings = SpringSettings {
            stiffness: numbers(&springs["stiffness"]),
            damping: numbers(&springs["damping"]),
            rest_length: Some(numbers(&springs["rest_length"])),
        };
        body = body.with_springs(stencils(&springs["indices"]), settings);
    }
    if let Some(triangles) = inputs.get("tris") {
        let materials = numbers(&triangles["materials_ke_ka_kd_drag_lift"]);
        body = body.with_triangles(stencils(&triangles["indices"])).membrane(MembraneSettings {
            damping_law: DampingLaw::Warp,
            stiffness: column(&materials, 5, 0),
            area_stiffness: column(&materials, 5, 1),
            damping: column(&materials, 5, 2),
            drag: column(&materials, 5, 3),
            lift: column(&materials, 5, 4),
            activation: numbers(&triangles["activations"]),
            density: vec![0.0],
        });
    }
    let mut hinges = Vec::new();
    if let Some(edges) = inputs.get("edges") {
        let all = numbers(&edges["indices_opp0_opp1_v0_v1"]);
        let mut count = 0;
        for edge in all.chunks(4) {
            let interior = edge.iter().all(|&v| v >= 0.0);
            hinges.push(interior.then_some(count));
            count += usize::from(interior);
        }
        let kept = |values: Vec<f64>, width: usize| -> Vec<f64> {
            let rows = values.chunks(width).zip(&hinges).filter(|(_, kept)| kept.is_some());
            rows.flat_map(|(row, _)| row.to_vec()).collect()
        };
        let properties = kept(numbers(&edges["properties_ke_kd"]), 2);
        let indices =
            kept(all, 4).chunks(4).map(|c| std::array::from_fn(|i| c[i] as u32)).collect();
        body = body.with_hinges(indices).hinges(HingeSettings {
            law: "warp".into(),
            stiffness: column(&properties, 2, 0),
            damping: column(&properties, 2, 1),
            rest_angle: Some(kept(numbers(&edges["rest_angle"]), 1)),
        });
    }
    if let Some(tetrahedra) = inputs.get("tets") {
        let materials = numbers(&tetrahedra["materials_mu_lambda_damp"]);
        let mut material = MaterialSettings::lame("warp", 1.0, 1.0);
        material.first = column(&materials, 3, 0);
        material.second = column(&materials, 3, 1);
        let viscosity = column(&materials, 3, 2);
        let damping = Damping { law: DampingLaw::Warp, viscosity, stiffness: vec![0.0] };
        body =
            body.with_tetrahedra(stencils(&tetrahedra["indices"])).tetrahedra(TetrahedraSettings {
                material,
                damping,
                mass: MassRule::None,
                activation: numbers(&tetrahedra["activations"]),
                activation_input: None,
            });
    }
    body.build(&mut model).unwrap();
    if inputs["ground_enabled"] == Value::Bool(true) {
        let ground = &inputs["ground"];
        let plane = numbers(&ground["plane_normal_offset"]);
        let normal = [plane[0], plane[1], plane[2]];
        GeomBuilder::new("ground", Shape::Plane, &[])
            .normal(normal)
            .pos(normal.map(|n| -plane[3] * n))
            .law("warp")
            .stiffness(number(&ground["ke"]))
            .damping(number(&ground["kd"]))
            .friction_damping(number(&ground["kf"]))
            .friction(number(&ground["mu"]))
            .build(&mut model)
            .unwrap();
    }
    let system = System::new(&model).unwrap();
    let mut constants = system.derive(&system.theta()).unwrap();
    if let Some(triangles) = inputs.get("tris") {
        let inverse = numbers(&triangles["rest_inverse"]);
        for (constant, entry) in [(6, 0), (7, 1), (8, 3)] {
            let values = column(&inverse, 4, entry);
            overwrite(&system, &mut constants, "triangles", constant, &values);
        }
    }
    if let Some(tetrahedra) = inputs.get("tets") {
        let inverse = numbers(&tetrahedra["rest_inverse"]);
        for entry in 0..9 {
            let values = column(&inverse, 9, entry);
            overwrite(&system, &mut constants, "tetrahedra", entry, &values);
        }
        let volumes: Vec<f64> = inverse.chunks(9).map(|b| 1.0 / (6.0 * determinant(b))).collect();
        overwrite(&system, &mut constants, "tetrahedra", 9, &volumes);
    }
    let steps = json["steps"].as_u64().unwrap() as usize;
    Scene { system, constants, steps, hinges }
}

fn determinant(b: &[f64]) -> f64 {
    b[0] * (b[4] * b[8] - b[5] * b[7]) - b[1] * (b[3] * b[8] - b[5] * b[6])
        + b[2] * (b[3] * b[7] - b[4] * b[6])
}

/// Overwrites one constant of every element of a kind.
fn overwrite(
    system: &System,
    constants: &mut Constants,
    kind: &str,
    constant: usize,
    values: &[f64],
) {
    let i = system.forces().iter().position(|f| f.label().ends_with(kind)).unwrap();
    let start = system.layout().forces[i].start;
    for (element, value) in values.iter().enumerate() {
        let at = system.forces()[i].constant_at(element, constant).unwrap();
        constants.values[start + at] = *value;
    }
}

impl Scene {
    /// Forces at the start.
    pub fn forces(&self) -> Vec<f64> {
        let start = self.system.initial_state(&self.constants, &[]);
        let mut f = vec![0.0; self.system.dof()];
        let at = At { x: &start.q, v: &start.v, u: &[] };
        for (force, range) in self.system.forces().iter().zip(&self.system.layout().forces) {
            let c = &self.constants.values[range.clone()];
            force.add_forces(c, at, &mut f, &mut force.scratch());
        }
        f
    }

    /// Positions and velocities after each of some steps.
    pub fn states(&self, steps: &[usize]) -> Vec<(Vec<f64>, Vec<f64>)> {
        let inputs = Inputs::default();
        let run = Run::new(&self.system, &self.constants, &inputs);
        let all = run.rollout(self.steps, 1).unwrap();
        steps.iter().map(|&k| (all.states[k].q.clone(), all.states[k].v.clone())).collect()
    }

    /// The gradient of Σ |x − target|² at the last step.
    pub fn gradient(&self, target: &[f64]) -> Gradient {
        let n = self.system.dof();
        let observer = States { at: vec![self.steps], dof: n };
        let inputs = Inputs::default();
        let run = Run::new(&self.system, &self.constants, &inputs);
        let mut loss = |y: &[f64]| {
            let mut bar = vec![0.0; 2 * n];
            let mut sum = 0.0;
            for i in 0..n {
                let d = y[i] - target[i];
                sum += d * d;
                bar[i] = 2.0 * d;
            }
            (sum, bar)
        };
        run.gradient(&observer, &[], &AdjointOptions::default(), &mut loss).unwrap()
    }

    /// A gradient by one leaf of the body.
    pub fn by_leaf(&self, gradient: &Gradient, leaf: &str) -> Vec<f64> {
        let theta_bar =
            self.system.derive_pullback(&self.system.theta(), &self.constants, &gradient.c);
        let leaves = &self.system.model().leaves;
        theta_bar[leaves.range(leaves.find(&format!("soft.b.{leaf}")).unwrap())].to_vec()
    }
}
