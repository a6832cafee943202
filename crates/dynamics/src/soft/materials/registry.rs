//! Material laws by name.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use costate_model::DampingLaw;

use super::{
    Corotated, Material, NeoHookean, RecordedLaw, StVenantKirchhoff, StableNeoHookean, Warp,
};
use crate::force::Force;
use crate::soft::block::{Block, Drive, RecordedTetrahedra, RestPositions};
use crate::soft::parameter::Parameter;
use crate::soft::springs::RecordedSpring;
use crate::soft::tetrahedra::Tetrahedron;

/// Everything about the tetrahedra of a body but their law.
pub struct TetrahedraParts {
    /// Name for messages: "soft.beam tetrahedra".
    pub label: String,
    /// Global vertex indices.
    pub stencils: Vec<[u32; 4]>,
    /// Where the rest positions lie.
    pub rest: RestPositions,
    /// Parameters of the material.
    pub material: Vec<Parameter>,
    /// Viscosity, damping time, density and activation.
    pub own: [Parameter; 4],
    /// Leaf of the total mass, where the density is relative.
    pub total_mass: Option<usize>,
    /// Input channel that is added to the activation.
    pub activation_input: Option<usize>,
    /// Damping law.
    pub damping: DampingLaw,
}

/// A registered material: its name, number of parameters and how its tetrahedra are made. Made by
/// [`material_law!`](crate::material_law).
#[derive(Clone)]
pub struct MaterialLaw {
    name: Cow<'static, str>,
    parameters: usize,
    kind: Kind,
}

/// How a law is evaluated.
#[derive(Clone)]
enum Kind {
    /// Compiled code.
    Compiled { build: fn(TetrahedraParts) -> Box<dyn Force>, lame_at_rest: fn(&[f64]) -> [f64; 2] },
    /// An expression graph.
    Recorded(Arc<RecordedLaw>),
}

impl MaterialLaw {
    /// The law of material `M`; `P` and `C` are `N + 4` and `N + 13`.
    pub const fn of<M: Material<N>, const N: usize, const P: usize, const C: usize>() -> Self {
        Self {
            name: Cow::Borrowed(M::NAME),
            parameters: N,
            kind: Kind::Compiled { build: build::<M, N, P, C>, lame_at_rest: lame_at_rest::<M, N> },
        }
    }

    /// The name that scenes use.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many parameters it takes.
    pub fn parameters(&self) -> usize {
        self.parameters
    }

    /// Lamé's μ and λ of the linearised law, Pa, for parameters in the law's order; missing ones
    /// count as zero.
    pub fn lame_at_rest(&self, parameters: &[f64]) -> [f64; 2] {
        match &self.kind {
            Kind::Compiled { lame_at_rest, .. } => lame_at_rest(parameters),
            Kind::Recorded(law) => law.lame_at_rest(parameters),
        }
    }

    /// The force of tetrahedra of this law; `parts.material` has [`parameters`](Self::parameters)
    /// entries.
    pub(crate) fn build(&self, parts: TetrahedraParts) -> Box<dyn Force> {
        match &self.kind {
            Kind::Compiled { build, .. } => build(parts),
            Kind::Recorded(law) => Box::new(RecordedTetrahedra::new(block(parts), law)),
        }
    }

    /// Whether warp.sim's damping can be chosen with it.
    pub(crate) fn damps_like_warp(&self) -> bool {
        matches!(self.kind, Kind::Compiled { .. })
    }
}

impl From<RecordedLaw> for MaterialLaw {
    fn from(law: RecordedLaw) -> Self {
        Self {
            name: Cow::Owned(law.name().to_owned()),
            parameters: law.parameters(),
            kind: Kind::Recorded(Arc::new(law)),
        }
    }
}

/// The [`MaterialLaw`](crate::soft::MaterialLaw) of a type that implements
/// [`Material`](crate::soft::Material) with the given number of parameters, for
/// [`Registry::register`](crate::soft::Registry::register).
#[macro_export]
macro_rules! material_law {
    ($material:ty, $parameters:literal) => {
        $crate::soft::MaterialLaw::of::<
            $material,
            $parameters,
            { $parameters + $crate::soft::OWN_PARAMETERS },
            { $parameters + $crate::soft::OWN_CONSTANTS },
        >()
    };
}

fn lame_at_rest<M: Material<N>, const N: usize>(parameters: &[f64]) -> [f64; 2] {
    let mut p = [0.0; N];
    for (slot, value) in p.iter_mut().zip(parameters) {
        *slot = *value;
    }
    M::lame_at_rest(&p)
}

fn build<M: Material<N>, const N: usize, const P: usize, const C: usize>(
    parts: TetrahedraParts,
) -> Box<dyn Force> {
    Box::new(block::<M, N, P, C>(parts))
}

fn block<M: Material<N>, const N: usize, const P: usize, const C: usize>(
    parts: TetrahedraParts,
) -> Block<Tetrahedron<M, N>, 4, P, C> {
    let mut parameters = [const { Parameter::Constant(0.0) }; P];
    for (slot, parameter) in parameters.iter_mut().zip(parts.material) {
        *slot = parameter;
    }
    for (slot, parameter) in parameters[N..].iter_mut().zip(parts.own) {
        *slot = parameter;
    }
    let drive = parts.activation_input.map(|input| Drive { constant: C - 1, input });
    Block::new(parts.label, parts.stencils, parameters, parts.rest)
        .with_total_mass(parts.total_mass)
        .with_drive(drive)
        .with_warp_damping(parts.damping == DampingLaw::Warp)
}

/// The laws of materials and springs that a system may use; by default the built-in ones.
#[derive(Clone)]
pub struct Registry {
    laws: BTreeMap<String, MaterialLaw>,
    springs: BTreeMap<String, Arc<RecordedSpring>>,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.laws.keys()).finish()
    }
}

impl Default for Registry {
    fn default() -> Self {
        let mut registry = Self { laws: BTreeMap::new(), springs: BTreeMap::new() };
        registry.register(crate::material_law!(NeoHookean, 2));
        registry.register(crate::material_law!(StableNeoHookean, 2));
        registry.register(crate::material_law!(StVenantKirchhoff, 2));
        registry.register(crate::material_law!(Corotated, 2));
        registry.register(crate::material_law!(Warp, 2));
        registry
    }
}

impl Registry {
    /// Adds a law; one of the same name is replaced.
    pub fn register(&mut self, law: impl Into<MaterialLaw>) -> &mut Self {
        let law = law.into();
        self.laws.insert(law.name().to_owned(), law);
        self
    }

    /// Adds a law of springs; one of the same name is replaced.
    pub fn register_spring(&mut self, law: RecordedSpring) -> &mut Self {
        self.springs.insert(law.name().to_owned(), Arc::new(law));
        self
    }

    /// The law of springs of a name.
    pub fn spring(&self, name: &str) -> Option<&RecordedSpring> {
        self.springs.get(name).map(|law| &**law)
    }

    /// Names of all laws of springs, in order.
    pub fn spring_names(&self) -> Vec<&str> {
        self.springs.keys().map(String::as_str).collect()
    }

    /// The law of a name.
    pub fn get(&self, name: &str) -> Option<&MaterialLaw> {
        self.laws.get(name)
    }

    /// All names, in order.
    pub fn names(&self) -> Vec<&str> {
        self.laws.keys().map(String::as_str).collect()
    }
}
