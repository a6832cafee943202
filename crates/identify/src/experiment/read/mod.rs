//! The experiment file: TOML, described key by key in `docs/experiment.md`.

mod column;
mod method;
mod parameter;
mod point;
mod recording;
mod signal;

use std::collections::BTreeMap;
use std::path::Path;

use costate_dynamics::observe::Frame;
use costate_formats::scene::check_version;
use costate_formats::table::Table;
use costate_formats::toml_reader::{Node, TomlFile};
use costate_formats::{ErrorKind, ModelFile, Result};
use costate_model::{Model, ModelError};

use super::{Experiment, Place};
use crate::error::IdentifyError;
use signal::SignalColumns;

/// The version of the experiment format that this crate reads.
pub const EXPERIMENT_VERSION: i64 = 1;

impl Experiment {
    /// Reads an experiment file with its scene and its recordings.
    ///
    /// # Errors
    /// Anything wrong with one of the files, with its place; an experiment that contradicts
    /// itself.
    pub fn read(path: impl AsRef<Path>) -> std::result::Result<Self, IdentifyError> {
        Self::read_allowing(path, &[])
    }

    /// As [`read`](Self::read), simulating without what `allow` names although it affects the motion.
    ///
    /// # Errors
    /// As [`Experiment::read`].
    pub fn read_allowing(
        path: impl AsRef<Path>,
        allow: &[String],
    ) -> std::result::Result<Self, IdentifyError> {
        let file = TomlFile::read(path)?;
        Ok(read(&file, None, &Tables::new(), allow)?)
    }

    /// Reads an experiment from text; `path` is what errors call it and where relative paths
    /// start.
    ///
    /// # Errors
    /// As [`Experiment::read`].
    pub fn parse(path: impl AsRef<Path>, text: &str) -> std::result::Result<Self, IdentifyError> {
        let file = TomlFile::parse(path, text)?;
        Ok(read(&file, None, &Tables::new(), &[])?)
    }

    /// An experiment with a model and tables made in code, described in `text` as a file would
    /// describe it but for the key `scene`. `file = "NAME"` of a recording is the table of that
    /// name in `tables`, or else a file. There may be no recordings: signals alone describe what
    /// can be observed, parameters alone a selection.
    ///
    /// # Errors
    /// As [`Experiment::read`]; `path` is what errors call the text.
    pub fn describe(
        model: Model,
        path: impl AsRef<Path>,
        text: &str,
        tables: &Tables,
    ) -> std::result::Result<Self, IdentifyError> {
        let file = TomlFile::parse(path, text)?;
        Ok(read(&file, Some(model), tables, &[])?)
    }
}

/// Where a value is written.
pub(super) fn place(node: &Node<'_>) -> Place {
    let (line, column) = node.file().position(node.span().start);
    Place { file: Some(node.file().path().to_path_buf()), line, column }
}

/// Names are parts of dotted paths.
fn check_name(name: &str, node: &Node<'_>) -> Result<()> {
    let fine = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(fine) {
        return Ok(());
    }
    Err(node
        .error(ErrorKind::OutOfBounds)
        .expected("a name of letters, digits, _ and -")
        .found(format!("\"{name}\"")))
}

/// Tables by the names that recordings call them.
pub type Tables = BTreeMap<String, Table>;

