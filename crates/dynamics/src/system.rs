//! A model compiled for simulation.

use costate_model::{InputChannel, Model, State};

use crate::articulated::{Articulated, RigidScratch};
use crate::constants::{Constants, Layout};
use crate::control::Control;
use crate::coupling::{Coupling, CouplingScratch};
use crate::error::DynamicsError;
use crate::force::{Force, Scratch};
use crate::soft;
use crate::step::{StateAdjoint, StateTangents};
use crate::wanted::Wanted;

/// What drives a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Motion {
    /// Forces.
    Free,
    /// Nothing: it stays.
    Fixed,
    /// The input channel that starts at this index.
    Path(usize),
}

/// A load input: its place among the inputs and the vertices that share it.
#[derive(Clone, Debug)]
pub(crate) struct LoadInput {
    pub input: usize,
    pub vertices: Vec<u32>,
}

/// A model compiled for simulation: structure and forces, but no physical number. Those come
/// from θ through [`derive`](System::derive).
pub struct System {
    pub(crate) model: Model,
    pub(crate) forces: Vec<Box<dyn Force>>,
    pub(crate) articulated: Option<Articulated>,
    pub(crate) control: Option<Control>,
    pub(crate) coupling: Option<Coupling>,
    pub(crate) layout: Layout,
    pub(crate) motion: Vec<Motion>,
    /// Soft body of each vertex.
    pub(crate) body_of: Vec<u32>,
    pub(crate) loads: Vec<LoadInput>,
    pub(crate) channels: Vec<InputChannel>,
    pub(crate) input_len: usize,
    /// What [`narrow`](Self::narrow) left; everything without it.
    pub(crate) wanted: Option<Wanted>,
}

/// Working memory for stepping on one thread; holds nothing between calls.
pub struct Workspace {
    pub(crate) scratch: Vec<Scratch>,
    pub(crate) force: Vec<f64>,
    pub(crate) lambda: Vec<f64>,
    /// Work λ·f of the forces at every vertex; empty where no adjoint of masses is wanted.
    pub(crate) work: Vec<f64>,
    /// Sums of parts of the vertices, of what all of them share.
    pub(crate) shared: Vec<f64>,
    /// Tangents of forces, in columns.
    pub(crate) tangent: Vec<f64>,
    pub(crate) rigid: Option<Box<RigidScratch>>,
    /// A promise that the last call was the step of the same state, whose evaluation the tangents of
    /// articulated bodies may use; it holds for one call.
    pub(crate) stepped: bool,
    pub(crate) coupling: Option<Box<CouplingScratch>>,
    /// The state after the step; only the saltation option fills it.
    pub(crate) next: State,
}

impl System {
    /// Compiles a model.
    ///
    /// # Errors
    /// An unknown law or a model that contradicts itself.
    pub fn new(model: &Model) -> Result<Self, DynamicsError> {
        Self::with_registry(model, &soft::Registry::default())
    }

