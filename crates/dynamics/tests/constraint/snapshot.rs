//! One-state dumps of MuJoCo 4.0 with constraint rows
//! (`data/mujoco/constraint_snapshots.json`): reading, and the rows as the solver takes them.

use std::ops::Range;

use costate_dynamics::rigid::constraint::{Cone, Law, Problem, Rows, SymmetricRows};
use serde_json::Value;

/// What one dump says.
pub struct Snapshot {
    /// Name of the model and its settings.
    pub name: String,
    /// All of it.
    pub json: Value,
    /// M, lower triangle.
    pub inertia: Inertia,
    /// τ.
    pub force: Vec<f64>,
    /// The rows.
    pub rows: Rows,
}

impl Snapshot {
    /// As the solver takes it.
    pub fn problem(&self) -> Problem<'_> {
        Problem { inertia: self.inertia.view(), force: &self.force, rows: &self.rows }
    }
    /// The numbers under `key`.
    pub fn numbers(&self, key: &str) -> Vec<f64> {
        numbers(&self.json[key])
    }
}

/// A symmetric matrix by its lower triangle, row by row, each from the diagonal down.
#[derive(Clone)]
pub struct Inertia {
    rows: Vec<Range<usize>>,
    columns: Vec<usize>,
    /// Its entries.
    pub entries: Vec<f64>,
}

impl Inertia {
    /// Of all entries of an n × n matrix.
    pub fn dense(a: &[f64], n: usize) -> Self {
        let (mut rows, mut columns, mut entries) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..n {
            let start = columns.len();
            for j in (0..=i).rev() {
                // The pattern of a tree leaves out what is zero.
                if j == i || a[i * n + j] != 0.0 {
                    columns.push(j);
                    entries.push(a[i * n + j]);
                }
            }
            rows.push(start..columns.len());
        }
        Self { rows, columns, entries }
    }
    /// As the solver takes it.
    pub fn view(&self) -> SymmetricRows<'_> {
        SymmetricRows { rows: &self.rows, columns: &self.columns, entries: &self.entries }
    }
}

/// An array of numbers.
pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// All dumps.
pub fn snapshots() -> Vec<Snapshot> {
    let text = include_str!("../data/mujoco/constraint_snapshots.json");
    let all: Vec<Value> = serde_json::from_str(text).unwrap();
    all.into_iter().map(read).collect()
}

fn read(json: Value) -> Snapshot {
    let n = json["nv"].as_u64().unwrap() as usize;
    let mut mass_matrix = vec![0.0; n * n];
    for entry in json["qM"].as_array().unwrap() {
        let (i, j) = (entry[0].as_u64().unwrap() as usize, entry[1].as_u64().unwrap() as usize);
        mass_matrix[i * n + j] = entry[2].as_f64().unwrap();
        mass_matrix[j * n + i] = entry[2].as_f64().unwrap();
    }
    Snapshot {
        name: json["name"].as_str().unwrap().to_owned(),
        force: numbers(&json["qfrc_smooth"]),
        rows: rows(&json),
        json,
        inertia: Inertia::dense(&mass_matrix, n),
    }
}

fn rows(json: &Value) -> Rows {
    let kinds = numbers(&json["type"]);
    let (reference, mass) = (numbers(&json["aref"]), numbers(&json["D"]));
    let loss = numbers(&json["frictionloss"]);
    let jacobian: Vec<Vec<(usize, f64)>> = json["J"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let entries = row.as_array().unwrap().iter();
            entries.map(|e| (e[0].as_u64().unwrap() as usize, e[1].as_f64().unwrap())).collect()
        })
        .collect();
    let mut rows = Rows::new();
    let mut r = 0;
    while r < kinds.len() {
        let (law, dim) = match kinds[r] as u8 {
            0 => (Law::Equality, 1),
            1 | 2 => (Law::Friction, 1),
            3..=6 => (Law::Unilateral, 1),
            _ => {
                let id = json["id"][r].as_u64().unwrap() as usize;
                let contact = &json["contact"][id];
                let dim = contact["dim"].as_u64().unwrap() as usize;
                let friction = numbers(&contact["friction"]).try_into().unwrap();
                let mu = contact["mu"].as_f64().unwrap();
                rows.cones.push(Cone { row: r, dim, mu, friction });
                (Law::Elliptic, dim)
            }
        };
        // Rows of one cone have the same dofs.
        let mut dofs: Vec<usize> =
            jacobian[r..r + dim].iter().flatten().map(|entry| entry.0).collect();
        dofs.sort_unstable();
        dofs.dedup();
        for k in r..r + dim {
            for &dof in &dofs {
                let found = jacobian[k].iter().find(|entry| entry.0 == dof);
                rows.entry(dof, found.map_or(0.0, |entry| entry.1));
            }
            rows.push(law, reference[k], mass[k], loss[k]);
        }
        r += dim;
    }
    rows
}
