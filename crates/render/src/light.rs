//! Light and shadow. Everything is in the camera's frame, so a turned camera keeps a well-lit
//! subject.

use crate::camera::Eyepiece;
use crate::fill::fill;
use costate_num::Vec3;

/// One lamp over the viewer's shoulder and a bright sky over a darker ground.
pub(crate) struct Light {
    /// Unit vector to the lamp.
    to_lamp: Vec3<f64>,
    /// Unit vector upwards.
    up: Vec3<f64>,
    shadow: Option<ShadowMap>,
}

const LAMP: f32 = 0.78;
const SKY: f32 = 0.42;
const GROUND: f32 = 0.2;
const GLOSS: f32 = 0.1;

impl Light {
    /// The lamp for a camera whose picture has `up` as its up axis in the world.
    pub(crate) fn new(eyepiece: &Eyepiece, up: Vec3<f64>) -> Self {
        let up = eyepiece.turn(up).normalize().0;
        let to_lamp = (up * 1.0 + Vec3::new(-0.42, 0.0, 0.5)).normalize().0;
        Self { to_lamp, up, shadow: None }
    }

    /// Casts shadows of these triangles, discs (centre, radius) and segments (ends, half width).
    pub(crate) fn cast(&mut self, casters: &Casters) {
        self.shadow = ShadowMap::new(self.to_lamp, casters);
    }

    /// The colour of a surface at `p` with unit normal `n` (towards the viewer) and albedo `c`.
    pub(crate) fn shade(&self, p: Vec3<f64>, n: Vec3<f64>, c: [f32; 3]) -> [f32; 3] {
        let facing = n.dot(self.to_lamp) as f32;
        let sky = 0.5 + 0.5 * n.dot(self.up) as f32;
        let mut light = GROUND + (SKY - GROUND) * sky;
        let mut gloss = 0.0;
        if facing > 0.0 {
            let lit = self.lit(p, n);
            light += LAMP * facing * lit;
            // The cosine between the normal and the direction half-way between lamp and viewer,
            // to the power of 32 (Blinn, 1977).
            let half = self.to_lamp - p.normalize().0;
            let along = n.dot(half).max(0.0);
            let squared = (along * along / half.norm_squared().max(1e-30)) as f32;
            let mut power = squared;
            for _ in 0..4 {
                power *= power;
            }
            gloss = GLOSS * lit * power;
        }
        [c[0] * light + gloss, c[1] * light + gloss, c[2] * light + gloss]
    }

    /// The light on a matt surface with normal `n`: in full shadow, and in the open, where a level
    /// floor has 1.
    pub(crate) fn on_plane(&self, n: Vec3<f64>) -> [f32; 2] {
        let ambient = |n: Vec3<f64>| GROUND + (SKY - GROUND) * (0.5 + 0.5 * n.dot(self.up) as f32);
        let open = |n: Vec3<f64>| ambient(n) + LAMP * (n.dot(self.to_lamp) as f32).max(0.0);
        let level = open(self.up);
        [ambient(n) / level, open(n) / level]
    }

    /// How much of the lamp reaches `p`, 0 to 1.
    #[inline(always)]
    pub(crate) fn lit(&self, p: Vec3<f64>, n: Vec3<f64>) -> f32 {
        self.shadow.as_ref().map_or(1.0, |s| s.lit(p, n))
    }

    /// Whether anything casts shadows.
    pub(crate) fn has_shadows(&self) -> bool {
        self.shadow.is_some()
    }
}

/// What stands in the lamp's way, in the camera's frame.
#[derive(Default)]
pub(crate) struct Casters {
    pub triangles: Vec<[Vec3<f64>; 3]>,
    /// Centre and radius.
    pub discs: Vec<(Vec3<f64>, f64)>,
    /// Ends and half width.
    pub segments: Vec<(Vec3<f64>, Vec3<f64>, f64)>,
}

/// Distances to the lamp (a parallel projection), looked up with a soft edge.
struct ShadowMap {
    axes: [Vec3<f64>; 3],
    /// Least coordinates along `axes`.
    low: [f64; 3],
    /// Texels per unit along the first two axes.
    scale: [f64; 2],
    /// Offset along the normal against a surface's shadow on itself.
    lift: f64,
    /// Height along the third axis, towards the lamp, above `low`.
    height: Vec<f32>,
    /// Least and greatest height that a soft look-up can meet, per block of texels: most look-ups
    /// are wholly in the light or wholly in the dark.
    range: Vec<[f32; 2]>,
}

