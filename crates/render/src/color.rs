//! Colours: linear light inside, sRGB at the door.

/// A colour in linear light, components from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Color(pub [f32; 3]);

impl Color {
    /// From sRGB bytes, as in `#rrggbb`.
    pub fn srgb(r: u8, g: u8, b: u8) -> Self {
        Self([to_linear(r), to_linear(g), to_linear(b)])
    }

    /// Linear interpolation: `self` at 0, `other` at 1.
    pub fn mix(self, other: Self, t: f32) -> Self {
        let [a, b] = [self.0, other.0];
        Self([a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t])
    }

    /// All components times `s`.
    pub fn scale(self, s: f32) -> Self {
        Self([self.0[0] * s, self.0[1] * s, self.0[2] * s])
    }

    /// A perceptually even scale from dark violet over green to yellow (a fit to matplotlib's
    /// *viridis*), for scalar fields; `t` is clamped to 0..1 and NaN gives grey.
    pub fn viridis(t: f64) -> Self {
        const STOPS: [[u8; 3]; 7] = [
            [68, 1, 84],
            [68, 57, 131],
            [49, 104, 142],
            [33, 145, 140],
            [53, 183, 121],
            [144, 215, 67],
            [253, 231, 37],
        ];
        if t.is_nan() {
            return Self::srgb(128, 128, 128);
        }
        let x = t.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
        let i = (x as usize).min(STOPS.len() - 2);
        let at = |k: usize| Self::srgb(STOPS[k][0], STOPS[k][1], STOPS[k][2]);
        at(i).mix(at(i + 1), (x - i as f64) as f32)
    }
}

/// One sRGB byte in linear light (IEC 61966-2-1).
fn to_linear(byte: u8) -> f32 {
    let c = f32::from(byte) / 255.0;
    if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

/// Linear light to sRGB bytes through a table.
pub(crate) struct Encoder {
    table: Vec<u8>,
}

impl Encoder {
    const SIZE: usize = 4096;

    pub(crate) fn new() -> Self {
        let entry = |i: usize| {
            let c = i as f32 / (Self::SIZE - 1) as f32;
            let s = if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
            (s * 255.0 + 0.5) as u8
        };
        Self { table: (0..Self::SIZE).map(entry).collect() }
    }

    /// The byte for a linear component; below 0 and NaN give 0, above 1 gives 255.
    pub(crate) fn byte(&self, linear: f32) -> u8 {
        let index = (linear * (Self::SIZE - 1) as f32 + 0.5) as usize;
        self.table[index.min(Self::SIZE - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_the_round_trip() {
        let encoder = Encoder::new();
        for b in 0..=255u8 {
            let back = encoder.byte(to_linear(b));
            assert!(back.abs_diff(b) <= 1, "{b} came back as {back}");
        }
    }

    #[test]
    fn values_outside_are_clamped() {
        let encoder = Encoder::new();
        assert_eq!(encoder.byte(f32::NAN), 0);
        assert_eq!(encoder.byte(-1.0), 0);
        assert_eq!(encoder.byte(1e30), 255);
        assert_eq!(Color::viridis(f64::NAN), Color::srgb(128, 128, 128));
        let (got, want) = (Color::viridis(f64::INFINITY).0, Color::srgb(253, 231, 37).0);
        assert!((0..3).all(|k| (got[k] - want[k]).abs() < 1e-6));
    }
}
