//! What is simulated: bodies, elements, materials, contact settings and the tree of leaves that
//! holds every physical number by name; states, inputs and trajectories as plain data.
#![warn(missing_docs)]

mod builder;
pub mod control;
mod error;
mod geom;
mod leaf;
mod model;
mod motion;
pub mod rigid;
mod selection;
mod soft;
mod transform;
mod view;

pub use builder::{
    ContactSettings, Damping, ELASTIC_LAWS, GeomBuilder, GridSplit, HingeSettings, MassRule,
    MaterialParameter, MaterialSettings, MembraneSettings, SoftBuilder, SpringSettings,
    TetrahedraSettings,
};
pub use error::ModelError;
pub use geom::{ContactMaterial, Geom, Shape};
pub use leaf::{Bounds, Elements, Extent, Leaf, LeafId, Leaves};
pub use model::{Model, Options};
pub use motion::{InputChannel, InputSignal, Inputs, Interpolation, State, Trajectory};
pub use selection::{Binding, Entry, Prior, Selection, Spread, Unknown};
pub use soft::{
    DampingLaw, ElasticView, Hinges, Load, Material, Membrane, Path, PointMass, Region, SoftBody,
    SpringLaw, Springs, Tetrahedra, TetrahedraDamping, TetrahedraMass, boundary_triangles,
};
pub use transform::{Map, Transform};
