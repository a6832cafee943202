//! θ → constants, with its tangent and adjoint.

use costate_model::{SoftBody, TetrahedraMass};
use costate_num::{Dual, DualN, Quat, Scalar, Vec3};

use crate::constants::Constants;
use crate::error::DynamicsError;
use crate::system::{Motion, System};

/// Where one vertex starts and how fast, from the body's pose and velocities.
struct Start<S> {
    position: Vec3<S>,
    rotation: Quat<S>,
    velocity: Vec3<S>,
    angular_velocity: Vec3<S>,
    vertex: Vec3<S>,
    vertex_velocity: Vec3<S>,
}

impl<S: Scalar> Start<S> {
    fn evaluate(&self) -> [Vec3<S>; 2] {
        let arm = self.rotation.normalize().rotate(self.vertex);
        let velocity = self.velocity + self.angular_velocity.cross(arm) + self.vertex_velocity;
        [self.position + arm, velocity]
    }
}

/// Number of entries of θ that a vertex's start depends on.
const INPUTS: usize = 19;

impl System {
    /// Computes every constant that the step reads.
    ///
    /// # Errors
    /// A wrong length of θ, a value out of its bounds, a free vertex without mass.
    pub fn derive(&self, theta: &[f64]) -> Result<Constants, DynamicsError> {
        self.model.leaves.with_theta(theta)?;
        let mut values = vec![0.0; self.layout.len];
        let gravity = self.model.leaves.range(self.model.options.gravity);
        values[self.layout.gravity.clone()].copy_from_slice(&theta[gravity]);
        let mut mass = vec![0.0; self.vertex_count()];
        self.masses(theta, &mut mass);
        values[self.layout.vertex_mass.clone()].copy_from_slice(&mass);
        for (i, (slot, &m)) in
            values[self.layout.inverse_mass.clone()].iter_mut().zip(&mass).enumerate()
        {
            if self.motion[i] == Motion::Free {
                if !(m > 0.0 && m.is_finite()) {
                    return Err(DynamicsError::Invalid(format!(
                        "{} weighs {m} kg; a free vertex needs a mass",
                        self.vertex_name(i)
                    )));
                }
                *slot = 1.0 / m;
            }
        }
        for (b, body) in self.model.soft.iter().enumerate() {
            let range = self.model.leaves.range(body.mass_damping);
            values[self.layout.mass_damping.start + b] = theta[range.start];
        }
        self.for_starts(|vertex, indices| {
            let start = inputs(theta, &indices).evaluate();
            for (slot, value) in self.start_slots(vertex).zip(flat(start)) {
                values[slot] = value;
            }
        });
        for (force, range) in self.forces.iter().zip(&self.layout.forces) {
            force.derive(theta, &mut values[range.clone()]);
        }
        if let Some(control) = &self.control {
            let range = self.layout.control.clone();
            for (slot, &at) in values[range].iter_mut().zip(&control.parameters) {
                *slot = theta[at];
            }
        }
        if let Some(coupling) = &self.coupling {
            coupling.derive(theta, &mut values[self.layout.coupling.clone()]);
        }
        if let Some(a) = &self.articulated {
            a.derive(theta, &self.layout, &mut values)?;
        }
        Ok(Constants { values })
    }

    /// Tangent of [`derive`](Self::derive): ċ for one θ̇.
    pub fn derive_pushforward(
        &self,
        theta: &[f64],
        constants: &Constants,
        theta_dot: &[f64],
    ) -> Vec<f64> {
        let mut c_dot = vec![0.0; self.layout.len];
        let gravity = self.model.leaves.range(self.model.options.gravity);
        c_dot[self.layout.gravity.clone()].copy_from_slice(&theta_dot[gravity]);
        let mut mass_dot = vec![0.0; self.vertex_count()];
        self.masses_pushforward(theta, theta_dot, &mut mass_dot);
        c_dot[self.layout.vertex_mass.clone()].copy_from_slice(&mass_dot);
        for (i, m_dot) in mass_dot.iter().enumerate() {
            let at = self.layout.inverse_mass.start + i;
            let w = constants.values[at];
            c_dot[at] = -w * w * m_dot;
        }
        for (b, body) in self.model.soft.iter().enumerate() {
            let range = self.model.leaves.range(body.mass_damping);
            c_dot[self.layout.mass_damping.start + b] = theta_dot[range.start];
        }
        self.for_starts(|vertex, indices| {
            let mut dual = [Dual::zero(); INPUTS];
            for (slot, &i) in dual.iter_mut().zip(&indices) {
                if i != usize::MAX {
                    *slot = Dual::new(theta[i], theta_dot[i]);
                }
            }
            let start = assemble(&dual).evaluate();
            for (slot, value) in self.start_slots(vertex).zip(flat(start)) {
                c_dot[slot] = value.tangent[0];
            }
        });
        for (force, range) in self.forces.iter().zip(&self.layout.forces) {
            force.derive_pushforward(theta, theta_dot, &mut c_dot[range.clone()]);
        }
        if let Some(control) = &self.control {
            let range = self.layout.control.clone();
            for (slot, &at) in c_dot[range].iter_mut().zip(&control.parameters) {
                *slot = theta_dot[at];
            }
        }
        if let Some(coupling) = &self.coupling {
            let range = self.layout.coupling.clone();
            coupling.derive_pushforward(theta, theta_dot, &mut c_dot[range]);
        }
        if let Some(a) = &self.articulated {
            a.derive_pushforward(theta, theta_dot, &self.layout, &mut c_dot);
        }
        c_dot
    }

