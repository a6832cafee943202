//! Files to and from the types of Costate: scene files, robots in MJCF and URDF, meshes, tables.
//!
//! Every reader takes any bytes without panicking and without allocating more than a small
//! multiple of the file's size. Every fault is an [`Error`] that names file, line and element,
//! what was expected and what was found.
#![warn(missing_docs)]

mod error;
pub mod mesh;
mod mjcf;
mod model_file;
pub mod scene;
pub mod table;
pub mod text;
pub mod toml_reader;
mod urdf;
mod write;

pub use error::{Error, ErrorKind, Result, nearest, suggestion};
pub use mjcf::{mjcf_with_values, parse_mjcf, read_mjcf};
pub use model_file::ModelFile;
pub use urdf::{parse_urdf, read_urdf, urdf_with_values};
pub use write::write_atomically;
