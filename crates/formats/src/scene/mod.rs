//! Scene files: TOML to [`Model`] and back.
//!
//! `docs/scene.md` describes every key. Paths of leaves and paths of keys are the same wherever
//! the format allows (`soft.beam.young`), so that a changed leaf is a changed number in the file.

mod control;
mod fields;
mod geom;
mod locate;
mod regions;
mod robot;
mod shape;
mod soft;
mod write;

use crate::error::{ErrorKind, Result};
use crate::toml_reader::{Node, Section, TomlFile};
use costate_model::Model;
use std::path::Path;

/// The version of the scene format that this crate reads.
pub const SCENE_VERSION: i64 = 1;

/// A scene: the model and the file that says it.
#[derive(Debug)]
pub struct Scene {
    /// What is simulated.
    pub model: Model,
    /// What of a robot need not be simulated although it affects the motion, by name.
    pub allow: Vec<String>,
    file: TomlFile,
}

impl Scene {
    /// Reads a scene file and the meshes that it names.
    ///
    /// # Errors
    /// Anything wrong with the file or a mesh, with its place.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_file(TomlFile::read(path)?)
    }

    /// Reads a scene from text; `path` is what errors call it and where relative paths start.
    ///
    /// # Errors
    /// As [`Scene::read`].
    pub fn parse(path: impl AsRef<Path>, text: &str) -> Result<Self> {
        Self::from_file(TomlFile::parse(path, text)?)
    }

    fn from_file(file: TomlFile) -> Result<Self> {
        let (model, allow) = read_model(&file)?;
        Ok(Self { model, allow, file })
    }

    /// The file with its text.
    pub fn file(&self) -> &TomlFile {
        &self.file
    }
}

fn read_model(file: &TomlFile) -> Result<(Model, Vec<String>)> {
    let root = file.root();
    check_version(&root, SCENE_VERSION)?;
    let stem = file.path().file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = root.or("name", stem, |n| n.string().map(str::to_owned))?;
    if let Some(robot) = root.get("robot") {
        let mut model = robot::read(&root, &robot)?;
        model.name = name;
        let allow = root.or("allow", Vec::new(), Node::strings)?;
        robot::read_soft(&root, &robot, &mut model)?;
        root.finish()?;
        return Ok((model, allow.into_iter().map(str::to_owned).collect()));
    }
    let mut model = Model::new(name);
    if let Some(option) = root.section("option")? {
        read_options(&option, &mut model)?;
    }
    for (name, node) in root.entries("soft")? {
        check_name(&name, &node)?;
        soft::read(&name, &node.section()?, &mut model)?;
    }
    for (name, node) in root.entries("geom")? {
        check_name(&name, &node)?;
        geom::read(&name, &node.section()?, &mut model)?;
    }
    root.finish()?;
    if model.soft.is_empty() {
        let advice = "a scene has at least one [soft.NAME], or a robot: robot = \"robot.xml\"";
        return Err(root.missing("soft").advice(advice));
    }
    Ok((model, Vec::new()))
}

/// Reads the key `costate`, the version of the format.
///
/// # Errors
/// It is missing, no integer, or another version than `supported`.
pub fn check_version(root: &Section<'_>, supported: i64) -> Result<()> {
    let version = root
        .req("costate", |n| Ok(n.clone()))
        .map_err(|e| e.advice(format!("begin the file with costate = {supported}")))?;
    match version.integer()? {
        v if v == supported => Ok(()),
        v => Err(version
            .error(ErrorKind::Unsupported)
            .expected(format!("version {supported} of the format"))
            .found(format!("{v}"))),
    }
}

fn read_options(option: &Section<'_>, model: &mut Model) -> Result<()> {
    let up = option.or("up", 2, |n| n.choice(&[("y", 1), ("z", 2)]))?;
    let mut down = [0.0; 3];
    down[up] = -9.81;
    let gravity = option.or("gravity", down, Node::vector::<3>)?;
    model.options.up_axis = up;
    model.options.timestep = option.or("timestep", model.options.timestep, Node::positive)?;
    model.options.duration = option.or("duration", model.options.duration, Node::positive)?;
    model.options.saltation = option.or("saltation", false, Node::boolean)?;
    let id = model.options.gravity;
    model.leaves.set(id, &gravity).map_err(|e| locate::translate(option.file(), e))?;
    option.finish()
}

/// Names become parts of leaf paths, which must stay readable and without ambiguity.
fn check_name(name: &str, node: &Node<'_>) -> Result<()> {
    let good = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(good) {
        return Ok(());
    }
    Err(node
        .error(ErrorKind::Syntax)
        .expected("a name of letters, digits, _ and -")
        .found(format!("\"{name}\"")))
}
