//! Springs with a damper along them.

use costate_model::ModelError;
use costate_num::{Scalar, Vec3};

use super::element::{Element, Gradient, Potential, Scope, potential_adjoint, potential_force};
use super::materials::MOST_PARAMETERS;
use crate::expression::{Graph, Node};

/// A spring; parameters and constants: stiffness k (N/m), damping d (N s/m), rest length l₀ (m).
///
/// Ψ = k (l − l₀)²/2, D = d l̇²/2. At zero length the direction is undefined: the force is zero
/// there, and for l₀ = 0 the law is the smooth k x.
pub struct Spring;

impl Potential<2, 3> for Spring {
    const DISSIPATIVE: bool = true;

    #[inline(always)]
    fn energy_gradient<S: Scalar>(x: &[Vec3<S>; 2], c: &[S; 3]) -> ([Vec3<S>; 2], [S; 3]) {
        let [k, _, rest] = *c;
        let d = x[0] - x[1];
        let length = d.norm();
        let at_zero = length.equals(S::zero());
        let safe = S::select(at_zero, S::one(), length);
        let ratio = S::select(at_zero, S::zero(), rest / safe);
        let pull = d * (k * (S::one() - ratio));
        let stretch = length - rest;
        ([pull, -pull], [stretch * stretch.scale(0.5), S::zero(), -(k * stretch)])
    }

    #[inline(always)]
    fn dissipation_gradient<S: Scalar>(
        x: &[Vec3<S>; 2],
        v: &[Vec3<S>; 2],
        c: &[S; 3],
    ) -> Gradient<S, 2, 3> {
        let d = c[1];
        let (u, length) = (x[0] - x[1]).normalize();
        let relative = v[0] - v[1];
        let rate = u.dot(relative);
        let at_zero = length.equals(S::zero());
        let inverse = S::select(at_zero, S::zero(), S::select(at_zero, S::one(), length).recip());
        // ∂l̇/∂x = (v − (v·u) u) / l.
        let turn = (relative - u * rate) * (d * rate * inverse);
        let brake = u * (d * rate);
        Gradient {
            x: [turn, -turn],
            v: [brake, -brake],
            c: [S::zero(), rate * rate.scale(0.5), S::zero()],
        }
    }
}

impl Element<2, 3, 3> for Spring {
    const NAME: &'static str = "spring";
    const DISSIPATIVE: bool = true;
    const LANES: bool = true;

    #[inline(always)]
    fn derive<S: Scalar>(_rest: &[Vec3<S>; 2], p: &[S; 3]) -> [S; 3] {
        *p
    }
    fn copied(constant: usize) -> Option<usize> {
        Some(constant)
    }
    fn dampers() -> &'static [usize] {
        &[1]
    }

    fn damper_parameters() -> &'static [usize] {
        &[1]
    }

    #[inline(always)]
    fn force<S: Scalar>(x: &[Vec3<S>; 2], v: &[Vec3<S>; 2], c: &[S; 3]) -> [Vec3<S>; 2] {
        Self::force_within(x, v, c, Scope::ALL)
    }

    #[inline(always)]
    fn adjoint<S: Scalar>(
        x: &[Vec3<S>; 2],
        v: &[Vec3<S>; 2],
        c: &[S; 3],
        lambda: &[Vec3<S>; 2],
    ) -> Gradient<S, 2, 3> {
        Self::adjoint_within(x, v, c, lambda, Scope::ALL)
    }

    #[inline(always)]
    fn force_within<S: Scalar>(
        x: &[Vec3<S>; 2],
        v: &[Vec3<S>; 2],
        c: &[S; 3],
        scope: Scope,
    ) -> [Vec3<S>; 2] {
        potential_force::<Self, S, 2, 3>(x, v, c, scope)
    }

    #[inline(always)]
    fn adjoint_within<S: Scalar>(
        x: &[Vec3<S>; 2],
        v: &[Vec3<S>; 2],
        c: &[S; 3],
        lambda: &[Vec3<S>; 2],
        scope: Scope,
    ) -> Gradient<S, 2, 3> {
        potential_adjoint::<Self, S, 2, 3>(x, v, c, lambda, scope)
    }

    #[inline(always)]
    fn energy<S: Scalar>(x: &[Vec3<S>; 2], c: &[S; 3]) -> S {
        let stretch = (x[0] - x[1]).norm() - c[2];
        c[0] * stretch * stretch.scale(0.5)
    }
}

