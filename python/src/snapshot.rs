//! Single steps, and what they compute on the way.

use costate::dynamics::rigid::Evaluation;
use costate::dynamics::{Snapshot, StepInputs, System};
use costate::model::State;
use costate::num::Vec3;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::arrays::{array, numbers};
use crate::errors::{Result, invalid};
use crate::interrupt::detached;
use crate::model::Model;
use crate::setup::{Ready, Setup};

/// Contacts as columns: one entry for each.
#[derive(Default)]
struct Contacts {
    /// Which of the states it is of.
    state: Vec<usize>,
    first: Vec<String>,
    second: Vec<String>,
    /// The soft vertex; −1 between rigid geoms.
    vertex: Vec<i64>,
    position: Vec<f64>,
    /// Normal from the first to the second, then two tangents.
    frame: Vec<f64>,
    distance: Vec<f64>,
    /// Along the frame, then about it.
    force: Vec<f64>,
    /// Its first row among the constraints; −1 of soft vertices.
    row: Vec<i64>,
}

impl Contacts {
    /// Adds those of a state.
    fn push(&mut self, system: &System, state: usize, q: &[f64], snapshot: &Snapshot) {
        let model = system.model();
        for (geom, touch) in &snapshot.touches {
            let body = model.soft.iter().enumerate().rev();
            let body = body.map(|(i, b)| (model.first_vertex(i), b));
            let body = body.into_iter().find(|(first, _)| *first <= touch.vertex);
            self.state.push(state);
            self.first.push(geom.clone());
            self.second.push(body.map_or_else(String::new, |(_, b)| b.name.clone()));
            self.vertex.push(touch.vertex as i64);
            self.position.extend_from_slice(&q[3 * touch.vertex..3 * touch.vertex + 3]);
            let (n, push) = (touch.normal, touch.push);
            let [t, s] = tangents(n);
            for axis in [n, t, s] {
                self.frame.extend(axis.to_array());
            }
            self.distance.push(-touch.depth);
            self.force.extend([n.dot(push), t.dot(push), s.dot(push), 0.0, 0.0, 0.0]);
            self.row.push(-1);
        }
        let Some(evaluation) = &snapshot.articulated else { return };
        let constraints = &evaluation.stage.constraints;
        let of_contacts = constraints
            .items
            .iter()
            .filter_map(|item| Some((item, evaluation.stage.contact_force(item)?)));
        for ((item, force), contact) in of_contacts.zip(&constraints.contacts) {
            let [a, b] = contact.candidate.geoms.map(|g| system.rigid_geom_name(g).to_owned());
            self.state.push(state);
            self.first.push(a);
            self.second.push(b);
            self.vertex.push(-1);
            self.position.extend(contact.touch.position.to_array());
            let [t, s] = contact.tangents;
            for axis in [contact.touch.normal, t, s] {
                self.frame.extend(axis.to_array());
            }
            self.distance.push(contact.touch.distance);
            self.force.extend(force);
            self.row.push(item.row as i64);
        }
    }

    fn into_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let out = PyDict::new(py);
        let n = self.state.len();
        out.set_item("state", self.state)?;
        out.set_item("first", self.first)?;
        out.set_item("second", self.second)?;
        out.set_item("vertex", self.vertex)?;
        out.set_item("position", array(py, self.position, &[n, 3])?)?;
        out.set_item("frame", array(py, self.frame, &[n, 3, 3])?)?;
        out.set_item("distance", array(py, self.distance, &[n])?)?;
        out.set_item("force", array(py, self.force, &[n, 6])?)?;
        out.set_item("row", self.row)?;
        Ok(out)
    }
}

/// Two unit vectors across a unit normal and each other.
fn tangents(n: Vec3<f64>) -> [Vec3<f64>; 2] {
    let along = if n.x.abs() < 0.5 { Vec3::new(1.0, 0.0, 0.0) } else { Vec3::new(0.0, 1.0, 0.0) };
    let (t, _) = (along - n * n.dot(along)).normalize();
    [t, n.cross(t)]
}

/// The inputs at a time.
fn inputs_at(setup: &Setup, time: f64) -> Vec<f64> {
    let mut u = Vec::new();
    setup.inputs.sample(setup.compiled.system.channels(), time, &mut u);
    u
}

/// The start of a run, at another time.
fn start(ready: &Ready, time: f64) -> State {
    let flag = false.into();
    State { time, ..ready.run(&flag).start() }
}

