//! Planes with a checker pattern that fades into the background. They do not move from frame to
//! frame as a rule, so what they show without shadows is kept.

use crate::camera::Eyepiece;
use crate::canvas::Canvas;
use crate::light::Light;
use crate::scene::{Geometry, Shape, drawable};
use costate_num::Vec3;

/// The image without anything on the planes.
pub(crate) struct Backdrop {
    planes: Vec<Shape>,
    color: Vec<[f32; 3]>,
    near: Vec<f32>,
    /// Index of the plane seen, or none.
    seen: Vec<u8>,
    /// Per plane: the share of its light left in full shadow, its light in the open, its normal.
    plane: Vec<(f32, f32, Vec3<f64>)>,
}

const NONE: u8 = u8::MAX;

impl Backdrop {
    /// Planes among shapes; at most 254 are drawn.
    pub(crate) fn planes_of(shapes: &[Shape]) -> Vec<Shape> {
        let plane = |s: &&Shape| matches!(s.geometry, Geometry::Plane { .. });
        shapes.iter().filter(plane).filter(|s| drawable(s.position)).take(254).copied().collect()
    }

    /// Whether it shows just these planes.
    pub(crate) fn shows(&self, planes: &[Shape]) -> bool {
        self.planes == planes
    }

    /// Draws planes over the background, `sky(y)` for y from 0 (top) to 1.
    pub(crate) fn new(
        planes: Vec<Shape>,
        canvas: &Canvas,
        eyepiece: &Eyepiece,
        light: &Light,
        sky: impl Fn(f32) -> [f32; 3],
    ) -> Self {
        let pixels = canvas.width * canvas.height;
        let mut color = Vec::with_capacity(pixels);
        for y in 0..canvas.height {
            let row = sky((y as f32 + 0.5) / canvas.height as f32);
            color.extend(std::iter::repeat_n(row, canvas.width));
        }
        let mut backdrop = Self {
            color,
            near: vec![0.0; pixels],
            seen: vec![NONE; pixels],
            plane: planes.iter().map(|p| plane_light(p, eyepiece, light)).collect(),
            planes,
        };
        let cell = cell_size(eyepiece);
        for i in 0..backdrop.planes.len() {
            backdrop.draw(i, canvas, eyepiece, cell);
        }
        backdrop
    }

    fn draw(&mut self, i: usize, canvas: &Canvas, eyepiece: &Eyepiece, cell: f64) {
        let shape = self.planes[i];
        let Geometry::Plane { half } = shape.geometry else { return };
        let turn = |v: Vec3<f64>| eyepiece.turn(shape.rotation.rotate(v));
        let axes = [
            turn(Vec3::new(1.0, 0.0, 0.0)),
            turn(Vec3::new(0.0, 1.0, 0.0)),
            turn(Vec3::new(0.0, 0.0, 1.0)),
        ];
        let origin = eyepiece.place(shape.position);
        let offset = axes[2].dot(origin);
        if offset >= 0.0 {
            return; // seen from below
        }
        // The pattern starts at the world's origin, as far as a plane can tell it.
        let zero = eyepiece.place(Vec3::zero());
        let zero = if drawable(zero) && zero.norm() < 1e6 { zero } else { origin };
        let matt = |c: f32| shape.color.scale(c).0.map(|v| v.min(1.0));
        let (dark, bright) = (matt(0.9), matt(1.06));
        let open = self.plane[i].1;
        let shade = |c: [f32; 3]| c.map(|v| v * open);
        let (dark, bright) = (shade(dark), shade(bright));
        for y in 0..canvas.height {
            for x in 0..canvas.width {
                let Some(p) = hit(canvas, axes[2], offset, x as f64 + 0.5, y as f64 + 0.5) else {
                    continue;
                };
                let index = y * canvas.width + x;
                let near = (-1.0 / p.z) as f32;
                if near <= self.near[index] {
                    continue;
                }
                let local = [axes[0].dot(p - origin), axes[1].dot(p - origin)];
                let size = |k: usize| half[k] / eyepiece.distance;
                if (0..2).any(|k| half[k] > 0.0 && local[k].abs() > size(k)) {
                    continue;
                }
                let place =
                    |p: Vec3<f64>| [axes[0].dot(p - zero) / cell, axes[1].dot(p - zero) / cell];
                let at = place(p);
                let mut footprint = [1e-6f64; 2];
                for (dx, dy) in [(1.0, 0.0), (0.0, 1.0)] {
                    let q = hit(canvas, axes[2], offset, x as f64 + 0.5 + dx, y as f64 + 0.5 + dy);
                    let Some(q) = q.map(place) else {
                        footprint = [1e6; 2];
                        continue;
                    };
                    for k in 0..2 {
                        footprint[k] = footprint[k].max((q[k] - at[k]).abs());
                    }
                }
                let mix = checker(at, footprint) as f32;
                let endless = half[0] <= 0.0 || half[1] <= 0.0;
                // The target is at depth 1; endless floors are lost in haze beyond it.
                let haze = if endless {
                    1.0 - (-0.35 * (p.norm() - 1.25).max(0.0).powi(2)).exp()
                } else {
                    0.0
                };
                let haze = haze as f32;
                let old = self.color[index];
                self.color[index] = std::array::from_fn(|k| {
                    let c = dark[k] + (bright[k] - dark[k]) * mix;
                    c + (old[k] - c) * haze
                });
                self.near[index] = near;
                self.seen[index] = if haze > 0.9 { NONE } else { i as u8 };
            }
        }
    }

