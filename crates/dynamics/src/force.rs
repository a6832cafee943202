//! A force: anything that pushes on vertices, with its derivatives.

use std::any::Any;

use crate::contact::OnsetForce;

/// Working memory of one force; each force knows its own kind.
pub type Scratch = Box<dyn Any + Send>;

/// Where forces are evaluated: positions and velocities (3 per vertex) and the input channels.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    /// Positions, m.
    pub x: &'a [f64],
    /// Velocities, m/s.
    pub v: &'a [f64],
    /// All input channels end to end.
    pub u: &'a [f64],
}

/// One or several tangents of an [`At`] and of a force's own constants; column k of a quantity
/// of length n is `[k n .. (k + 1) n]`.
#[derive(Clone, Copy, Debug)]
pub struct Tangents<'a> {
    /// How many columns.
    pub columns: usize,
    /// Of the positions.
    pub x: &'a [f64],
    /// Of the velocities.
    pub v: &'a [f64],
    /// Of the inputs.
    pub u: &'a [f64],
    /// Of this force's constants; may be empty, which means zero.
    pub c: &'a [f64],
}

impl Tangents<'_> {
    /// Column `k` alone, of a force with `constants` constants; what is zero stays empty.
    pub(crate) fn column(&self, k: usize, at: At, constants: usize) -> Self {
        fn part(values: &[f64], k: usize, len: usize) -> &[f64] {
            if values.is_empty() { values } else { &values[k * len..(k + 1) * len] }
        }
        let n = at.x.len();
        Self {
            columns: 1,
            x: part(self.x, k, n),
            v: part(self.v, k, n),
            u: part(self.u, k, at.u.len()),
            c: part(self.c, k, constants),
        }
    }
}

/// Where adjoints accumulate; all are added to.
#[derive(Debug)]
pub struct Adjoints<'a> {
    /// Of the positions.
    pub x: &'a mut [f64],
    /// Of the velocities.
    pub v: &'a mut [f64],
    /// Of the inputs.
    pub u: &'a mut [f64],
    /// Of this force's constants.
    pub c: &'a mut [f64],
    /// The work λ·f at every vertex, J, of which the adjoints of masses are made; empty where it is not wanted.
    /// Only [`Force::pullback`] adds to it.
    pub work: &'a mut [f64],
}

/// A force on vertices. Constants are a slice of the system's [`Constants`](crate::Constants);
/// all methods are pure given their arguments (scratch holds no state between calls), and give
/// the same bits on any number of threads.
pub trait Force: Send + Sync {
    /// What it is, for messages: "soft.beam tetrahedra".
    fn label(&self) -> &str;
    /// How many constants it reads.
    fn constants_len(&self) -> usize;
    /// Working memory for calls on one thread.
    fn scratch(&self) -> Scratch;

    /// Computes the constants from θ.
    fn derive(&self, theta: &[f64], c: &mut [f64]);
    /// Tangent of [`derive`](Self::derive): writes ċ for one θ̇.
    fn derive_pushforward(&self, theta: &[f64], theta_dot: &[f64], c_dot: &mut [f64]);
    /// Adjoint of [`derive`](Self::derive): adds to θ̄.
    fn derive_pullback(&self, theta: &[f64], c_bar: &[f64], theta_bar: &mut [f64]);

    /// Where a constant of one of its elements lies; none where it has no elements.
    fn constant_at(&self, _element: usize, _constant: usize) -> Option<usize> {
        None
    }

    /// Adds what it weighs to the vertex masses, kg.
    fn mass(&self, _theta: &[f64], _mass: &mut [f64]) {}
    /// Tangent of [`mass`](Self::mass), added.
    fn mass_pushforward(&self, _theta: &[f64], _theta_dot: &[f64], _mass_dot: &mut [f64]) {}
    /// Adjoint of [`mass`](Self::mass), added to θ̄.
    fn mass_pullback(&self, _theta: &[f64], _mass_bar: &[f64], _theta_bar: &mut [f64]) {}

    /// Adds the force (N, 3 per vertex).
    fn add_forces(&self, c: &[f64], at: At, f: &mut [f64], scratch: &mut Scratch);
    /// Adds the tangents of the force, one column after the other.
    fn pushforward(
        &self,
        c: &[f64],
        at: At,
        tangents: Tangents,
        f_dot: &mut [f64],
        scratch: &mut Scratch,
    );
    /// Adds the adjoints of w = λ·f for the multipliers λ (3 per vertex).
    fn pullback(
        &self,
        c: &[f64],
        at: At,
        lambda: &[f64],
        adjoints: Adjoints,
        scratch: &mut Scratch,
    );

    /// Promises that derivatives will be asked for by those entries of θ only for which `wanted`
    /// holds; adjoints of constants that others alone depend on may then stay zero.
    fn narrow(&mut self, _wanted: &dyn Fn(usize) -> bool) {}

    /// The first element whose force is not finite at a state, for messages.
    fn fault(&self, _c: &[f64], _at: At) -> Option<String> {
        None
    }

    /// Potential energy at x, J (zero for a force without one).
    fn energy(&self, _c: &[f64], _at: At) -> f64 {
        0.0
    }
    /// Adds `weight` times the derivative of the energy.
    fn energy_pullback(&self, _c: &[f64], _at: At, _weight: f64, _adjoints: Adjoints) {}

    /// What a contact adds to the largest eigenvalues of M⁻¹K (1/s²) and M⁻¹C (1/s) when it
    /// closes, whether or not it is closed now, with a description; `inverse_mass` per vertex.
    fn contact_rates(&self, _c: &[f64], _inverse_mass: &[f64]) -> Option<(f64, f64, String)> {
        None
    }

    /// What it does when something touches, for a force that begins then.
    fn onset(&self) -> Option<&dyn OnsetForce> {
        None
    }
}
