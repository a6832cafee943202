//! Motion files: states over time.

use std::path::Path;

use costate::dynamics::System;
use costate::formats::mesh::{VtkFrame, VtkSeries, VtkValues};
use costate::formats::table::{NamedArray, Table, write_csv, write_npz};
use costate::model::{Model, State, Trajectory};

use crate::failure::Failure;

/// Names of the columns: time, then position and velocity of every vertex.
fn names(model: &Model) -> Vec<String> {
    let mut names = vec!["t".to_string()];
    for part in ["", "v"] {
        for body in &model.soft {
            for i in 0..body.vertex_count {
                names.extend(["x", "y", "z"].map(|c| format!("soft.{}.{i}.{part}{c}", body.name)));
            }
        }
    }
    names
}

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

/// Writes a trajectory; the format follows from the ending.
pub fn write(path: &Path, model: &Model, trajectory: &Trajectory) -> Result<(), Failure> {
    let states = &trajectory.states;
    let times: Vec<f64> = states.iter().map(|s| s.time).collect();
    match format(path)? {
        Format::Npz => {
            let n = states.first().map_or(0, |s| s.q.len());
            let flat = |part: fn(&State) -> &Vec<f64>| -> Vec<f64> {
                states.iter().flat_map(|s| part(s).iter().copied()).collect()
            };
            let (q, v) = (flat(|s| &s.q), flat(|s| &s.v));
            let shape = [states.len(), n];
            let arrays = [
                NamedArray { name: "t", shape: &shape[..1], values: &times },
                NamedArray { name: "q", shape: &shape, values: &q },
                NamedArray { name: "v", shape: &shape, values: &v },
            ];
            Ok(write_npz(path, &arrays)?)
        }
        Format::Vtk => write_series(path, model, states),
        Format::Csv => {
            let names = names(model);
            let mut columns: Vec<Vec<f64>> = vec![times];
            for part in [0, 1] {
                let n = states.first().map_or(0, |s| s.q.len());
                columns.extend((0..n).map(|j| {
                    states.iter().map(|s| if part == 0 { s.q[j] } else { s.v[j] }).collect()
                }));
            }
            let columns: Vec<(&str, &[f64])> =
                names.iter().map(String::as_str).zip(columns.iter().map(Vec::as_slice)).collect();
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
    let n = system.dof();
    let last = table
        .rows()
        .checked_sub(1)
        .ok_or_else(|| Failure::refused("bad_input", "the file holds no state").in_file(path))?;
    let found = table.names().count();
    if found != 1 + 2 * n {
        let message = format!(
            "it is the motion of another scene: {found} columns where {} vertices take {}",
            system.vertex_count(),
            1 + 2 * n
        );
        return Err(Failure::refused("wrong_length", message).in_file(path));
    }
    let csv = names(system.model());
    let from_csv = table.names().any(|name| csv.get(1).is_some_and(|first| first == name));
    let read = |part: usize| -> Result<Vec<f64>, Failure> {
        (0..n)
            .map(|j| {
                let name = if from_csv {
                    csv[1 + part * n + j].clone()
                } else {
                    format!("{}[{j}]", ["q", "v"][part])
                };
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
    Ok(State { time: 0.0, q: read(0)?, v: read(1)? })
}