fn read(
    file: &TomlFile,
    model: Option<Model>,
    tables: &Tables,
    allow: &[String],
) -> Result<Experiment> {
    let root = file.root();
    check_version(&root, EXPERIMENT_VERSION)?;
    let stem = file.path().file_stem().unwrap_or_default().to_string_lossy().into_owned();
    // An experiment in a folder of its own is called after the folder.
    let path = std::path::absolute(file.path()).unwrap_or_else(|_| file.path().to_path_buf());
    let folder = path.parent().and_then(Path::file_name).map(|f| f.to_string_lossy());
    let default = match (stem.as_str(), folder) {
        ("experiment", Some(folder)) => folder.into_owned(),
        _ => stem,
    };
    let name = root.or("name", default, run_name)?;
    let in_code = model.is_some();
    let mut experiment = match model {
        Some(model) => Experiment::new(name, model),
        None => {
            let scene = root.req("scene", Node::file_path)?;
            let strings =
                |n: &Node<'_>| n.strings().map(|s| s.into_iter().map(str::to_owned).collect());
            let mut allowed: Vec<String> = root.or("allow", Vec::new(), strings)?;
            allowed.extend_from_slice(allow);
            let found = ModelFile::read(&scene, &allowed)?;
            let model = match root.get("keyframe") {
                Some(node) => {
                    let refused =
                        |e: ModelError| node.error(ErrorKind::UnknownName).found(e.to_string());
                    found.model.started_at(node.string()?).map_err(refused)?
                }
                None => found.model,
            };
            let mut experiment = Experiment::new(name, model);
            experiment.left_out = found.left_out;
            experiment.allow = allowed;
            experiment.scene = Some(scene);
            experiment
        }
    };
    if let Some(node) = root.get("smoothing") {
        experiment.model.options.smoothing = node.non_negative()?;
    }
    experiment.frames = frames(&root)?;
    let mut columns: Vec<SignalColumns> = Vec::new();
    for (name, node) in root.entries("signal")? {
        check_name(&name, &node)?;
        columns.push(signal::read(&name, &node, &mut experiment)?);
    }
    if columns.is_empty() && !(in_code && root.get("recording").is_none()) {
        return Err(root.missing("signal").advice("describe what is measured in [signal.NAME]"));
    }
    for (name, node) in root.entries("recording")? {
        check_name(&name, &node)?;
        recording::read(&name, &node, &columns, tables, &mut experiment)?;
    }
    if experiment.recordings.is_empty() && !in_code {
        return Err(root.missing("recording").advice("name a data file in [recording.NAME]"));
    }
    if let Some(node) = root.get("validation") {
        validation(&node, &mut experiment)?;
    }
    for (path, node) in root.entries("parameters")? {
        experiment.parameters.push(parameter::read(&path, &node)?);
    }
    if let Some(section) = root.section("method")? {
        experiment.method = method::read(&section)?;
    }
    root.finish()?;
    Ok(experiment)
}

/// The name of an experiment, which is that of its run folder too: it must not lead out of it.
fn run_name(node: &Node<'_>) -> Result<String> {
    let name = node.string()?;
    let apart = |c: char| matches!(c, '/' | '\\') || c.is_control();
    if name.trim().is_empty() || name == "." || name == ".." || name.contains(apart) {
        return Err(node.out_of_bounds("a name for a folder, without slashes"));
    }
    Ok(name.to_owned())
}

fn frames(root: &costate_formats::toml_reader::Section<'_>) -> Result<Vec<Frame>> {
    let mut frames = Vec::new();
    for (name, node) in root.entries("frame")? {
        check_name(&name, &node)?;
        let section = node.section()?;
        frames.push(Frame {
            name,
            rotation: section.or("rotation", [0.0; 3], Node::vector::<3>)?,
            translation: section.or("translation", [0.0; 3], Node::vector::<3>)?,
            scale: section.or("scale", 1.0, Node::positive)?,
        });
        section.finish()?;
    }
    Ok(frames)
}

/// Recordings by name, or all parts of one that is split.
fn validation(node: &Node<'_>, experiment: &mut Experiment) -> Result<()> {
    for item in node.items().map_err(|e| e.expected("an array of names of recordings"))? {
        let name = item.string()?;
        let mut found = false;
        for recording in &mut experiment.recordings {
            if recording.name == name || recording::is_part(&recording.name, name) {
                recording.validation = true;
                found = true;
            }
        }
        if !found {
            let known: Vec<&str> = experiment.recordings.iter().map(|r| &*r.name).collect();
            return Err(item.unknown_name("a recording", known));
        }
    }
    if experiment.recordings.iter().all(|r| r.validation) {
        return Err(node
            .error(ErrorKind::Conflict)
            .expected("at least one recording to fit")
            .found("every recording kept for validation"));
    }
    Ok(())
}
