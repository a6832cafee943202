//! The colours of a GIF: one palette for the whole file, so that what stands still does not
//! flicker. Median cut (Heckbert, 1982) over a histogram, then a few rounds of k-means.

use crate::image::Image;

/// Bits per channel of the histogram and of the look-up.
const BITS: usize = 6;
const CELLS: usize = 1 << (3 * BITS);

/// At most this many colours: the last index of a GIF's 256 is kept for "as before".
pub(crate) const COLORS: usize = 255;

/// Rounds of k-means.
const ROUNDS: usize = 4;

pub(crate) struct Palette {
    pub colors: Vec<[u8; 3]>,
    /// Nearest colour per cell, found when first asked for.
    nearest: Vec<u16>,
}

/// A cell of the histogram that was met: mean colour and how often.
#[derive(Clone, Copy)]
struct Bin {
    color: [f32; 3],
    weight: f32,
}

impl Palette {
    /// A palette for images like these.
    pub(crate) fn of<'a>(samples: impl IntoIterator<Item = &'a Image>) -> Self {
        let mut sums = vec![[0u64; 4]; CELLS];
        for image in samples {
            for p in image.rgb.chunks_exact(3) {
                let sum = &mut sums[cell([p[0], p[1], p[2]])];
                for k in 0..3 {
                    sum[k] += u64::from(p[k]);
                }
                sum[3] += 1;
            }
        }
        let mut bins: Vec<Bin> = sums
            .iter()
            .filter(|s| s[3] > 0)
            .map(|s| Bin {
                color: std::array::from_fn(|k| s[k] as f32 / s[3] as f32),
                // Rare colours (a marker) count for more than their area, the background for less.
                weight: (s[3] as f32).sqrt(),
            })
            .collect();
        let mut colors = median_cut(&mut bins);
        refine(&bins, &mut colors);
        let round = |c: &[f32; 3]| c.map(|v| (v + 0.5) as u8);
        Self { colors: colors.iter().map(round).collect(), nearest: vec![u16::MAX; CELLS] }
    }

    /// The index of the colour nearest to `rgb`.
    pub(crate) fn index(&mut self, rgb: [u8; 3]) -> u8 {
        let cell = cell(rgb);
        if self.nearest[cell] == u16::MAX {
            let middle = |v: u8| f32::from(v & !3) + 1.5;
            let want = rgb.map(middle);
            let best = nearest(&want, self.colors.iter().map(|c| c.map(f32::from)));
            self.nearest[cell] = best as u16;
        }
        self.nearest[cell] as u8
    }
}

fn cell(rgb: [u8; 3]) -> usize {
    let [r, g, b] = rgb.map(|v| usize::from(v >> (8 - BITS)));
    (r << (2 * BITS)) | (g << BITS) | b
}

