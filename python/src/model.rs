//! The model class.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use costate::dynamics::contact::narrow_geom_warnings;
use costate::dynamics::observe::{Sample, SignalObserver, SignalSet};
use costate::dynamics::soft::{Registry, bulk_modulus_warnings};
use costate::dynamics::{LeafCheck, check};
use costate::formats::{Error, ErrorKind, ModelFile};
use costate::identify::Experiment;
use costate::identify::experiment::Tables;
use costate::model::{Extent, Leaf, State, Trajectory};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::arrays::{array, numbers};
use crate::compiled::{Cache, Compiled, Values, with_values};
use crate::errors::{Result, invalid};
use crate::interrupt::detached;
use crate::law::{Law, registry};
use crate::setup::{Setup, values};

/// Where a model comes from: what writes it back and makes it again.
#[derive(Clone)]
struct Source {
    file: Arc<ModelFile>,
    path: PathBuf,
    /// The scene's text, where it was made in code.
    text: Option<String>,
    /// What may be left out.
    allow: Vec<String>,
}

/// Signals with their names, compiled.
pub struct Signals {
    /// Name of each scalar signal.
    pub names: Vec<String>,
    /// SI unit of each.
    pub units: Vec<&'static str>,
    /// All signals at all times: value `s * times + t`.
    pub observer: Arc<SignalObserver>,
}

struct Kept {
    text: String,
    times: Vec<f64>,
    signals: Arc<Signals>,
}

/// How many sets of signals a model keeps compiled.
const KEPT: usize = 8;

/// A model with its compiled systems.
#[pyclass(frozen, module = "costate._costate")]
pub struct Model {
    /// What is simulated.
    pub model: costate::model::Model,
    /// Material laws.
    pub registry: Registry,
    source: Source,
    cache: Cache,
    observers: Mutex<Vec<Kept>>,
    stable: OnceLock<Option<(f64, f64, String)>>,
}

impl Model {
    fn new(model: costate::model::Model, source: Source, registry: Registry) -> Self {
        Self {
            model,
            registry,
            source,
            cache: Cache::default(),
            observers: Mutex::default(),
            stable: OnceLock::new(),
        }
    }

    /// The same source with another model.
    pub fn like(&self, model: costate::model::Model) -> Self {
        Self::new(model, self.source.clone(), self.registry.clone())
    }

    /// Reads a file; things of a robot that are not simulated are refused unless `allow` names them.
    pub fn of_file(path: &Path, allow: Vec<String>, registry: Registry) -> Result<Self> {
        let ending = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        if !ending.as_ref().is_some_and(|e| ENDINGS.contains(&e.as_str())) {
            return Err(Error::new(ErrorKind::Unsupported)
                .in_file(path)
                .expected(format!("a file whose name ends in .{}", ENDINGS.join(" or .")))
                .found(ending.map_or("no ending".into(), |e| format!(".{e}")))
                .into());
        }
        let file = ModelFile::read(path, &allow)?;
        let source = Source { file: Arc::new(file), path: path.to_path_buf(), text: None, allow };
        Ok(Self::new(source.file.model.clone(), source, registry))
    }

    /// The compiled system with the leaves that `values` and `wanted` name.
    pub fn compiled(&self, values: &Values, wanted: Option<&[String]>) -> Result<Arc<Compiled>> {
        self.cache.get(&self.model, &self.registry, values, wanted)
    }

    /// The signals described by `text` in the schema of experiment files, all at the given times.
    pub fn signals(&self, text: &str, times: &[f64]) -> Result<Arc<Signals>> {
        let mut kept = self.observers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = kept.iter().find(|k| k.text == text && k.times == times) {
            return Ok(found.signals.clone());
        }
        if let Some(bad) = times.iter().find(|t| !(t.is_finite() && **t >= 0.0)) {
            return invalid(format!("times: {bad} s is no time of the simulation"));
        }
        let described =
            Experiment::describe(self.model.clone(), "<experiment>", text, &Tables::new())?;
        if described.signals.is_empty() {
            return invalid("signals: name at least one");
        }
        let mut set = SignalSet { frames: described.frames, ..SignalSet::default() };
        for (signal, spec) in described.signals.into_iter().enumerate() {
            set.signals.push(spec.signal);
            set.samples.extend(times.iter().map(|&time| Sample { signal, time }));
        }
        let compiled = self.compiled(&Values::new(), None)?;
        let observer = Arc::new(SignalObserver::new(&compiled.system, &set)?);
        let signals = Arc::new(Signals {
            names: set.signals.iter().map(|s| s.name.clone()).collect(),
            units: set.signals.iter().map(|s| s.unit()).collect(),
            observer,
        });
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push(Kept { text: text.into(), times: times.to_vec(), signals: signals.clone() });
        Ok(signals)
    }
}

