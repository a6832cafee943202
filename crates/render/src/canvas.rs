//! Colour and depth of one image, and what is drawn into them: triangles, tubes and markers, in
//! the camera's frame.

use crate::fill::{GUARD, fill};
use crate::light::Light;
use costate_num::Vec3;

/// A triangle's corner.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Corner {
    /// Place.
    pub p: Vec3<f64>,
    /// Unit normal, outwards.
    pub n: Vec3<f64>,
    /// Linear colour.
    pub c: [f32; 3],
}

/// A triangle ready to be drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facet {
    pub corners: [Corner; 3],
    pub two_sided: bool,
    /// Strength of the drawn edges.
    pub edges: f32,
    /// Samples per pixel of the finished image that are drawn, of four.
    pub quarters: u8,
}

/// Nearest visible depth, in units of the camera's distance to its target.
const NEAREST: f64 = 1e-3;

pub(crate) struct Canvas {
    pub width: usize,
    pub height: usize,
    /// Pixels per unit of tangent.
    pub focal: f64,
    /// Row by row from the upper left corner.
    pub color: Vec<[f32; 3]>,
    /// One over the depth; zero is infinitely far.
    pub near: Vec<f32>,
}

impl Canvas {
    pub(crate) fn new(width: usize, height: usize, tan: f64) -> Self {
        let focal = 0.5 * height as f64 / tan;
        let pixels = width * height;
        Self { width, height, focal, color: vec![[0.0; 3]; pixels], near: vec![0.0; pixels] }
    }

    /// Pixel coordinates of a point in front of the camera, and one over its depth.
    pub(crate) fn project(&self, p: Vec3<f64>) -> ([f64; 2], f64) {
        let near = -1.0 / p.z;
        let x = 0.5 * self.width as f64 + p.x * near * self.focal;
        let y = 0.5 * self.height as f64 - p.y * near * self.focal;
        ([x, y], near)
    }

    /// Draws a triangle, lit.
    pub(crate) fn facet(&mut self, facet: &Facet, light: &Light) {
        let [a, b, c] = facet.corners.map(|k| k.p);
        let towards = (b - a).cross(c - a).dot(a);
        let behind = towards > 0.0;
        if behind && !facet.two_sided {
            return;
        }
        let mut corners = facet.corners;
        if behind {
            for k in &mut corners {
                k.n = -k.n;
            }
        }
        let reach = GUARD / self.focal;
        let needs_clip = corners.iter().any(|k| {
            let d = -k.p.z;
            d < NEAREST || k.p.x.abs() > reach * d || k.p.y.abs() > reach * d
        });
        if !needs_clip {
            self.visible(&corners, facet, light, facet.edges);
            return;
        }
        let polygon = clip(&corners, reach);
        for i in 2..polygon.len() {
            self.visible(&[polygon[0], polygon[i - 1], polygon[i]], facet, light, 0.0);
        }
    }

    /// Draws a triangle that is wholly in front of the camera and within the guard band.
    fn visible(&mut self, corners: &[Corner; 3], facet: &Facet, light: &Light, edges: f32) {
        let screen = corners.map(|k| self.project(k.p));
        let v = screen.map(|s| s.0);
        let depth = screen.map(|s| s.1);
        let side = |a: usize, b: usize| (v[a][0] - v[b][0]).hypot(v[a][1] - v[b][1]);
        let sides = [side(1, 2), side(2, 0), side(0, 1)];
        let area = ((v[1][0] - v[0][0]) * (v[2][1] - v[0][1])
            - (v[1][1] - v[0][1]) * (v[2][0] - v[0][0]))
            .abs();
        // Height of each corner over the opposite edge, in pixels.
        let heights = sides.map(|s| if s > 0.0 { area / s } else { 0.0 });
        // Edges closer than their own width would only darken the whole surface.
        let least = heights.iter().fold(f64::INFINITY, |m, h| m.min(*h));
        let edges = edges * ((least - 4.0) / 12.0).clamp(0.0, 1.0) as f32;
        let (width, rows) = (self.width, self.height);
        let (color, near) = (&mut self.color, &mut self.near);
        fill(v, width, rows, |x, y, b| {
            let w = [b[0] * depth[0], b[1] * depth[1], b[2] * depth[2]];
            let inverse = w[0] + w[1] + w[2];
            let index = y * width + x;
            if inverse as f32 <= near[index] || !sampled(x, y, facet.quarters) {
                return;
            }
            let z = 1.0 / inverse;
            let [w0, w1, w2] = [w[0] * z, w[1] * z, w[2] * z];
            let [k0, k1, k2] = corners;
            let p = k0.p * w0 + k1.p * w1 + k2.p * w2;
            let n = (k0.n * w0 + k1.n * w1 + k2.n * w2).normalize().0;
            let blend = |i: usize| k0.c[i] * w0 as f32 + k1.c[i] * w1 as f32 + k2.c[i] * w2 as f32;
            let mut out = light.shade(p, n, [blend(0), blend(1), blend(2)]);
            if edges > 0.0 {
                let d = (b[0] * heights[0]).min(b[1] * heights[1]).min(b[2] * heights[2]);
                let keep = 1.0 - edges * (1.4 - d as f32).clamp(0.0, 1.0);
                out = out.map(|c| c * keep);
            }
            near[index] = inverse as f32;
            color[index] = out;
        });
    }