    /// Compiles a model whose materials may be laws of the user's own.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_registry(model: &Model, registry: &soft::Registry) -> Result<Self, DynamicsError> {
        let vertices = model.vertex_count();
        let mut forces = soft::forces(model, registry)?;
        forces.extend(crate::contact::forces(model)?);
        let control = Control::new(model)?;
        let articulated = Articulated::new(model, control.as_ref())?;
        if articulated.is_none() && model.options.smoothing != 0.0 {
            let message = "option.smoothing is for the contacts of robots; this model has none";
            return Err(DynamicsError::Invalid(message.into()));
        }
        let mut sizes = articulated.as_ref().map(Articulated::sizes).unwrap_or_default();
        sizes.control = control.as_ref().map_or(0, |control| control.parameters.len());
        let coupling = Coupling::new(model)?;
        sizes.coupling = coupling.as_ref().map_or(0, Coupling::constants_len);
        let lengths = forces.iter().map(|f| f.constants_len());
        let layout = Layout::new(vertices, model.soft.len(), lengths, sizes);
        let channels = model.inputs();
        let mut starts = std::collections::HashMap::new();
        let mut input_len = 0;
        for channel in &channels {
            starts.insert(channel.name.clone(), input_len);
            input_len += channel.size;
        }
        let mut motion = vec![Motion::Free; vertices];
        let mut body_of = vec![0; vertices];
        let mut loads = Vec::new();
        for (b, body) in model.soft.iter().enumerate() {
            let first = model.first_vertex(b);
            body_of[first..first + body.vertex_count].fill(b as u32);
            for &v in &body.fixed {
                motion[first + v as usize] = Motion::Fixed;
            }
            for path in &body.paths {
                let input = starts[&format!("soft.{}.path.{}", body.name, path.name)];
                for &v in &path.vertices {
                    motion[first + v as usize] = Motion::Path(input);
                }
            }
            for load in &body.loads {
                loads.push(LoadInput {
                    input: starts[&format!("soft.{}.load.{}", body.name, load.name)],
                    vertices: load.vertices.iter().map(|v| v + first as u32).collect(),
                });
            }
        }
        Ok(Self {
            model: model.clone(),
            forces,
            articulated,
            control,
            coupling,
            layout,
            motion,
            body_of,
            loads,
            channels,
            input_len,
            wanted: None,
        })
    }

    /// The model it was compiled from.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// θ of the model.
    pub fn theta(&self) -> Vec<f64> {
        self.model.theta()
    }

    /// Number of soft vertices.
    pub fn vertex_count(&self) -> usize {
        self.motion.len()
    }

    /// Number of degrees of freedom: of velocities, and of tangents of positions.
    pub fn dof(&self) -> usize {
        self.soft_len() + self.articulated.as_ref().map_or(0, |a| a.tree().nv)
    }

    /// Number of position coordinates, with four for an orientation.
    pub fn position_len(&self) -> usize {
        self.soft_len() + self.articulated.as_ref().map_or(0, |a| a.tree().nq)
    }

    /// Number of activations, those of actuators and what the control remembers.
    pub fn activation_len(&self) -> usize {
        self.actuator_activation_len() + self.control.as_ref().map_or(0, |c| c.memory)
    }

    /// Number of activations of actuators, which come first.
    pub(crate) fn actuator_activation_len(&self) -> usize {
        self.articulated.as_ref().map_or(0, |a| a.tree().na)
    }

    /// Number of coordinates of soft vertices, which come first.
    pub(crate) fn soft_len(&self) -> usize {
        3 * self.motion.len()
    }

    /// Tangents of a state, zero.
    pub fn zero_tangents(&self, columns: usize) -> StateTangents {
        let zero = |n: usize| vec![0.0; n * columns];
        let (q, v) = (zero(self.dof()), zero(self.dof()));
        StateTangents { columns, q, v, act: zero(self.activation_len()) }
    }

    /// The adjoint of a state, zero.
    pub fn zero_adjoint(&self) -> StateAdjoint {
        let (q, v) = (vec![0.0; self.dof()], vec![0.0; self.dof()]);
        StateAdjoint { q, v, act: vec![0.0; self.activation_len()] }
    }

    /// The articulated bodies, if there are any.
    pub fn articulated(&self) -> Option<&Articulated> {
        self.articulated.as_ref()
    }

    /// What degree of freedom `j` moves, for messages.
    pub fn coordinate_name(&self, j: usize) -> String {
        match &self.articulated {
            Some(a) if j >= self.soft_len() => a.dof_name(&self.model, j - self.soft_len()),
            _ => self.vertex_name(j / 3),
        }
    }

    /// Name of a geom of articulated bodies, for messages.
    pub(crate) fn geom_name(&self, g: usize) -> &str {
        let a = self.model.articulation.as_ref();
        a.and_then(|a| a.geoms.get(g)).map_or("a geom", |geom| &geom.name)
    }

    /// Where each constant lies.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The forces, in the order of [`Layout::forces`].
    pub fn forces(&self) -> &[Box<dyn Force>] {
        &self.forces
    }

    /// The input channels.
    pub fn channels(&self) -> &[InputChannel] {
        &self.channels
    }

    /// Number of input values in all channels.
    pub fn input_len(&self) -> usize {
        self.input_len
    }

    /// The time step, s.
    pub fn timestep(&self) -> f64 {
        self.model.options.timestep
    }

    /// Working memory for one thread.
    pub fn workspace(&self) -> Workspace {
        Workspace {
            scratch: self.forces.iter().map(|f| f.scratch()).collect(),
            force: vec![0.0; self.soft_len()],
            lambda: vec![0.0; self.soft_len()],
            work: Vec::new(),
            shared: Vec::new(),
            tangent: Vec::new(),
            rigid: self.articulated.as_ref().map(|a| Box::new(a.scratch(self.control.as_ref()))),
            stepped: false,
            coupling: self.coupling_scratch(),
            next: State::default(),
        }
    }

    /// Promises that tangents of constants will be zero wherever the columns `c_dot` all are, until the
    /// next promise: steps' tangents then need not look for it.
    pub fn promise_tangents(&self, c_dot: &[f64], ws: &mut Workspace) {
        let Some(scratch) = &mut ws.rigid else { return };
        let rigid = self.layout.rigid.clone();
        let mut moved = vec![false; rigid.len()];
        for column in c_dot.chunks_exact(self.layout.len) {
            for (mark, x) in moved.iter_mut().zip(&column[rigid.clone()]) {
                *mark |= *x != 0.0;
            }
        }
        scratch.moved = Some((0..moved.len()).filter(|&i| moved[i]).collect());
    }

    /// The state at time zero for the inputs `u` there.
    pub fn initial_state(&self, c: &Constants, u: &[f64]) -> State {
        let mut q = c.values[self.layout.start_position.clone()].to_vec();
        for (i, motion) in self.motion.iter().enumerate() {
            if let Motion::Path(input) = *motion {
                for k in 0..3 {
                    q[3 * i + k] += u[input + k];
                }
            }
        }
        let mut v = c.values[self.layout.start_velocity.clone()].to_vec();
        let [qpos, qvel, act] = self.layout.rigid_start.clone().map(|range| &c.values[range]);
        q.extend_from_slice(qpos);
        v.extend_from_slice(qvel);
        let mut act = act.to_vec();
        act.resize(self.activation_len(), 0.0);
        State { time: 0.0, q, v, act }
    }

    /// Tangent of [`initial_state`](Self::initial_state), added to `tangents`; `c_dot` and
    /// `u_dot` are columns, or empty for zero.
    pub fn start_pushforward(
        &self,
        c: &Constants,
        c_dot: &[f64],
        u_dot: &[f64],
        tangents: &mut StateTangents,
    ) {
        let (n, na, soft) = (self.dof(), self.activation_len(), self.soft_len());
        for k in 0..tangents.columns {
            let (q, v) = (k * n..(k + 1) * n, k * n..(k + 1) * n);
            let (q, v) = (&mut tangents.q[q], &mut tangents.v[v]);
            let own = self.actuator_activation_len();
            let act = &mut tangents.act[k * na..k * na + own];
            if !c_dot.is_empty() {
                let c_dot = &c_dot[k * self.layout.len..(k + 1) * self.layout.len];
                let x0 = &c_dot[self.layout.start_position.clone()];
                let v0 = &c_dot[self.layout.start_velocity.clone()];
                for j in 0..soft {
                    q[j] += x0[j];
                    v[j] += v0[j];
                }
                if let Some(a) = &self.articulated {
                    let start = self.layout.rigid_start.clone();
                    let qpos = &c.values[start[0].clone()];
                    let dots = start.map(|range| &c_dot[range]);
                    a.start_pushforward(qpos, dots, [&mut q[soft..], &mut v[soft..], act]);
                }
            }
            if !u_dot.is_empty() {
                let u_dot = &u_dot[k * self.input_len..(k + 1) * self.input_len];
                for (i, motion) in self.motion.iter().enumerate() {
                    if let Motion::Path(input) = *motion {
                        for a in 0..3 {
                            q[3 * i + a] += u_dot[input + a];
                        }
                    }
                }
            }
        }
    }

    /// Adjoint of [`initial_state`](Self::initial_state), added to those of the constants and
    /// of the inputs.
    pub fn start_pullback(
        &self,
        c: &Constants,
        adjoint: &StateAdjoint,
        c_bar: &mut [f64],
        u_bar: &mut [f64],
    ) {
        let soft = self.soft_len();
        let parts = [
            (self.layout.start_position.clone(), &adjoint.q),
            (self.layout.start_velocity.clone(), &adjoint.v),
        ];
        for (range, bar) in parts {
            c_bar[range].iter_mut().zip(&bar[..soft]).for_each(|(a, b)| *a += b);
        }
        if let Some(a) = &self.articulated {
            let start = &self.layout.rigid_start;
            let qpos = &c.values[start[0].clone()];
            let act = &adjoint.act[..self.actuator_activation_len()];
            let bars = [&adjoint.q[soft..], &adjoint.v[soft..], act];
            a.start_pullback(qpos, bars, start, c_bar);
        }
        for (i, motion) in self.motion.iter().enumerate() {
            if let Motion::Path(input) = *motion {
                for a in 0..3 {
                    u_bar[input + a] += adjoint.q[3 * i + a];
                }
            }
        }
    }

    /// What constant `i` is, for messages.
    pub fn constant_name(&self, i: usize) -> String {
        let l = &self.layout;
        if l.gravity.contains(&i) {
            "option.gravity".into()
        } else if l.inverse_mass.contains(&i) {
            format!("mass of {}", self.vertex_name(i - l.inverse_mass.start))
        } else if l.mass_damping.contains(&i) {
            format!("soft.{}.mass_damping", self.model.soft[i - l.mass_damping.start].name)
        } else if l.start_position.contains(&i) {
            format!("start of {}", self.vertex_name((i - l.start_position.start) / 3))
        } else if l.start_velocity.contains(&i) {
            format!("start velocity of {}", self.vertex_name((i - l.start_velocity.start) / 3))
        } else if l.control.contains(&i) {
            let parameters = self.control.as_ref().map(|control| &control.parameters);
            let at = parameters.and_then(|p| p.get(i - l.control.start)).copied();
            let leaf = at.and_then(|at| self.model.leaves.locate(at));
            leaf.map_or("a gain".into(), |(id, _)| self.model.leaves.get(id).path.clone())
        } else if l.coupling.contains(&i) {
            let coupling = self.coupling.as_ref();
            coupling.map_or("a constant".into(), |x| x.constant_name(i - l.coupling.start))
        } else if l.rigid.contains(&i) || l.rigid_start.iter().any(|r| r.contains(&i)) {
            let a = self.articulated.as_ref();
            a.map_or("a constant".into(), |a| a.constant_name(&self.model, l, i))
        } else {
            let force = l.forces.iter().position(|r| r.contains(&i));
            force.map_or("a constant".into(), |f| {
                format!("a constant of {}", self.forces[f].label())
            })
        }
    }
}
