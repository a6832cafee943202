//! The report of an identification: one HTML page without scripts or outside files, with tables,
//! plots (inline SVG) and the motion (an embedded GIF), for light and dark screens.
//!
//! [`ReportData`] is plain data, made from an
//! [`Identification`](costate_identify::Identification) or by hand; [`html`] makes the page of it.
//!
//! ```
//! use costate_report::{Parameter, ReportData, html};
//!
//! let data = ReportData {
//!     title: "Silicone beam".into(),
//!     parameters: vec![Parameter {
//!         path: "soft.beam.young".into(),
//!         unit: "Pa".into(),
//!         initial: 1e5,
//!         estimate: 263_824.0,
//!         std_error: Some(1_200.0),
//!         ci95: Some([261_472.0, 266_176.0]),
//!         transform: "log".into(),
//!         note: String::new(),
//!     }],
//!     ..ReportData::default()
//! };
//! assert!(html(&data)?.contains("soft.beam.young"));
//! # Ok::<(), costate_report::Error>(())
//! ```
#![warn(missing_docs)]

mod axis;
mod data;
mod identification;
mod number;
mod page;
mod plot;
mod series;

pub use data::{
    Correlation, Motion, NotIdentifiable, Outcome, Parameter, Provenance, ReportData, Signal, Stats,
};
pub use page::html;

/// Why no report came out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A plot could not be drawn.
    #[error("drawing a plot: {0}")]
    Plot(String),
}