#[pymethods]
impl Model {
    /// The state one step after that of a setup, taken to be at `time`: `(q, v, act, time)`.
    fn step<'py>(
        &self,
        py: Python<'py>,
        item: &Bound<'py, PyTuple>,
        time: f64,
    ) -> Result<Bound<'py, PyTuple>> {
        let setup = Setup::read(self, item, None)?;
        let next = detached(py, 0, |_| {
            let (system, ready) = (&setup.compiled.system, setup.ready()?);
            let step = step_of(system, time)?;
            let state = start(&ready, time);
            let h = system.timestep();
            let now = inputs_at(&setup, time);
            let next_u = inputs_at(&setup, (step + 1) as f64 * h);
            let (mut next, mut ws) = (State::default(), system.workspace());
            let u = StepInputs { now: &now, next: &next_u };
            system.step(ready.constants(), &state, u, step, &mut next, &mut ws)?;
            Ok(next)
        })?;
        let flat = |values: Vec<f64>| {
            let n = [values.len()];
            array(py, values, &n)
        };
        let parts = (flat(next.q)?, flat(next.v)?, flat(next.act)?, next.time);
        Ok(parts.into_pyobject(py)?)
    }

    /// What the step at the state of a setup, taken to be at `time`, computes on the way, by name.
    fn snapshot<'py>(
        &self,
        py: Python<'py>,
        item: &Bound<'py, PyTuple>,
        time: f64,
    ) -> Result<Bound<'py, PyDict>> {
        let setup = Setup::read(self, item, None)?;
        let system = &setup.compiled.system;
        let (state, snapshot, masses) = detached(py, 0, |_| {
            let ready = setup.ready()?;
            step_of(system, time)?;
            let state = start(&ready, time);
            let c = ready.constants();
            let snapshot = system.snapshot(c, &state, &inputs_at(&setup, time))?;
            let inverse = &c.values[system.layout().inverse_mass.clone()];
            let masses: Vec<f64> = inverse.iter().map(|w| w.recip()).collect();
            Ok((state, snapshot, masses))
        })?;
        let mut contacts = Contacts::default();
        contacts.push(system, 0, &state.q, &snapshot);
        let out = PyDict::new(py);
        out.set_item("contacts", contacts.into_dict(py)?)?;
        let flat = |values: Vec<f64>| {
            let n = [values.len()];
            array(py, values, &n)
        };
        let vertices = system.vertex_count();
        out.set_item("masses", flat(masses)?)?;
        out.set_item("forces", array(py, snapshot.force, &[vertices, 3])?)?;
        out.set_item("acceleration", flat(snapshot.acceleration)?)?;
        out.set_item("controls", flat(snapshot.controls)?)?;
        if let Some(evaluation) = snapshot.articulated {
            articulated(py, system, &evaluation, &out)?;
        }
        Ok(out)
    }

    /// The contacts at states `[states, …]` and times of a motion with a setup's parameters and controls.
    fn contacts<'py>(
        &self,
        py: Python<'py>,
        item: &Bound<'py, PyTuple>,
        states: (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>),
    ) -> Result<Bound<'py, PyDict>> {
        let setup = Setup::read(self, item, None)?;
        let system = &setup.compiled.system;
        let read = |x: &Bound<'py, PyAny>, what| Ok::<_, crate::errors::Fault>(numbers(x, what)?.0);
        let (time, q) = (read(&states.0, "times")?, read(&states.1, "q")?);
        let (v, act) = (read(&states.2, "v")?, read(&states.3, "act")?);
        let lengths = [system.position_len(), system.dof(), system.activation_len()];
        for (values, length) in [&q, &v, &act].into_iter().zip(lengths) {
            if values.len() != length * time.len() {
                return invalid("the states are not of this model");
            }
        }
        let contacts = detached(py, system.dof().saturating_mul(time.len()), |interrupt| {
            let ready = setup.ready()?;
            let mut contacts = Contacts::default();
            for (i, &time) in time.iter().enumerate() {
                if interrupt.load(std::sync::atomic::Ordering::Relaxed) {
                    return Err(costate::dynamics::DynamicsError::Interrupted.into());
                }
                let part = |all: &[f64], n: usize| all[i * n..(i + 1) * n].to_vec();
                let state = State {
                    time,
                    q: part(&q, lengths[0]),
                    v: part(&v, lengths[1]),
                    act: part(&act, lengths[2]),
                };
                let u = inputs_at(&setup, time);
                let snapshot = system.snapshot(ready.constants(), &state, &u)?;
                contacts.push(system, i, &state.q, &snapshot);
            }
            Ok(contacts)
        })?;
        Ok(contacts.into_dict(py)?)
    }
}