/// Constants of a recorded spring before the law's parameters: damping and rest length.
pub(crate) const OWN: usize = 2;

/// A law of springs given as the graph of its energy, J.
///
/// Inputs 0 and 1 of the graph are length and rest length (m), the others the law's parameters. The
/// tension is the derivative of the energy by the length.
#[derive(Clone, Debug)]
pub struct RecordedSpring {
    name: String,
    parameters: usize,
    graph: Graph,
    energy: Node,
    tension: Node,
}

impl RecordedSpring {
    /// A law of the given name, whose graph has two inputs and one for each parameter.
    ///
    /// # Errors
    /// Another number of inputs, too many parameters, an empty name.
    pub fn new(name: impl Into<String>, graph: Graph, energy: Node) -> Result<Self, ModelError> {
        let name = name.into();
        let wrong = |message: String| ModelError::invalid(format!("spring law `{name}`"), message);
        if name.is_empty() {
            return Err(wrong("it has no name".into()));
        }
        let Some(parameters) = graph.inputs().checked_sub(2) else {
            return Err(wrong("its inputs are length, rest length and the parameters".into()));
        };
        if parameters > MOST_PARAMETERS {
            return Err(wrong(format!(
                "it has {parameters} parameters, at most {MOST_PARAMETERS} can be"
            )));
        }
        let mut graph = graph;
        let length = graph.input(0);
        let tension = graph.gradient(energy, &[length])[0];
        Ok(Self { name, parameters, graph, energy, tension })
    }

    /// The name that scenes use.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many parameters it takes.
    pub fn parameters(&self) -> usize {
        self.parameters
    }

    /// Energy and tension as nodes of another graph, for a length and the constants of a spring.
    pub(crate) fn embed(&self, into: &mut Graph, length: Node, c: &[Node]) -> [Node; 2] {
        let mut inputs = vec![length, c[1]];
        inputs.extend_from_slice(&c[OWN..OWN + self.parameters]);
        let found = into.embed(&self.graph, &[self.energy, self.tension], &inputs);
        [found[0], found[1]]
    }
}

/// What is known of a recorded spring without its law: its constants are damping, rest length, and the
/// law's parameters.
pub struct SilentSpring;

/// Constants of a recorded spring.
const RECORDED: usize = OWN + MOST_PARAMETERS;

impl Element<2, RECORDED, RECORDED> for SilentSpring {
    const NAME: &'static str = "spring";
    const DISSIPATIVE: bool = true;

    fn derive<S: Scalar>(_rest: &[Vec3<S>; 2], p: &[S; RECORDED]) -> [S; RECORDED] {
        *p
    }
    fn copied(constant: usize) -> Option<usize> {
        Some(constant)
    }
    fn dampers() -> &'static [usize] {
        &[0]
    }
    fn damper_parameters() -> &'static [usize] {
        &[0]
    }
    fn force<S: Scalar>(_x: &[Vec3<S>; 2], _v: &[Vec3<S>; 2], _c: &[S; RECORDED]) -> [Vec3<S>; 2] {
        [Vec3::zero(); 2]
    }
    fn adjoint<S: Scalar>(
        _x: &[Vec3<S>; 2],
        _v: &[Vec3<S>; 2],
        _c: &[S; RECORDED],
        _lambda: &[Vec3<S>; 2],
    ) -> Gradient<S, 2, RECORDED> {
        Gradient::zero()
    }
    fn energy<S: Scalar>(_x: &[Vec3<S>; 2], _c: &[S; RECORDED]) -> S {
        S::zero()
    }
}