/// Endings that [`Model::load`] reads.
const ENDINGS: [&str; 4] = ["toml", "xml", "mjcf", "urdf"];

#[pymethods]
impl Model {
    /// Reads a file; the format follows from its ending.
    #[staticmethod]
    #[pyo3(signature = (path, laws = vec![], allow = vec![]))]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        laws: Vec<PyRef<'_, Law>>,
        allow: Vec<String>,
    ) -> Result<Self> {
        let registry = registry(&laws);
        detached(py, 0, |_| Self::of_file(&path, allow, registry))
    }

    /// Reads scene text; `path` is where relative paths start.
    #[staticmethod]
    #[pyo3(signature = (path, text, laws = vec![], allow = vec![]))]
    fn parse(
        py: Python<'_>,
        path: PathBuf,
        text: String,
        laws: Vec<PyRef<'_, Law>>,
        allow: Vec<String>,
    ) -> Result<Self> {
        let registry = registry(&laws);
        detached(py, 0, |_| {
            let file = Arc::new(ModelFile::parse_scene(&path, &text, &allow)?);
            let source = Source { file, path, text: Some(text), allow };
            Ok(Self::new(source.file.model.clone(), source, registry))
        })
    }

    /// What `parse` or, without text, `load`, and `with_values` need to make this model again: path,
    /// text, what may be left out, changed values.
    #[allow(clippy::type_complexity)]
    fn parts<'py>(
        &self,
        py: Python<'py>,
    ) -> Result<(PathBuf, Option<String>, Vec<String>, Bound<'py, PyDict>)> {
        let original = &self.source.file.model;
        let changed = PyDict::new(py);
        for (_, leaf) in self.model.leaves.iter() {
            let old = original.leaves.find(&leaf.path).map(|id| original.leaves.get(id));
            let same = old.is_ok_and(|old| {
                old.values.len() == leaf.values.len()
                    && old.values.iter().zip(&leaf.values).all(|(a, b)| a.to_bits() == b.to_bits())
            });
            if !same {
                changed.set_item(&leaf.path, array(py, leaf.values.clone(), &leaf.shape)?)?;
            }
        }
        let Source { path, text, allow, .. } = &self.source;
        Ok((path.clone(), text.clone(), allow.clone(), changed))
    }

    /// Writes the model as a file of the kind that it came from.
    fn save(&self, py: Python<'_>, path: PathBuf) -> Result<()> {
        detached(py, 0, |_| Ok(self.source.file.write_with_values(&self.model, &path)?))
    }

    /// What the file asks for, is not simulated, and was allowed to be left out.
    #[getter]
    fn left_out(&self) -> Vec<String> {
        self.source.file.left_out.clone()
    }

    /// Numbers of position coordinates, degrees of freedom and activations.
    #[getter]
    fn widths(&self) -> Result<(usize, usize, usize)> {
        let compiled = self.compiled(&Values::new(), None)?;
        let system = &compiled.system;
        Ok((system.position_len(), system.dof(), system.activation_len()))
    }

    /// Name, kind, and numbers of coordinates and of degrees of freedom of every joint, in the order
    /// of the state.
    #[getter]
    fn joints(&self) -> Vec<(String, &'static str, usize, usize)> {
        let joints = self.model.articulation.iter().flat_map(|a| &a.joints);
        joints.map(|j| (j.name.clone(), j.kind.name(), j.kind.nq(), j.kind.nv())).collect()
    }

    /// Names of the sensors of articulated bodies that are simulated, and how many numbers each gives.
    #[getter]
    fn sensors(&self) -> Vec<(String, usize)> {
        let sensors = self.model.articulation.iter().flat_map(|a| &a.sensors);
        sensors.map(|s| (s.name.clone(), s.kind.len())).collect()
    }

    #[getter]
    fn name(&self) -> &str {
        &self.model.name
    }

    #[getter]
    fn timestep(&self) -> f64 {
        self.model.options.timestep
    }

    #[getter]
    fn duration(&self) -> f64 {
        self.model.options.duration
    }

    #[getter]
    fn up_axis(&self) -> usize {
        self.model.options.up_axis
    }

    /// The same model with another time step, s.
    fn with_timestep(&self, timestep: f64) -> Result<Self> {
        if !(timestep.is_finite() && timestep > 0.0) {
            return invalid(format!("timestep: {timestep} s is no time step"));
        }
        let mut model = self.model.clone();
        model.options.timestep = timestep;
        Ok(self.like(model))
    }

    /// Name, first vertex and number of vertices of every soft body.
    #[getter]
    fn bodies(&self) -> Vec<(String, usize, usize)> {
        let bodies = self.model.soft.iter().enumerate();
        bodies.map(|(i, b)| (b.name.clone(), self.model.first_vertex(i), b.vertex_count)).collect()
    }

    /// Name, size and unit of every input.
    #[getter]
    fn inputs(&self) -> Vec<(String, usize, &'static str)> {
        self.model.inputs().into_iter().map(|c| (c.name, c.size, c.unit)).collect()
    }

    /// Paths of all leaves.
    #[getter]
    fn paths(&self) -> Vec<String> {
        self.model.leaves.iter().map(|(_, leaf)| leaf.path.clone()).collect()
    }

    fn has(&self, path: &str) -> bool {
        self.model.leaves.find(path).is_ok()
    }

    /// The value of a leaf: a number, or an array of the leaf's shape.
    fn value<'py>(&self, py: Python<'py>, path: &str) -> Result<Bound<'py, PyAny>> {
        let leaf = self.find(path)?;
        Ok(array(py, leaf.values.clone(), &leaf.shape)?)
    }

    /// Value, unit, bounds, meaning, element and number of elements of a leaf.
    fn leaf<'py>(&self, py: Python<'py>, path: &str) -> Result<Bound<'py, PyTuple>> {
        let leaf = self.find(path)?;
        let value = array(py, leaf.values.clone(), &leaf.shape)?;
        let (element, count) = match &leaf.extent {
            Extent::Whole => (None, None),
            Extent::Field { count, element, .. } => (Some(*element), Some(*count)),
        };
        let b = leaf.bounds;
        Ok((value, leaf.unit, (b.lower, b.upper), &leaf.about, element, count).into_pyobject(py)?)
    }

    /// The same model with other values by path.
    fn with_values(&self, given: &Bound<'_, PyAny>) -> Result<Self> {
        let values = values(given)?;
        Ok(self.like(with_values(&self.model, &values)?))
    }

    /// Largest stable time step (s), what sets it, and warnings, at the model's own start.
    fn stability(&self, py: Python<'_>) -> Result<(f64, String, Vec<String>)> {
        detached(py, 0, |_| {
            let compiled = self.compiled(&Values::new(), None)?;
            let (system, c) = (&compiled.system, &compiled.constants);
            let u = vec![0.0; system.input_len()];
            let stable = system.stable_step(c, &system.initial_state(c, &u), &u);
            let mut warnings = bulk_modulus_warnings(&self.model, &self.registry);
            warnings.extend(narrow_geom_warnings(&self.model));
            Ok((stable.bound, stable.limited_by, warnings))
        })
    }

    /// Raises `UnstableStep` where the time step is beyond the largest stable one; estimated once.
    fn check_timestep(&self, py: Python<'_>) -> Result<()> {
        let known = match self.stable.get() {
            Some(known) => known.clone(),
            None => {
                let (bound, limited_by, _) = self.stability(py)?;
                let step = self.timestep();
                let known = (step > bound).then_some((step, bound, limited_by));
                self.stable.get_or_init(|| known).clone()
            }
        };
        match known {
            None => Ok(()),
            Some((step, bound, limited_by)) => {
                Err(costate::dynamics::DynamicsError::UnstableStep { step, bound, limited_by }
                    .into())
            }
        }
    }

    /// The state at time zero as `(q, v, act)`.
    fn initial_state<'py>(
        &self,
        py: Python<'py>,
        item: &Bound<'py, PyTuple>,
    ) -> Result<(Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let setup = Setup::read(self, item, None)?;
        let flag = false.into();
        let start = setup.ready()?.run(&flag).start();
        let flat = |values: Vec<f64>| {
            let n = [values.len()];
            array(py, values, &n)
        };
        Ok((flat(start.q)?, flat(start.v)?, flat(start.act)?))
    }

    /// Proves the derivative by every leaf over some steps, at the model's own values: for each the
    /// path, derivative, errors against differences and adjoint, influence, and whether it passes.
    #[allow(clippy::type_complexity)]
    fn check(
        &self,
        py: Python<'_>,
        item: &Bound<'_, PyTuple>,
        steps: usize,
    ) -> Result<Vec<(String, f64, f64, f64, bool, bool)>> {
        let setup = Setup::read(self, item, None)?;
        let size = setup.compiled.system.dof().saturating_mul(steps).saturating_mul(20);
        let checks = detached(py, size, |interrupt| {
            let system = &setup.compiled.system;
            Ok(check(system, &setup.inputs, steps, Some(interrupt))?)
        })?;
        let row = |c: LeafCheck| {
            let passes = c.passes();
            (c.path, c.derivative, c.difference_error, c.adjoint_error, c.influences, passes)
        };
        Ok(checks.into_iter().map(row).collect())
    }

    /// A picture of the motion with positions `[states, coordinates]` at `times`, as a GIF.
    fn gif(
        &self,
        py: Python<'_>,
        times: &Bound<'_, PyAny>,
        q: &Bound<'_, PyAny>,
    ) -> Result<Vec<u8>> {
        let (times, (q, shape)) = (numbers(times, "times")?.0, numbers(q, "positions")?);
        let compiled = self.compiled(&Values::new(), None)?;
        let n = compiled.system.position_len();
        if times.is_empty() || n == 0 || q.len() != times.len() * n {
            return invalid(format!("positions of shape {shape:?} are not of this model"));
        }
        let states = times.iter().zip(q.chunks(n));
        let states = states
            .map(|(&time, q)| State { time, q: q.to_vec(), v: vec![0.0; n], act: Vec::new() })
            .collect();
        detached(py, 0, |_| {
            let settings = costate::render::MotionSettings::default();
            Ok(costate::render::motion_gif(&self.model, &Trajectory { states }, &settings)?)
        })
    }

    /// Names and units of the scalar signals that `text` describes.
    fn signal_names(&self, text: &str) -> Result<(Vec<String>, Vec<&'static str>)> {
        let signals = self.signals(text, &[])?;
        Ok((signals.names.clone(), signals.units.clone()))
    }

    /// Surface triangles of every soft body by global vertex, `[n, 3]` end to end.
    #[getter]
    fn triangles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for (i, body) in self.model.soft.iter().enumerate() {
            let first = self.model.first_vertex(i) as u32;
            let faces = match (&body.membrane, &body.tetrahedra) {
                (Some(membrane), _) => membrane.triangles.clone(),
                (None, Some(t)) => costate::model::boundary_triangles(&t.indices),
                (None, None) => Vec::new(),
            };
            for face in faces {
                list.append(face.map(|v| v + first))?;
            }
        }
        Ok(list)
    }
}

/// Sample times from Python.
pub fn times(given: &Bound<'_, PyAny>) -> Result<Vec<f64>> {
    if given.is_none() { Ok(Vec::new()) } else { Ok(numbers(given, "times")?.0) }
}

impl Model {
    /// A leaf, of another view if need be.
    fn find(&self, path: &str) -> Result<Cow<'_, Leaf>> {
        if let Ok(id) = self.model.leaves.find(path) {
            return Ok(Cow::Borrowed(self.model.leaves.get(id)));
        }
        let viewed = self.model.with_views([path])?;
        match viewed.leaves.find(path) {
            Ok(id) => Ok(Cow::Owned(viewed.leaves.get(id).clone())),
            // Names the nearest paths of the model as it is.
            Err(_) => Ok(Cow::Borrowed(self.model.leaves.get(self.model.leaves.find(path)?))),
        }
    }
}
