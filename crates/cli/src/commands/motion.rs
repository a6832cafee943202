//! Motion files: states over time.

use std::path::Path;

use costate::dynamics::System;
use costate::formats::mesh::{VtkFrame, VtkSeries, VtkValues};
use costate::formats::table::{NamedArray, Table, write_csv, write_npz};
use costate::model::{Model, State, Trajectory};

use super::sensors::PREFIX;
use crate::failure::Failure;

/// Names of the columns: positions, velocities, and `activations` numbers of actuators and of what the
/// control remembers, in the order of the state.
fn names(model: &Model, activations: usize) -> [Vec<String>; 3] {
    let vertices = |part: &str| -> Vec<String> {
        let of =
            |name: &str, i: usize| ["x", "y", "z"].map(|c| format!("soft.{name}.{i}.{part}{c}"));
        let bodies = model.soft.iter();
        bodies.flat_map(|b| (0..b.vertex_count).flat_map(|i| of(&b.name, i))).collect()
    };
    let [mut q, mut v, mut act] = [vertices(""), vertices("v"), Vec::new()];
    let numbered = |path: String, n: usize| -> Vec<String> {
        if n == 1 { vec![path] } else { (0..n).map(|i| format!("{path}.{i}")).collect() }
    };
    if let Some(a) = &model.articulation {
        for joint in &a.joints {
            q.extend(numbered(format!("joint.{}.qpos", joint.name), joint.kind.nq()));
            v.extend(numbered(format!("joint.{}.qvel", joint.name), joint.kind.nv()));
        }
        for actuator in &a.actuators {
            act.extend(numbered(
                format!("actuator.{}.act", actuator.name),
                actuator.law.activations(),
            ));
        }
    }
    let own = act.len();
    act.extend((own..activations).map(|i| format!("control.memory.{}", i - own)));
    [q, v, act]
}

/// The part of a state that [`names`] lists at a place.
fn part(state: &State, i: usize) -> &Vec<f64> {
    [&state.q, &state.v, &state.act][i]
}

const PARTS: [&str; 3] = ["q", "v", "act"];

/// How a motion is written.
pub enum Format {
    /// A table.
    Csv,
    /// Arrays `t`, `q` and `v`.
    Npz,
    /// A mesh for every state.
    Vtk,
}

/// The format that follows from the ending of a file's name.
pub fn format(path: &Path) -> Result<Format, Failure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    if name.ends_with(".npz") {
        Ok(Format::Npz)
    } else if name.ends_with(".vtk.series") || name.ends_with(".vtk") {
        Ok(Format::Vtk)
    } else if name.ends_with(".csv") {
        Ok(Format::Csv)
    } else {
        let message = "a motion is written as .csv, .npz or .vtk.series; rename the file";
        Err(Failure::refused("bad_argument", message).in_file(path))
    }
}

/// Writes a trajectory and, in tables, the columns of sensors; the format follows from the ending.
pub fn write(
    path: &Path,
    model: &Model,
    trajectory: &Trajectory,
    sensors: &[(String, Vec<f64>)],
) -> Result<(), Failure> {
    let states = &trajectory.states;
    let times: Vec<f64> = states.iter().map(|s| s.time).collect();
    match format(path)? {
        Format::Npz => {
            let flat = [0, 1, 2].map(|i| -> Vec<f64> {
                states.iter().flat_map(|s| part(s, i).iter().copied()).collect()
            });
            let shapes =
                [0, 1, 2].map(|i| [states.len(), states.first().map_or(0, |s| part(s, i).len())]);
            let count = [states.len()];
            let mut arrays = vec![NamedArray { name: "t", shape: &count, values: &times }];
            for i in 0..3 {
                // Only articulated bodies have activations.
                if i < 2 || shapes[i][1] > 0 {
                    arrays.push(NamedArray { name: PARTS[i], shape: &shapes[i], values: &flat[i] });
                }
            }
            let measured = sensors.iter();
            arrays.extend(measured.map(|(name, values)| NamedArray {
                name,
                shape: &count,
                values,
            }));
            Ok(write_npz(path, &arrays)?)
        }
        Format::Vtk => write_series(path, model, states),
        Format::Csv => {
            let names = names(model, states.first().map_or(0, |s| s.act.len()));
            let mut columns: Vec<Vec<f64>> = vec![times];
            for (i, names) in names.iter().enumerate() {
                let column = |j: usize| states.iter().map(|s| part(s, i)[j]).collect();
                columns.extend((0..names.len()).map(column));
            }
            let names = std::iter::once("t").chain(names.iter().flatten().map(String::as_str));
            let mut columns: Vec<(&str, &[f64])> =
                names.zip(columns.iter().map(Vec::as_slice)).collect();
            columns.extend(sensors.iter().map(|(name, values)| (name.as_str(), &values[..])));
            Ok(write_csv(path, &columns)?)
        }
    }
}

fn write_series(path: &Path, model: &Model, states: &[State]) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(Path::new(".")).to_path_buf();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split(".vtk").next().unwrap_or("motion").to_string();
    let mut tetrahedra = Vec::new();
    let mut triangles = Vec::new();
    let mut lines = Vec::new();
    for (b, body) in model.soft.iter().enumerate() {
        let first = model.first_vertex(b) as u32;
        if let Some(t) = &body.tetrahedra {
            tetrahedra.extend(t.indices.iter().map(|t| t.map(|v| v + first)));
        }
        if let Some(m) = &body.membrane {
            triangles.extend(m.triangles.iter().map(|t| t.map(|v| v + first)));
        }
        if let Some(s) = &body.springs {
            lines.extend(s.indices.iter().map(|t| t.map(|v| v + first)));
        }
    }
    let mut series = VtkSeries::new(folder, &stem, true);
    for state in states {
        let points = |values: &[f64]| -> Vec<[f64; 3]> {
            values.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect()
        };
        let (vertices, velocities) = (points(&state.q), points(&state.v));
        let frame = VtkFrame {
            points: &vertices,
            tetrahedra: &tetrahedra,
            triangles: &triangles,
            lines: &lines,
            point_data: &[("velocity", VtkValues::Vectors(&velocities))],
        };
        series.push(state.time, &frame)?;
    }
    series.finish()?;
    Ok(())
}

/// The last state of a motion file, to start from.
pub fn last_state(path: &Path, system: &System) -> Result<State, Failure> {
    let table = Table::read(path)?;
    let names = names(system.model(), system.activation_len());
    let expected = 1 + names.iter().map(Vec::len).sum::<usize>();
    let last = table
        .rows()
        .checked_sub(1)
        .ok_or_else(|| Failure::refused("bad_input", "the file holds no state").in_file(path))?;
    let found = table.names().filter(|name| !name.starts_with(PREFIX)).count();
    if found != expected {
        let message = format!(
            "it is the motion of another scene: {found} columns where this one has {expected}"
        );
        return Err(Failure::refused("wrong_length", message).in_file(path));
    }
    let from_csv = table.names().any(|name| names[0].first().is_some_and(|first| first == name));
    let read = |i: usize| -> Result<Vec<f64>, Failure> {
        names[i]
            .iter()
            .enumerate()
            .map(|(j, name)| {
                let name = if from_csv { name.clone() } else { format!("{}[{j}]", PARTS[i]) };
                let value = table.column(&name)?.values[last];
                if value.is_finite() {
                    Ok(value)
                } else {
                    let message = format!("`{name}` is missing in the last row");
                    Err(Failure::refused("bad_input", message).in_file(path))
                }
            })
            .collect()
    };
    Ok(State { time: 0.0, q: read(0)?, v: read(1)?, act: read(2)? })
}