    /// Draws a tube of `width` pixels between two points.
    pub(crate) fn tube(
        &mut self,
        from: Vec3<f64>,
        to: Vec3<f64>,
        width: f64,
        c: [f32; 3],
        light: &Light,
    ) {
        let blank = |p| Corner { p, n: Vec3::zero(), c };
        let reach = GUARD / self.focal;
        let ends = clip(&[blank(from), blank(to)], reach);
        let [a, b] = match ends[..] {
            [a, b, ..] => [a.p, b.p],
            _ => return,
        };
        let ([ax, ay], na) = self.project(a);
        let ([bx, by], nb) = self.project(b);
        let r = 0.5 * width.clamp(0.0, 1e3);
        let (dx, dy) = (bx - ax, by - ay);
        let squared = dx * dx + dy * dy;
        let length = squared.sqrt().max(1e-9);
        let box_of = [ax.min(bx) - r, ax.max(bx) + r, ay.min(by) - r, ay.max(by) + r];
        self.each(box_of, |canvas, x, y| {
            let (px, py) = (x as f64 + 0.5 - ax, y as f64 + 0.5 - ay);
            let t =
                if squared > 0.0 { ((px * dx + py * dy) / squared).clamp(0.0, 1.0) } else { 0.0 };
            let (ox, oy) = (px - t * dx, py - t * dy);
            if ox * ox + oy * oy > r * r {
                return;
            }
            // The normal of a tube across its axis.
            let s = ((px * dy - py * dx) / length / r).clamp(-1.0, 1.0);
            let across = Vec3::new(dy / length, dx / length, 0.0);
            let n = across * s + Vec3::new(0.0, 0.0, (1.0 - s * s).sqrt());
            let inverse = na + t * (nb - na);
            let share = t * nb / inverse;
            let p = a + (b - a) * share;
            canvas.put(x, y, inverse * 1.0005, || light.shade(p, n.normalize().0, c));
        });
    }

    /// Draws a ball of `radius` pixels.
    pub(crate) fn ball(&mut self, p: Vec3<f64>, radius: f64, c: [f32; 3], light: &Light) {
        let Some((x0, y0, near)) = self.centre(p) else { return };
        let r = radius.clamp(0.0, 1e4);
        // In front of a surface that it sits on.
        let lift = r / self.focal * near;
        self.each([x0 - r, x0 + r, y0 - r, y0 + r], |canvas, x, y| {
            let (dx, dy) = ((x as f64 + 0.5 - x0) / r, (y as f64 + 0.5 - y0) / r);
            let flat = dx * dx + dy * dy;
            if flat <= 1.0 {
                let n = Vec3::new(dx, -dy, (1.0 - flat).sqrt());
                let q = p + n * (r / (canvas.focal * near));
                canvas.put(x, y, near * (1.0 + 1.5 * lift), || {
                    let mut out = light.shade(q, n, c);
                    // A dark rim sets a marker off from a surface of like colour.
                    let rim = 1.0 - 0.55 * ((flat as f32).sqrt() * 4.0 - 3.0).max(0.0);
                    out = out.map(|v| v * rim);
                    out
                });
            }
        });
    }

    /// Draws a ring of `radius` pixels, unlit, over what is near it in depth.
    pub(crate) fn ring(&mut self, p: Vec3<f64>, radius: f64, stroke: f64, c: [f32; 3]) {
        let Some((x0, y0, near)) = self.centre(p) else { return };
        let r = radius.clamp(0.0, 1e4);
        let lift = r / self.focal * near;
        let (inner, outer) = ((r - stroke).max(0.0), r);
        self.each([x0 - r, x0 + r, y0 - r, y0 + r], |canvas, x, y| {
            let d = (x as f64 + 0.5 - x0).hypot(y as f64 + 0.5 - y0);
            if d >= inner && d <= outer {
                canvas.put(x, y, near * (1.0 + 3.0 * lift), || c);
            }
        });
    }

