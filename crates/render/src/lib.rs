//! Pictures of simulated motion: a small software rasteriser and writers for PNG and GIF.
//!
//! A [`Scene`] holds plain triangles, lines, points and solids; a [`Renderer`] draws it as a
//! [`Camera`] sees it, with shadows and four samples per pixel; [`write_gif`] makes a motion of
//! many. Nothing here needs a display or a graphics card, and the same input gives the same bytes.
//!
//! ```
//! use costate_num::Vec3;
//! use costate_render::{Bounds, Camera, Color, Mesh, Renderer, Scene, Shape, Style, View};
//!
//! let corners = [[0.0, 0.0, 0.2], [1.0, 0.0, 0.2], [0.5, 1.0, 0.6]].map(Vec3::splat);
//! let scene = Scene {
//!     meshes: vec![Mesh::sheet(corners.to_vec(), vec![[0, 1, 2]], Color::srgb(46, 134, 171))],
//!     shapes: vec![Shape::floor(Vec3::zero(), Vec3::new(0.0, 0.0, 1.0), Color::srgb(230, 232, 235))],
//!     ..Scene::default()
//! };
//! let mut bounds = Bounds::default();
//! bounds.include_scene(&scene);
//! let style = Style { width: 160, height: 120, ..Style::default() };
//! let camera = Camera::framing(&bounds, &View::default(), 4.0 / 3.0);
//! let image = Renderer::new(&camera, style)?.render(&scene);
//! assert_eq!(image.rgb.len(), 3 * 160 * 120);
//! # Ok::<(), costate_render::Error>(())
//! ```
#![warn(missing_docs)]

mod animation;
mod camera;
mod canvas;
mod color;
mod fill;
mod from_model;
mod ground;
mod image;
mod light;
mod palette;
mod renderer;
mod robot;
mod scene;
mod stamp;
mod surface;

pub use animation::{Timeline, write_gif};
pub use camera::{Camera, Up, View};
pub use color::Color;
pub use from_model::{ModelView, MotionSettings, Track, motion_gif};
pub use image::Image;
pub use renderer::{Renderer, Style};
pub use scene::{
    Bounds, Geometry, Line, Marker, Mesh, Paint, Point, Radius, Scene, Shading, Shape, TimeStamp,
    rotation_from_z,
};

/// Why no picture came out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A side of the image is out of range.
    #[error("an image of {width} by {height} pixels: each side must be 1 to 4096")]
    Size {
        /// Width asked for.
        width: usize,
        /// Height asked for.
        height: usize,
    },
    /// An animation without frames.
    #[error("a motion without a single frame cannot be drawn")]
    NoFrames,
    /// The file could not be written.
    #[error("writing the image: {0}")]
    Write(String),
    /// The image does not fit the file format.
    #[error("encoding the image: {0}")]
    Encode(String),
}