/// Squared distance, weighed roughly as the eye does.
fn distance(a: &[f32; 3], b: &[f32; 3]) -> f32 {
    let d = [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    2.0 * d[0] * d[0] + 4.0 * d[1] * d[1] + 3.0 * d[2] * d[2]
}

fn nearest(want: &[f32; 3], colors: impl Iterator<Item = [f32; 3]>) -> usize {
    let mut best = (0, f32::INFINITY);
    for (i, c) in colors.enumerate() {
        let d = distance(want, &c);
        if d < best.1 {
            best = (i, d);
        }
    }
    best.0
}

/// Cuts the box with the largest weighted spread at its median until there are enough.
fn median_cut(bins: &mut [Bin]) -> Vec<[f32; 3]> {
    if bins.is_empty() {
        return vec![[0.0; 3]];
    }
    let mut boxes = vec![(0, bins.len())];
    while boxes.len() < COLORS {
        let spread = |&(a, b): &(usize, usize)| widest(&bins[a..b]);
        let scores = boxes.iter().map(spread).enumerate();
        let Some((i, (axis, score))) = scores.max_by(|x, y| x.1.1.total_cmp(&y.1.1)) else { break };
        if score <= 0.0 {
            break;
        }
        let (a, b) = boxes[i];
        let part = &mut bins[a..b];
        part.sort_by(|x, y| x.color[axis].total_cmp(&y.color[axis]));
        let half: f32 = 0.5 * part.iter().map(|x| x.weight).sum::<f32>();
        let mut sum = 0.0;
        let cut = part.iter().position(|x| {
            sum += x.weight;
            sum >= half
        });
        let cut = (cut.unwrap_or(0) + 1).min(part.len() - 1);
        boxes[i] = (a, a + cut);
        boxes.push((a + cut, b));
    }
    boxes.iter().map(|&(a, b)| mean(bins[a..b].iter())).collect()
}

/// The axis with the largest weighted variance in a box, and that variance.
fn widest(bins: &[Bin]) -> (usize, f32) {
    let m = mean(bins.iter());
    let spread = |k: usize| {
        let d = |x: &Bin| (x.color[k] - m[k]) * (x.color[k] - m[k]) * x.weight;
        bins.iter().map(d).sum::<f32>()
    };
    let all = [spread(0), spread(1), spread(2)];
    let axis = if all[1] >= all[0] && all[1] >= all[2] {
        1
    } else if all[0] >= all[2] {
        0
    } else {
        2
    };
    (axis, if bins.len() > 1 { all[axis] } else { 0.0 })
}

/// A weighted mean in the making: the weighted sum and the weight.
#[derive(Clone, Copy, Default)]
struct Mean {
    sum: [f32; 3],
    weight: f32,
}

impl Mean {
    fn add(&mut self, bin: &Bin) {
        for (sum, c) in self.sum.iter_mut().zip(bin.color) {
            *sum += bin.weight * c;
        }
        self.weight += bin.weight;
    }

    fn color(&self) -> [f32; 3] {
        self.sum.map(|s| s / self.weight)
    }
}

fn mean<'a>(bins: impl Iterator<Item = &'a Bin>) -> [f32; 3] {
    let mut all = Mean::default();
    bins.for_each(|bin| all.add(bin));
    all.color()
}

fn refine(bins: &[Bin], colors: &mut [[f32; 3]]) {
    for _ in 0..ROUNDS {
        let mut means = vec![Mean::default(); colors.len()];
        for bin in bins {
            means[nearest(&bin.color, colors.iter().copied())].add(bin);
        }
        for (c, m) in colors.iter_mut().zip(&means).filter(|(_, m)| m.weight > 0.0) {
            *c = m.color();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(rgb: Vec<u8>) -> Image {
        Image { width: rgb.len() / 3, height: 1, rgb }
    }

    #[test]
    fn few_colours_are_kept_as_they_are() {
        let colors = [[10, 20, 30], [200, 100, 0], [255, 255, 255]];
        let mut palette = Palette::of(&[image(colors.concat())]);
        assert_eq!(palette.colors.len(), 3);
        for c in colors {
            let i = palette.index(c);
            assert_eq!(palette.colors[usize::from(i)], c);
        }
    }

    #[test]
    fn a_rare_colour_survives_a_long_gradient() {
        let mut rgb: Vec<u8> = (0..30_000).flat_map(|i| [(i % 256) as u8; 3]).collect();
        rgb.extend([230, 30, 40]);
        let mut palette = Palette::of(&[image(rgb)]);
        assert!(palette.colors.len() <= COLORS);
        let i = usize::from(palette.index([230, 30, 40]));
        let got = palette.colors[i];
        assert!(got[0] > 200 && got[1] < 60 && got[2] < 70, "{got:?}");
    }

    #[test]
    fn nothing_gives_a_palette_too() {
        let mut palette = Palette::of(std::iter::empty());
        assert_eq!(palette.index([1, 2, 3]), 0);
    }
}
