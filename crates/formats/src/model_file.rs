//! A model with the file that says it, whatever its format.

use std::io::Write;
use std::path::{Path, PathBuf};

use costate_model::Model;

use crate::error::{Error, ErrorKind, Result};
use crate::mjcf::{mjcf_with_values, read_mjcf};
use crate::scene::Scene;
use crate::text::read_text;
use crate::urdf::{read_urdf, urdf_with_values};
use crate::write::write_atomically;

/// A model with the file that says it.
#[derive(Debug)]
pub struct ModelFile {
    /// What is simulated.
    pub model: Model,
    /// What the file asks for, affects the motion, is not simulated, and was allowed: one sentence each.
    pub left_out: Vec<String>,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Scene(Box<Scene>),
    Mjcf(PathBuf),
}

impl ModelFile {
    /// Reads a scene (`.toml`) or a robot (MJCF `.xml`, URDF `.urdf`). Things of a robot's file that affect its
    /// motion and are not simulated are refused unless `allow` has their names.
    ///
    /// # Errors
    /// Anything wrong with the file or one that it names, with its place; something that is not
    /// simulated.
    pub fn read(path: impl AsRef<Path>, allow: &[String]) -> Result<Self> {
        let path = path.as_ref();
        let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        if !["xml", "mjcf", "urdf"].contains(&ending.as_str()) {
            return Self::of_scene(path, Scene::read(path)?, allow);
        }
        let mut model = if ending == "urdf" { read_urdf(path)? } else { read_mjcf(path)? };
        let left_out = refuse(path, &model, allow)?;
        if let Some(mut articulation) = model.articulation.take() {
            articulation
                .add_initial_state(&mut model.leaves, None)
                .map_err(|e| Error::new(ErrorKind::Conflict).in_file(path).found(e.to_string()))?;
            articulation.allowed = allow.to_vec();
            model.articulation = Some(articulation);
        }
        Ok(Self { model, left_out, source: Source::Mjcf(path.to_path_buf()) })
    }

    /// Reads a scene from text; `path` is what errors call it and where relative paths start.
    ///
    /// # Errors
    /// As [`ModelFile::read`].
    pub fn parse_scene(path: impl AsRef<Path>, text: &str, allow: &[String]) -> Result<Self> {
        let path = path.as_ref();
        Self::of_scene(path, Scene::parse(path, text)?, allow)
    }

    fn of_scene(path: &Path, scene: Scene, allow: &[String]) -> Result<Self> {
        let model = scene.model.clone();
        let left_out = refuse(path, &model, &[allow, &scene.allow].concat())?;
        Ok(Self { model, left_out, source: Source::Scene(Box::new(scene)) })
    }

    /// Writes the file to `target` with the values of `model`, which has the same structure: only the
    /// numbers that differ are replaced.
    ///
    /// # Errors
    /// A leaf that the file cannot hold, or a file that cannot be written.
    pub fn write_with_values(&self, model: &Model, target: &Path) -> Result<()> {
        match &self.source {
            Source::Scene(scene) => {
                let text = scene.with_values(model, target)?;
                write_atomically(target, |w| w.write_all(text.as_bytes()))
            }
            Source::Mjcf(path)
                if path.extension().is_none_or(|e| !e.eq_ignore_ascii_case("urdf")) =>
            {
                let text = mjcf_with_values(path, &read_text(path)?, model, target)?;
                write_atomically(target, |w| w.write_all(text.as_bytes()))
            }
            Source::Mjcf(path) => {
                let text = urdf_with_values(path, &read_text(path)?, model, target)?;
                write_atomically(target, |w| w.write_all(text.as_bytes()))
            }
        }
    }
}

/// What is left out of a model, in words; an error for the first thing that is not allowed.
fn refuse(path: &Path, model: &Model, allow: &[String]) -> Result<Vec<String>> {
    let Some(a) = &model.articulation else { return Ok(Vec::new()) };
    let mut left_out = Vec::new();
    let allowed = |name: &str| allow.iter().any(|a| a == name);
    for thing in &a.unsupported {
        let text = format!("{} is not simulated ({}): {}", thing.name, thing.place, thing.about);
        if !allowed(&thing.name) {
            return Err(Error::new(ErrorKind::Unsupported)
                .in_file(path)
                .element(&thing.name)
                .found(text)
                .advice(format!("simulate without it by `--allow {}`", thing.name)));
        }
        left_out.push(text);
    }
    Ok(left_out)
}