    /// Adjoint of [`derive`](Self::derive): θ̄ for c̄; NaN for leaves that
    /// [`narrow`](Self::narrow) left out.
    pub fn derive_pullback(&self, theta: &[f64], constants: &Constants, c_bar: &[f64]) -> Vec<f64> {
        let mut theta_bar = vec![0.0; theta.len()];
        let gravity = self.model.leaves.range(self.model.options.gravity);
        for (slot, bar) in theta_bar[gravity].iter_mut().zip(&c_bar[self.layout.gravity.clone()]) {
            *slot += bar;
        }
        let mass_bar: Vec<f64> = self
            .layout
            .inverse_mass
            .clone()
            .zip(self.layout.vertex_mass.clone())
            .map(|(at, at_mass)| {
                let w = constants.values[at];
                c_bar[at_mass] - w * w * c_bar[at]
            })
            .collect();
        self.masses_pullback(theta, &mass_bar, &mut theta_bar);
        for (b, body) in self.model.soft.iter().enumerate() {
            let range = self.model.leaves.range(body.mass_damping);
            theta_bar[range.start] += c_bar[self.layout.mass_damping.start + b];
        }
        self.for_starts(|vertex, indices| {
            let mut dual = [DualN::<f64, INPUTS>::zero(); INPUTS];
            for (k, (slot, &i)) in dual.iter_mut().zip(&indices).enumerate() {
                if i != usize::MAX {
                    *slot = DualN::variable(theta[i], k);
                }
            }
            let start = assemble(&dual).evaluate();
            for (slot, value) in self.start_slots(vertex).zip(flat(start)) {
                let bar = c_bar[slot];
                if bar != 0.0 {
                    for (k, &i) in indices.iter().enumerate() {
                        if i != usize::MAX {
                            theta_bar[i] += bar * value.tangent[k];
                        }
                    }
                }
            }
        });
        for (force, range) in self.forces.iter().zip(&self.layout.forces) {
            force.derive_pullback(theta, &c_bar[range.clone()], &mut theta_bar);
        }
        if let Some(control) = &self.control {
            for (bar, &at) in c_bar[self.layout.control.clone()].iter().zip(&control.parameters) {
                theta_bar[at] += bar;
            }
        }
        if let Some(coupling) = &self.coupling {
            let range = self.layout.coupling.clone();
            coupling.derive_pullback(theta, &c_bar[range], &mut theta_bar);
        }
        if let Some(a) = &self.articulated {
            a.derive_pullback(theta, c_bar, &self.layout, &mut theta_bar);
        }
        if let Some(wanted) = &self.wanted {
            let unwanted =
                theta_bar.iter_mut().zip(&wanted.entries).filter(|(_, wanted)| !**wanted);
            unwanted.for_each(|(bar, _)| *bar = f64::NAN);
        }
        theta_bar
    }

    /// Vertex masses for θ, kg (fixed vertices too).
    pub fn vertex_masses(&self, theta: &[f64]) -> Vec<f64> {
        let mut mass = vec![0.0; self.vertex_count()];
        self.masses(theta, &mut mass);
        mass
    }

    fn masses(&self, theta: &[f64], mass: &mut [f64]) {
        for force in &self.forces {
            force.mass(theta, mass);
        }
        self.for_vertex_masses(|vertex, leaf, share| mass[vertex] += share * theta[leaf]);
    }