    /// Starts a frame with this backdrop.
    pub(crate) fn start(&self, canvas: &mut Canvas) {
        canvas.color.copy_from_slice(&self.color);
        canvas.near.copy_from_slice(&self.near);
    }

    /// Darkens what is still to be seen of the planes where the lamp does not reach.
    pub(crate) fn shadow(&self, canvas: &mut Canvas, light: &Light) {
        if !light.has_shadows() || self.planes.is_empty() {
            return;
        }
        let (w, h) = (0.5 * canvas.width as f64, 0.5 * canvas.height as f64);
        for y in 0..canvas.height {
            for x in 0..canvas.width {
                let index = y * canvas.width + x;
                let near = self.near[index];
                if self.seen[index] == NONE || canvas.near[index] != near {
                    continue;
                }
                let z = 1.0 / f64::from(near);
                let p = Vec3::new(
                    (x as f64 + 0.5 - w) / canvas.focal * z,
                    (h - y as f64 - 0.5) / canvas.focal * z,
                    -z,
                );
                let (share, _, n) = self.plane[usize::from(self.seen[index])];
                let lit = light.lit(p, n);
                if lit < 1.0 {
                    // The floor is bright: a full shadow would look like a hole.
                    let keep = 1.0 - (1.0 - share) * 0.62 * (1.0 - lit);
                    canvas.color[index] = canvas.color[index].map(|c| c * keep);
                }
            }
        }
    }
}

fn plane_light(plane: &Shape, eyepiece: &Eyepiece, light: &Light) -> (f32, f32, Vec3<f64>) {
    let n = eyepiece.turn(plane.rotation.rotate(Vec3::new(0.0, 0.0, 1.0))).normalize().0;
    let [shadowed, open] = light.on_plane(n);
    (shadowed / open, open, n)
}

/// Where the ray through an image point meets the plane n·p = offset, in front of the camera.
fn hit(canvas: &Canvas, n: Vec3<f64>, offset: f64, x: f64, y: f64) -> Option<Vec3<f64>> {
    let (w, h) = (0.5 * canvas.width as f64, 0.5 * canvas.height as f64);
    let ray = Vec3::new((x - w) / canvas.focal, (h - y) / canvas.focal, -1.0);
    let depth = offset / n.dot(ray);
    (depth > 1e-3 && depth < 1e6).then(|| ray * depth)
}

/// The checker's side in units of the camera's distance: a round number of metres (1, 2 or 5
/// times a power of ten), about a tenth of the distance.
fn cell_size(eyepiece: &Eyepiece) -> f64 {
    let wanted = 0.1 * eyepiece.distance;
    let power = 10f64.powf(wanted.log10().floor());
    let digit = wanted / power;
    let round = if digit < 1.5 {
        1.0
    } else if digit < 3.5 {
        2.0
    } else if digit < 7.5 {
        5.0
    } else {
        10.0
    };
    round * power / eyepiece.distance
}

/// The mean of a checker of unit cells over a rectangle, 0 to 1.
fn checker(at: [f64; 2], footprint: [f64; 2]) -> f64 {
    // The integral of a square wave of period 2 that starts at +1 is a triangle wave.
    let integral = |x: f64| {
        let m = x.rem_euclid(2.0);
        if m < 1.0 { m } else { 2.0 - m }
    };
    let wave = |k: usize| {
        let (x, w) = (at[k], footprint[k]);
        (integral(x + 0.5 * w) - integral(x - 0.5 * w)) / w
    };
    0.5 + 0.5 * wave(0) * wave(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checker_alternates_and_averages_out() {
        assert!((checker([0.5, 0.5], [1e-3; 2]) - 1.0).abs() < 1e-9);
        assert!(checker([1.5, 0.5], [1e-3; 2]).abs() < 1e-9);
        assert!((checker([1.5, -0.5], [1e-3; 2]) - 1.0).abs() < 1e-9);
        assert!((checker([0.3, 0.7], [2.0; 2]) - 0.5).abs() < 1e-9);
    }
}
