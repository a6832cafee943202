//! Building models in code; the file readers use the same builders.

mod checks;
mod contact;
mod geom;
mod grid;
mod hinges;
mod leaves;
mod settings;
mod soft;

pub use contact::ContactSettings;
pub use geom::GeomBuilder;
pub use grid::GridSplit;
pub use settings::{
    Damping, ELASTIC_LAWS, HingeSettings, MassRule, MaterialParameter, MaterialSettings,
    MembraneSettings, SpringSettings, TetrahedraSettings,
};
pub use soft::SoftBuilder;