    /// A centre in pixels where it can be seen at all.
    fn centre(&self, p: Vec3<f64>) -> Option<(f64, f64, f64)> {
        if p.z.is_nan() || -p.z < NEAREST {
            return None;
        }
        let ([x, y], near) = self.project(p);
        (x.abs() < GUARD && y.abs() < GUARD).then_some((x, y, near))
    }

    /// Visits the pixels of a rectangle (left, right, top, bottom).
    fn each(&mut self, rect: [f64; 4], mut visit: impl FnMut(&mut Self, usize, usize)) {
        let clamp = |c: f64, size: usize| c.clamp(0.0, size as f64) as usize;
        let (x0, x1) = (clamp(rect[0].floor(), self.width), clamp(rect[1].ceil(), self.width));
        let (y0, y1) = (clamp(rect[2].floor(), self.height), clamp(rect[3].ceil(), self.height));
        for y in y0..y1 {
            for x in x0..x1 {
                visit(self, x, y);
            }
        }
    }

    fn put(&mut self, x: usize, y: usize, near: f64, color: impl FnOnce() -> [f32; 3]) {
        let index = y * self.width + x;
        if near as f32 > self.near[index] {
            self.near[index] = near as f32;
            self.color[index] = color();
        }
    }
}

/// Whether a sample of the finished pixel's four is drawn at this opacity. The order makes half
/// opacity a diagonal pair.
fn sampled(x: usize, y: usize, quarters: u8) -> bool {
    const ORDER: [u8; 4] = [0, 2, 3, 1];
    ORDER[(y & 1) * 2 + (x & 1)] < quarters
}

/// A polygon (or a segment, given as two corners) cut to what is in front of the camera and
/// within `reach` (a tangent) of its axis; Sutherland and Hodgman, 1974.
fn clip(corners: &[Corner], reach: f64) -> Vec<Corner> {
    let planes: [fn(Vec3<f64>, f64) -> f64; 5] = [
        |p, _| -p.z - NEAREST,
        |p, k| -k * p.z - p.x,
        |p, k| -k * p.z + p.x,
        |p, k| -k * p.z - p.y,
        |p, k| -k * p.z + p.y,
    ];
    let closed = corners.len() > 2;
    let mut polygon = corners.to_vec();
    for plane in planes {
        let mut kept = Vec::with_capacity(polygon.len() + 1);
        for (i, b) in polygon.iter().enumerate() {
            let previous = if i > 0 { Some(i - 1) } else { closed.then(|| polygon.len() - 1) };
            let db = plane(b.p, reach);
            if let Some(a) = previous.map(|k| polygon[k]) {
                let da = plane(a.p, reach);
                if (da >= 0.0) != (db >= 0.0) {
                    kept.push(between(&a, b, da / (da - db)));
                }
            }
            if db >= 0.0 {
                kept.push(*b);
            }
        }
        polygon = kept;
        if polygon.len() < 2 {
            return Vec::new();
        }
    }
    polygon
}

fn between(a: &Corner, b: &Corner, t: f64) -> Corner {
    let c = std::array::from_fn(|i| a.c[i] + (b.c[i] - a.c[i]) * t as f32);
    Corner { p: a.p + (b.p - a.p) * t, n: a.n + (b.n - a.n) * t, c }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corner(p: [f64; 3]) -> Corner {
        Corner { p: Vec3::splat(p), n: Vec3::new(0.0, 0.0, 1.0), c: [1.0; 3] }
    }

    #[test]
    fn clipping_keeps_the_part_in_front() {
        let t = [corner([0.0, 0.0, -1.0]), corner([1.0, 0.0, -1.0]), corner([0.0, 0.0, 1.0])];
        let cut = clip(&t, 1e3);
        assert_eq!(cut.len(), 4);
        assert!(cut.iter().all(|k| -k.p.z >= NEAREST * (1.0 - 1e-12)));
        let behind = t.map(|k| corner([k.p.x, k.p.y, 2.0]));
        assert!(clip(&behind, 1e3).is_empty());
    }

    #[test]
    fn a_segment_through_the_camera_is_cut() {
        let cut = clip(&[corner([0.0, 0.0, 1.0]), corner([0.0, 0.0, -3.0])], 1e3);
        assert_eq!(cut.len(), 2);
        assert!((cut[0].p.z + NEAREST).abs() < 1e-12);
        assert_eq!(cut[1].p.z, -3.0);
    }

    #[test]
    fn opacity_counts_samples() {
        for quarters in 0..=4 {
            let n = (0..4).filter(|i| sampled(i % 2, i / 2, quarters)).count();
            assert_eq!(n, usize::from(quarters));
        }
    }
}
