//! One file per command.

pub mod check;
mod destination;
pub mod evaluate;
pub mod grad;
pub mod identify;
mod motion;
pub mod params;
pub mod report;
mod sensors;
pub mod simulate;

use std::path::Path;

use costate::formats::ModelFile;
use costate::identify::{Identification, RESULT_FILE};

use crate::args::SetArgs;
use crate::failure::Failure;

/// Reads a scene and applies `--keyframe` and `--set`.
pub fn scene(path: &Path, set: &SetArgs) -> Result<ModelFile, Failure> {
    let mut scene = ModelFile::read(path, &set.allow.allow)?;
    if let Some(keyframe) = &set.keyframe {
        scene.model = scene.model.started_at(keyframe)?;
    }
    for change in &set.set {
        let wrong = |what: &str| {
            Failure::refused("bad_argument", format!("--set {change}: {what}; give PATH=VALUE"))
        };
        let (leaf, values) = change.split_once('=').ok_or_else(|| wrong("has no `=`"))?;
        let values = values
            .split(',')
            .map(|v| v.trim().parse::<f64>().map_err(|_| wrong(&format!("`{v}` is no number"))))
            .collect::<Result<Vec<_>, _>>()?;
        scene.model = scene.model.with(leaf.trim(), &values)?;
    }
    Ok(scene)
}

/// Reads a result, from its file or its run folder.
pub fn result(path: &Path) -> Result<Identification, Failure> {
    let file = if path.is_dir() { path.join(RESULT_FILE) } else { path.to_path_buf() };
    Ok(Identification::read(&file)?)
}