    fn masses_pushforward(&self, theta: &[f64], theta_dot: &[f64], mass_dot: &mut [f64]) {
        for force in &self.forces {
            force.mass_pushforward(theta, theta_dot, mass_dot);
        }
        self.for_vertex_masses(|vertex, leaf, share| mass_dot[vertex] += share * theta_dot[leaf]);
    }

    fn masses_pullback(&self, theta: &[f64], mass_bar: &[f64], theta_bar: &mut [f64]) {
        for force in &self.forces {
            force.mass_pullback(theta, mass_bar, theta_bar);
        }
        self.for_vertex_masses(|vertex, leaf, share| theta_bar[leaf] += share * mass_bar[vertex]);
    }

    /// Masses given per vertex, each a share of an entry of θ.
    fn for_vertex_masses(&self, mut visit: impl FnMut(usize, usize, f64)) {
        let leaves = &self.model.leaves;
        for (b, body) in self.model.soft.iter().enumerate() {
            let first = self.model.first_vertex(b);
            if let Some(id) = body.vertex_mass {
                let range = leaves.range(id);
                for i in 0..body.vertex_count {
                    let at = if range.len() == 1 { range.start } else { range.start + i };
                    visit(first + i, at, 1.0);
                }
            }
            if let Some(TetrahedraMass::GridCell { density, volume }) =
                body.tetrahedra.as_ref().map(|t| &t.mass)
            {
                for i in 0..body.vertex_count {
                    visit(first + i, leaves.range(*density).start, *volume);
                }
            }
            for point in &body.point_masses {
                let share = 1.0 / point.vertices.len() as f64;
                for &v in &point.vertices {
                    visit(first + v as usize, leaves.range(point.mass).start, share);
                }
            }
        }
    }

    /// Calls `visit` for every vertex with the entries of θ its start depends on
    /// (`usize::MAX` where the entry does not exist and the value is zero).
    fn for_starts(&self, mut visit: impl FnMut(usize, [usize; INPUTS])) {
        for (b, body) in self.model.soft.iter().enumerate() {
            let first = self.model.first_vertex(b);
            for i in 0..body.vertex_count {
                visit(first + i, self.start_indices(body, i));
            }
        }
    }

    fn start_indices(&self, body: &SoftBody, vertex: usize) -> [usize; INPUTS] {
        let leaves = &self.model.leaves;
        let mut out = [usize::MAX; INPUTS];
        let mut fill = |at: usize, count: usize, start: usize| {
            for k in 0..count {
                out[at + k] = start + k;
            }
        };
        fill(0, 3, leaves.range(body.position).start);
        fill(3, 4, leaves.range(body.rotation).start);
        fill(7, 3, leaves.range(body.velocity).start);
        fill(10, 3, leaves.range(body.angular_velocity).start);
        let vertices = body.start_position.unwrap_or(body.rest_position);
        fill(13, 3, leaves.range(vertices).start + 3 * vertex);
        if let Some(id) = body.start_velocity {
            fill(16, 3, leaves.range(id).start + 3 * vertex);
        }
        out
    }

    fn start_slots(&self, vertex: usize) -> impl Iterator<Item = usize> {
        let x = self.layout.start_position.start + 3 * vertex;
        let v = self.layout.start_velocity.start + 3 * vertex;
        (x..x + 3).chain(v..v + 3)
    }

    /// Name of a vertex for messages.
    pub fn vertex_name(&self, vertex: usize) -> String {
        let b = self.body_of[vertex] as usize;
        format!("soft.{} vertex {}", self.model.soft[b].name, vertex - self.model.first_vertex(b))
    }
}

fn flat<S: Scalar>([x, v]: [Vec3<S>; 2]) -> [S; 6] {
    [x.x, x.y, x.z, v.x, v.y, v.z]
}

fn assemble<S: Scalar>(a: &[S; INPUTS]) -> Start<S> {
    let vec = |i: usize| Vec3::new(a[i], a[i + 1], a[i + 2]);
    Start {
        position: vec(0),
        rotation: Quat::new(a[3], a[4], a[5], a[6]),
        velocity: vec(7),
        angular_velocity: vec(10),
        vertex: vec(13),
        vertex_velocity: vec(16),
    }
}

fn inputs(theta: &[f64], indices: &[usize; INPUTS]) -> Start<f64> {
    let mut values = [0.0; INPUTS];
    for (slot, &i) in values.iter_mut().zip(indices) {
        if i != usize::MAX {
            *slot = theta[i];
        }
    }
    assemble(&values)
}
