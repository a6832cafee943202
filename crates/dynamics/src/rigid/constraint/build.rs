//! The rows of a state: equalities, dry friction, limits, contacts, in this order.

use costate_num::Scalar;

use super::contact::{self, Contact};
use super::discrete::{Ahead, Diagonals};
use super::equality;
use super::friction;
use super::impedance::{Response, SolverParameters, reference_acceleration, regularisation};
use super::law::Law;
use super::limit;
use super::rows::Rows;
use super::search;
use crate::rigid::collision::{Bound, Candidate, Real, Shape, Sweep, Touch, candidates};
use crate::rigid::constants::{Block, Layout};
use crate::rigid::forward::Dynamics;
use crate::rigid::tree::Tree;

/// What some consecutive rows are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// An equality constraint.
    Equality(usize),
    /// Dry friction of a degree of freedom.
    DofFriction(usize),
    /// Dry friction of a tendon.
    TendonFriction(usize),
    /// A limit of a scalar joint: its lower one, or its upper.
    JointLimit {
        /// The joint.
        joint: usize,
        /// Whether it is the upper limit.
        upper: bool,
    },
    /// The limit of a ball joint's angle.
    BallLimit(usize),
    /// A limit of a tendon's length.
    TendonLimit {
        /// The tendon.
        tendon: usize,
        /// Whether it is the upper limit.
        upper: bool,
    },
    /// A contact, by its place among [`Constraints::contacts`].
    Contact(usize),
}

/// Rows of one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// What they are of.
    pub source: Source,
    /// The first one.
    pub row: usize,
    /// How many.
    pub count: usize,
}

/// What the rows are a function of: the structure, the constants, and one evaluation of the smooth
/// dynamics with its state.
#[derive(Debug)]
pub struct RowInputs<'a, S> {
    /// Structure.
    pub tree: &'a Tree,
    /// Layout of the constants.
    pub layout: &'a Layout,
    /// Constants.
    pub c: &'a [S],
    /// Places, tendons, velocities, and accelerations at zero joint acceleration.
    pub dynamics: &'a Dynamics<S>,
    /// Coordinates.
    pub qpos: &'a [S],
    /// Velocities.
    pub qvel: &'a [S],
}

impl<S> Clone for RowInputs<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S> Copy for RowInputs<'_, S> {}

impl<S: Scalar> RowInputs<'_, S> {
    /// Numbers of the response, from their blocks.
    pub(super) fn parameters(&self, solref: Block, solimp: Block, i: usize) -> SolverParameters<S> {
        let (at, wide) = (solref.at(i), solimp.at(i));
        let c = self.c;
        SolverParameters {
            solref: [c[at], c[at + 1]],
            solimp: [c[wide], c[wide + 1], c[wide + 2], c[wide + 3], c[wide + 4]],
        }
    }

    /// The least time constant of a positive solref.
    pub(super) fn least_time_constant(&self) -> S {
        let options = &self.tree.options;
        S::splat(if options.safe_reference { 2.0 * options.timestep } else { 0.0 })
    }
}

/// One row but for its Jacobian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::rigid) struct RowState<S> {
    /// Where it is, less its margin.
    pub position: S,
    /// Its rate J v.
    pub velocity: S,
    /// J̇ v, where the reference takes account of it.
    pub bias: S,
    /// Approximate diagonal entry of J M⁻¹ Jᵀ.
    pub diagonal: S,
}

/// The constraint rows of a state.
#[derive(Clone, Debug)]
pub struct Constraints<S: Scalar = f64> {
    /// The rows as the solver takes them.
    pub rows: Rows<S>,
    /// What they are of.
    pub items: Vec<Item>,
    /// Position (less margin), rate, J̇ v and diagonal of each row.
    pub(in crate::rigid) states: Vec<RowState<S>>,
    /// Stiffness, damping and impedance of each row.
    pub(super) responses: Vec<Response<S>>,
    /// How each row differs from that of the continuous dynamics; empty where none does.
    pub(super) ahead: Vec<Ahead<S>>,
    pub(super) diagonals: Diagonals<S>,
    /// The contacts that act.
    pub contacts: Vec<Contact<S>>,
    /// Geoms that may touch; found at the first state.
    pub(super) candidates: Vec<Candidate>,
    searched: bool,
    /// Finds the candidates that may touch, where they are many.
    pub(super) sweep: Option<Sweep>,
    pub(super) bounds: Vec<Bound>,
    pub(super) shapes: Vec<Shape<S>>,
    pub(super) touches: Vec<Touch<S>>,
    /// Degrees of freedom of the item being built, and whether each moves its second body.
    pub(super) dofs: Vec<(usize, bool)>,
    /// Of these, the motion along each axis of a contact.
    pub(super) along: Vec<[S; 6]>,
    /// M⁻¹ J of one row.
    column: Vec<S>,
}