const TEXELS: usize = 640;
/// Texels per side of a block.
const BLOCK: usize = 4;
const BLOCKS: usize = TEXELS / BLOCK;

impl ShadowMap {
    fn new(to_lamp: Vec3<f64>, casters: &Casters) -> Option<Self> {
        let side =
            if to_lamp.x.abs() < 0.8 { Vec3::new(1.0, 0.0, 0.0) } else { Vec3::new(0.0, 1.0, 0.0) };
        let u = side.cross(to_lamp).normalize().0;
        let axes = [u, to_lamp.cross(u), to_lamp];
        let along = |p: Vec3<f64>| axes.map(|a| a.dot(p));
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        let mut grow = |p: Vec3<f64>, r: f64| {
            for (k, c) in along(p).into_iter().enumerate() {
                low[k] = low[k].min(c - r);
                high[k] = high[k].max(c + r);
            }
        };
        casters.triangles.iter().flatten().for_each(|p| grow(*p, 0.0));
        casters.discs.iter().for_each(|(p, r)| grow(*p, *r));
        casters.segments.iter().for_each(|(a, b, r)| {
            grow(*a, *r);
            grow(*b, *r);
        });
        let size = [high[0] - low[0], high[1] - low[1]];
        let usable = |s: f64| s > 0.0 && s < 1e6;
        if !usable(size[0].max(size[1])) {
            return None;
        }
        // Square texels with a border of two, which the soft look-up reads.
        let texel = size[0].max(size[1]) / (TEXELS - 4) as f64;
        let low = [low[0] - 2.0 * texel, low[1] - 2.0 * texel, low[2]];
        let mut map = Self {
            axes,
            low,
            scale: [1.0 / texel; 2],
            lift: 1.6 * texel,
            height: vec![f32::NEG_INFINITY; TEXELS * TEXELS],
            range: Vec::new(),
        };
        for t in &casters.triangles {
            map.triangle(*t);
        }
        for (p, r) in &casters.discs {
            let [x, y, z] = map.locate(*p);
            const SIDES: usize = 10;
            let rim = |i: usize| {
                let a = i as f64 * std::f64::consts::TAU / SIDES as f64;
                [x + r / texel * a.cos(), y + r / texel * a.sin(), z]
            };
            for i in 0..SIDES {
                map.polygon([[x, y, z], rim(i), rim(i + 1)]);
            }
        }
        for (a, b, r) in &casters.segments {
            let [a, b] = [map.locate(*a), map.locate(*b)];
            let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
            let length = dx.hypot(dy).max(1e-12);
            let w = (r / texel).max(0.5) / length;
            let shift = |p: [f64; 3], s: f64| [p[0] - s * dy * w, p[1] + s * dx * w, p[2]];
            map.polygon([shift(a, 1.0), shift(a, -1.0), shift(b, 1.0)]);
            map.polygon([shift(b, 1.0), shift(a, -1.0), shift(b, -1.0)]);
        }
        map.range = map.ranges();
        Some(map)
    }

    /// A look-up that starts in a block reads one texel before it and two behind it.
    fn ranges(&self) -> Vec<[f32; 2]> {
        let reach = |b: usize| (BLOCK * b).saturating_sub(1)..(BLOCK * b + BLOCK + 2).min(TEXELS);
        let none = [f32::INFINITY, f32::NEG_INFINITY];
        let join = |a: [f32; 2], b: [f32; 2]| [a[0].min(b[0]), a[1].max(b[1])];
        // First along the rows, then across them.
        let mut rows = Vec::with_capacity(TEXELS * BLOCKS);
        for row in self.height.chunks_exact(TEXELS) {
            for i in 0..BLOCKS {
                rows.push(row[reach(i)].iter().fold(none, |r, h| join(r, [*h, *h])));
            }
        }
        let mut out = Vec::with_capacity(BLOCKS * BLOCKS);
        for j in 0..BLOCKS {
            for i in 0..BLOCKS {
                out.push(reach(j).fold(none, |r, y| join(r, rows[y * BLOCKS + i])));
            }
        }
        out
    }