/// The step that starts at a time.
fn step_of(system: &System, time: f64) -> Result<usize> {
    if !(time.is_finite() && time >= 0.0) {
        return invalid(format!("{time} s is no time of the simulation"));
    }
    Ok((time / system.timestep()).round() as usize)
}

/// The dynamics of articulated bodies by name.
fn articulated<'py>(
    py: Python<'py>,
    system: &System,
    evaluation: &Evaluation,
    out: &Bound<'py, PyDict>,
) -> Result<()> {
    let (Some(a), Some(model)) = (system.articulated(), &system.model().articulation) else {
        return Ok(());
    };
    let (tree, d) = (a.tree(), &evaluation.dynamics);
    let n = tree.nv;
    out.set_item("mass_matrix", array(py, d.mass.to_dense(tree), &[n, n])?)?;
    let forces = [
        ("bias", &d.qfrc_bias),
        ("passive", &d.qfrc_passive),
        ("actuator", &d.qfrc_actuator),
        ("smooth", &d.qfrc_smooth),
        ("constraint", &evaluation.qfrc_constraint),
        ("qacc", &evaluation.qacc),
        ("qacc_smooth", &d.qacc_smooth),
    ];
    for (name, values) in forces {
        out.set_item(name, array(py, values.clone(), &[n])?)?;
    }
    let actuators: Vec<&str> = model.actuators.iter().map(|a| a.name.as_str()).collect();
    let force = d.actuation.force[..actuators.len()].to_vec();
    out.set_item("actuator_force", array(py, force, &[actuators.len()])?)?;
    out.set_item("actuators", actuators)?;
    let names: Vec<&str> = model.bodies.iter().map(|b| b.name.as_str()).collect();
    let bodies = names.len();
    out.set_item("bodies", names)?;
    let k = &d.kinematics;
    let places = k.xpos.iter().flat_map(|x| x.to_array()).collect();
    out.set_item("body_positions", array(py, places, &[bodies, 3])?)?;
    let turns = k.xquat.iter().flat_map(|q| [q.w, q.v.x, q.v.y, q.v.z]).collect();
    out.set_item("body_orientations", array(py, turns, &[bodies, 4])?)?;
    out.set_item("rows", rows(py, system, evaluation)?)?;
    Ok(())
}

/// The rows of constraints as columns.
fn rows<'py>(
    py: Python<'py>,
    system: &System,
    evaluation: &Evaluation,
) -> Result<Bound<'py, PyDict>> {
    let (stage, n) = (&evaluation.stage, evaluation.qacc.len());
    let rows = &stage.constraints.rows;
    let m = rows.len();
    let out = PyDict::new(py);
    let (kinds, names) = (PyList::empty(py), PyList::empty(py));
    for item in &stage.constraints.items {
        let (kind, name) = system.constraint_name(evaluation, item.source);
        for _ in 0..item.count {
            kinds.append(kind)?;
            names.append(&name)?;
        }
    }
    let mut jacobian = vec![0.0; m * n];
    for r in 0..m {
        let (dofs, values) = rows.row(r);
        for (&dof, value) in dofs.iter().zip(values) {
            jacobian[r * n + dof] += value;
        }
    }
    out.set_item("kind", kinds)?;
    out.set_item("name", names)?;
    out.set_item("jacobian", array(py, jacobian, &[m, n])?)?;
    let each = |f: &dyn Fn(usize) -> f64| array(py, (0..m).map(f).collect(), &[m]);
    out.set_item("position", each(&|r| stage.constraints.position(r))?)?;
    out.set_item("velocity", each(&|r| stage.constraints.velocity(r))?)?;
    out.set_item("reference", each(&|r| rows.reference[r])?)?;
    out.set_item("mass", each(&|r| rows.mass[r])?)?;
    let solved = evaluation.solved.is_some();
    out.set_item("force", each(&|r| if solved { stage.solver.force[r] } else { 0.0 })?)?;
    Ok(out)
}
