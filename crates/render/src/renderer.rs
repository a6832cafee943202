//! Scenes to images.

use crate::Error;
use crate::camera::{Camera, Eyepiece};
use crate::canvas::{Canvas, Facet};
use crate::color::{Color, Encoder};
use crate::ground::Backdrop;
use crate::image::Image;
use crate::light::{Casters, Light};
use crate::scene::{Marker, Point, Radius, Scene, drawable};
use crate::{stamp, surface};
use costate_num::Vec3;

/// Samples per pixel along each side.
const SAMPLES: usize = 2;

/// The look of the images.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// Width of the finished image in pixels, 1 to 4096.
    pub width: usize,
    /// Height of the finished image in pixels, 1 to 4096.
    pub height: usize,
    /// Background at the upper edge.
    pub sky: Color,
    /// Background at the lower edge.
    pub horizon: Color,
    /// Whether shadows are cast.
    pub shadows: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            width: 480,
            height: 360,
            sky: Color::srgb(214, 224, 235),
            horizon: Color::srgb(244, 246, 248),
            shadows: true,
        }
    }
}

/// Draws scenes as one camera sees them. The same scene gives the same bytes each time.
pub struct Renderer {
    style: Style,
    eyepiece: Eyepiece,
    light: Light,
    canvas: Canvas,
    encoder: Encoder,
    backdrop: Option<Backdrop>,
    facets: Vec<Facet>,
}

impl Renderer {
    /// A renderer for a camera.
    ///
    /// # Errors
    /// [`Error::Size`] where a side of the image is zero or above 4096 pixels.
    pub fn new(camera: &Camera, style: Style) -> Result<Self, Error> {
        let side = 1..=4096;
        if !side.contains(&style.width) || !side.contains(&style.height) {
            return Err(Error::Size { width: style.width, height: style.height });
        }
        let eyepiece = camera.eyepiece();
        let light = Light::new(&eyepiece, camera.up);
        let canvas = Canvas::new(style.width * SAMPLES, style.height * SAMPLES, eyepiece.tan);
        let encoder = Encoder::new();
        Ok(Self { style, eyepiece, light, canvas, encoder, backdrop: None, facets: Vec::new() })
    }

    /// Draws one frame.
    pub fn render(&mut self, scene: &Scene) -> Image {
        self.facets.clear();
        for mesh in &scene.meshes {
            surface::mesh(mesh, &self.eyepiece, &mut self.facets);
        }
        for shape in &scene.shapes {
            surface::solid(shape, &self.eyepiece, &mut self.facets);
        }
        if self.style.shadows {
            let casters = self.casters(scene);
            self.light.cast(&casters);
        }
        let planes = Backdrop::planes_of(&scene.shapes);
        let backdrop = match self.backdrop.take() {
            Some(kept) if kept.shows(&planes) => kept,
            _ => {
                let (sky, horizon) = (self.style.sky, self.style.horizon);
                let sky = |y: f32| sky.mix(horizon, y).0;
                Backdrop::new(planes, &self.canvas, &self.eyepiece, &self.light, sky)
            }
        };
        backdrop.start(&mut self.canvas);
        for facet in &self.facets {
            self.canvas.facet(facet, &self.light);
        }
        for line in scene.lines.iter().filter(|l| drawable(l.from) && drawable(l.to)) {
            let [a, b] = [line.from, line.to].map(|p| self.eyepiece.place(p));
            let width = line.width * SAMPLES as f64;
            self.canvas.tube(a, b, width, line.color.0, &self.light);
        }
        for point in scene.points.iter().filter(|p| drawable(p.position)) {
            let p = self.eyepiece.place(point.position);
            let radius = self.pixels(point, p);
            match point.marker {
                Marker::Ball => self.canvas.ball(p, radius, point.color.0, &self.light),
                Marker::Ring => self.canvas.ring(p, radius, 1.6 * SAMPLES as f64, point.color.0),
            }
        }
        backdrop.shadow(&mut self.canvas, &self.light);
        self.backdrop = Some(backdrop);
        let mut image = self.resolve();
        if let Some(clock) = &scene.stamp {
            stamp::draw(&mut image, clock);
        }
        image
    }

    /// The radius of a point in samples.
    fn pixels(&self, point: &Point, p: Vec3<f64>) -> f64 {
        match point.radius {
            Radius::Pixels(r) => r * SAMPLES as f64,
            Radius::World(r) => r / self.eyepiece.distance * self.canvas.focal / -p.z,
        }
    }

    fn casters(&self, scene: &Scene) -> Casters {
        let solid = |f: &&Facet| f.quarters > 1;
        let in_reach = |p: Vec3<f64>| p.norm() < 1e3;
        let mut casters = Casters {
            triangles: self.facets.iter().filter(solid).map(|f| f.corners.map(|c| c.p)).collect(),
            ..Casters::default()
        };
        casters.triangles.retain(|t| t.iter().all(|p| in_reach(*p)));
        // Sizes given in pixels cast the shadow that they have at the target's distance.
        let unit = 1.0 / self.canvas.focal;
        for point in scene.points.iter().filter(|p| p.marker == Marker::Ball) {
            let p = self.eyepiece.place(point.position);
            let r = self.pixels(point, Vec3::new(0.0, 0.0, -1.0)) * unit;
            if in_reach(p) && (0.0..1e3).contains(&r) {
                casters.discs.push((p, r));
            }
        }
        for line in &scene.lines {
            let [a, b] = [line.from, line.to].map(|p| self.eyepiece.place(p));
            let r = 0.5 * line.width * SAMPLES as f64 * unit;
            if in_reach(a) && in_reach(b) && (0.0..1e3).contains(&r) {
                casters.segments.push((a, b, r));
            }
        }
        casters
    }

    /// The mean of the samples of each pixel, in linear light.
    fn resolve(&self) -> Image {
        let (width, height) = (self.style.width, self.style.height);
        let mut rgb = Vec::with_capacity(3 * width * height);
        let row = self.canvas.width;
        for y in 0..height {
            for x in 0..width {
                let first = y * SAMPLES * row + x * SAMPLES;
                let four = [first, first + 1, first + row, first + row + 1];
                for k in 0..3 {
                    let sum: f32 = four.iter().map(|i| self.canvas.color[*i][k].min(1.0)).sum();
                    rgb.push(self.encoder.byte(0.25 * sum));
                }
            }
        }
        Image { width, height, rgb }
    }
}