    /// A point in texels, and its height above `low`.
    #[inline(always)]
    fn locate(&self, p: Vec3<f64>) -> [f64; 3] {
        [
            (self.axes[0].dot(p) - self.low[0]) * self.scale[0],
            (self.axes[1].dot(p) - self.low[1]) * self.scale[1],
            self.axes[2].dot(p) - self.low[2],
        ]
    }

    fn triangle(&mut self, t: [Vec3<f64>; 3]) {
        let t = t.map(|p| self.locate(p));
        self.polygon(t);
    }

    fn polygon(&mut self, t: [[f64; 3]; 3]) {
        let height = &mut self.height;
        fill(t.map(|p| [p[0], p[1]]), TEXELS, TEXELS, |x, y, b| {
            let z = (b[0] * t[0][2] + b[1] * t[1][2] + b[2] * t[2][2]) as f32;
            let old = &mut height[y * TEXELS + x];
            *old = old.max(z);
        });
    }

    /// 0 in full shadow, 1 in the open.
    #[inline(always)]
    fn lit(&self, p: Vec3<f64>, n: Vec3<f64>) -> f32 {
        let [x, y, z] = self.locate(p + n * self.lift);
        let [x, y] = [x - 0.5, y - 0.5];
        let inside = |c: f64| c >= 1.0 && c < (TEXELS - 3) as f64;
        if !inside(x) || !inside(y) {
            return 1.0;
        }
        let (ix, iy) = (x as usize, y as usize);
        let z = (z + 0.5 * self.lift) as f32;
        let [least, most] = self.range[iy / BLOCK * BLOCKS + ix / BLOCK];
        if most <= z {
            return 1.0;
        }
        if least > z {
            return 0.0;
        }
        self.soft([x, y], z)
    }

    /// Mean of 3 × 3 comparisons with bilinear weights, around a texel at least one from the
    /// border before it and two from that behind it.
    fn soft(&self, [x, y]: [f64; 2], z: f32) -> f32 {
        let (ix, iy) = (x as usize, y as usize);
        let (fx, fy) = ((x - ix as f64) as f32, (y - iy as f64) as f32);
        let (wx, wy) = ([1.0 - fx, 1.0, 1.0, fx], [1.0 - fy, 1.0, 1.0, fy]);
        let mut lit = 0.0;
        for (j, wy) in wy.into_iter().enumerate() {
            let start = (iy + j - 1) * TEXELS + ix - 1;
            for (i, wx) in wx.into_iter().enumerate() {
                if self.height[start + i] <= z {
                    lit += wx * wy;
                }
            }
        }
        lit / 9.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::{Camera, View};
    use crate::scene::Bounds;

    #[test]
    fn a_plate_shades_what_is_under_it_and_not_itself() {
        let bounds = Bounds { low: [-1.0; 3], high: [1.0; 3] };
        let eyepiece = Camera::framing(&bounds, &View::default(), 1.0).eyepiece();
        let up = Vec3::new(0.0, 0.0, 1.0);
        let mut light = Light::new(&eyepiece, up);
        let corner = |x: f64, y: f64| eyepiece.place(Vec3::new(x, y, 0.5));
        let mut casters = Casters::default();
        casters.triangles.push([corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0)]);
        casters.triangles.push([corner(-1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)]);
        light.cast(&casters);
        let n = eyepiece.turn(up);
        let under = eyepiece.place(Vec3::new(0.0, 0.0, 0.5)) - light.to_lamp * 0.1;
        assert_eq!(light.lit(under, n), 0.0);
        assert_eq!(light.lit(corner(0.0, 0.0), n), 1.0);
        assert_eq!(light.lit(eyepiece.place(Vec3::new(5.0, 5.0, 0.0)), n), 1.0);
    }

    #[test]
    fn nothing_casts_no_shadow() {
        let bounds = Bounds { low: [-1.0; 3], high: [1.0; 3] };
        let eyepiece = Camera::framing(&bounds, &View::default(), 1.0).eyepiece();
        let mut light = Light::new(&eyepiece, Vec3::new(0.0, 0.0, 1.0));
        light.cast(&Casters::default());
        assert!(!light.has_shadows());
    }
}