impl<S: Scalar> Default for Constraints<S> {
    fn default() -> Self {
        Self {
            rows: Rows::new(),
            items: Vec::new(),
            states: Vec::new(),
            responses: Vec::new(),
            ahead: Vec::new(),
            diagonals: Diagonals { inertia: Vec::new(), metric: Vec::new() },
            contacts: Vec::new(),
            candidates: Vec::new(),
            searched: false,
            sweep: None,
            bounds: Vec::new(),
            shapes: Vec::new(),
            touches: Vec::new(),
            dofs: Vec::new(),
            along: Vec::new(),
            column: Vec::new(),
        }
    }
}

impl<S: Real> Constraints<S> {
    /// Builds the rows of a state. All states must be of one structure.
    ///
    /// Contacts of pairs of geoms that are not simulated are left out;
    /// [`collision::unsupported`](crate::rigid::collision::unsupported) names them beforehand.
    pub fn update(&mut self, at: RowInputs<S>) {
        self.rows.clear();
        self.items.clear();
        self.states.clear();
        self.responses.clear();
        self.ahead.clear();
        let options = &at.tree.options;
        if !options.constraints {
            return;
        }
        if options.equality {
            equality::add_rows(self, at);
        }
        if options.friction_loss {
            friction::add_rows(self, at);
        }
        if options.limits {
            limit::add_rows(self, at);
        }
        self.contacts.clear();
        if options.contacts {
            if !self.searched {
                self.candidates = candidates(at.tree);
                self.sweep = Sweep::new(at.tree.geoms.len(), &self.candidates);
                self.searched = true;
            }
            if !self.candidates.is_empty() {
                search::find(self, at);
                contact::add_rows(self, at);
            }
        }
    }

    /// Position of a row, less its margin, in m or rad.
    pub fn position(&self, row: usize) -> S {
        self.states[row].position
    }

    /// Rate J v of a row.
    pub fn velocity(&self, row: usize) -> S {
        self.states[row].velocity
    }

    /// Starts the rows of a source.
    pub(super) fn begin(&mut self, source: Source) {
        self.items.push(Item { source, row: self.rows.len(), count: 0 });
    }

    /// Finishes a row whose entries have been given.
    pub(super) fn push(
        &mut self,
        at: RowInputs<S>,
        law: Law,
        response: Response<S>,
        mut state: RowState<S>,
        loss: S,
    ) {
        let row = self.rows.len();
        // The entries are readable once the row is there; its numbers follow.
        self.rows.push(law, S::zero(), S::one(), loss);
        if at.tree.options.exact_diagonal {
            state.diagonal = self.exact_diagonal(at, row);
        }
        let reference =
            reference_acceleration(response, state.velocity, state.position) - state.bias;
        self.rows.reference[row] = reference;
        self.rows.mass[row] = regularisation(response.impedance, state.diagonal).recip();
        self.states.push(state);
        self.responses.push(response);
        self.count();
    }

    /// Adds what a row of a contact has beside its entries and its mass.
    pub(super) fn push_contact(&mut self, response: Response<S>, state: RowState<S>) {
        self.states.push(state);
        self.responses.push(response);
        self.count();
    }

    fn count(&mut self) {
        if let Some(item) = self.items.last_mut() {
            item.count += 1;
        }
    }

    /// (J M⁻¹ Jᵀ) of one row.
    pub(super) fn exact_diagonal(&mut self, at: RowInputs<S>, row: usize) -> S {
        self.column.clear();
        self.column.resize(at.tree.nv, S::zero());
        self.rows.add_transposed(row, S::one(), &mut self.column);
        at.dynamics.factors.solve(at.tree, &mut self.column);
        self.rows.dot(row, &self.column)
    }
}
