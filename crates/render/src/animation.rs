//! Motions as animated GIFs.

use crate::Error;
use crate::image::Image;
use crate::palette::{COLORS, Palette};
use crate::renderer::Renderer;
use crate::scene::Scene;
use gif::{DisposalMethod, Frame, Repeat};
use std::borrow::Cow;
use std::io::Write;

/// Frames that the palette is made from.
const SAMPLES: usize = 12;

/// The index that leaves a pixel as the frame before had it.
const AS_BEFORE: u8 = COLORS as u8;

/// Which instants of a motion are shown, and for how long each.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// Instants in seconds of the motion.
    pub times: Vec<f64>,
    /// Hundredths of a second that each is shown.
    pub delay: u16,
    /// Seconds of the motion per second shown.
    pub speed: f64,
}

impl Timeline {
    /// Instants from `start` to `end` seconds, evenly spaced, at most `most` of them (at least
    /// one). The motion is shown at the speed of life where it then lasts between 2 and 12 s, and
    /// slower or faster by a round factor (1, 2 or 5 times a power of ten) where it would not;
    /// 25 frames a second unless that makes more than `most`.
    pub fn new(start: f64, end: f64, most: usize) -> Self {
        const SHORTEST: f64 = 2.0;
        const LONGEST: f64 = 12.0;
        const RATE: f64 = 25.0;
        let span = end - start;
        if !(span > 0.0 && span.is_finite()) || most < 2 {
            let time = if start.is_finite() { start } else { 0.0 };
            return Self { times: vec![time], delay: 100, speed: 1.0 };
        }
        let speed = if span < SHORTEST {
            round_down(span / SHORTEST)
        } else if span > LONGEST {
            1.0 / round_down(LONGEST / span)
        } else {
            1.0
        };
        let shown = span / speed;
        let wanted = (shown * RATE).round().max(1.0);
        let steps = wanted.min((most - 1) as f64);
        let delay = (100.0 * shown / steps).round().clamp(2.0, 6000.0);
        let time = |i: usize| start + span * i as f64 / steps;
        Self { times: (0..=steps as usize).map(time).collect(), delay: delay as u16, speed }
    }
}

/// The largest of 1, 2 and 5 times a power of ten that is at most `x` (positive).
fn round_down(x: f64) -> f64 {
    let power = 10f64.powf(x.log10().floor());
    // A digit that rounding left just below a step counts as on it.
    let digit = x / power * (1.0 + 1e-9);
    power
        * if digit >= 5.0 {
            5.0
        } else if digit >= 2.0 {
            2.0
        } else {
            1.0
        }
}

/// Writes a GIF that plays for ever: `frames` images of `scene(0)`, `scene(1)` … one after
/// another, each shown for `delay` hundredths of a second. A dozen scenes are drawn twice, as the
/// palette is chosen first.
///
/// # Errors
/// [`Error::NoFrames`] where `frames` is zero; [`Error::Write`] where writing fails.
pub fn write_gif<W: Write>(
    out: W,
    renderer: &mut Renderer,
    frames: usize,
    delay: u16,
    mut scene: impl FnMut(usize) -> Scene,
) -> Result<(), Error> {
    if frames == 0 {
        return Err(Error::NoFrames);
    }
    let count = frames.min(SAMPLES);
    let pick = |i: usize| if count > 1 { i * (frames - 1) / (count - 1) } else { 0 };
    let samples: Vec<Image> = (0..count).map(|i| renderer.render(&scene(pick(i)))).collect();
    let mut palette = Palette::of(&samples);
    let (width, height) = (samples[0].width, samples[0].height);
    drop(samples);
    let side = |n: usize| u16::try_from(n).map_err(|e| Error::Encode(e.to_string()));
    let (w, h) = (side(width)?, side(height)?);

    let mut table: Vec<u8> = palette.colors.concat();
    table.resize(3 * (COLORS + 1), 0);
    let mut encoder = gif::Encoder::new(out, w, h, &table).map_err(failed)?;
    encoder.set_repeat(Repeat::Infinite).map_err(failed)?;
    let mut before: Vec<u8> = Vec::new();
    for i in 0..frames {
        let image = renderer.render(&scene(i));
        let now: Vec<u8> =
            image.rgb.chunks_exact(3).map(|p| palette.index([p[0], p[1], p[2]])).collect();
        let frame = difference(&before, &now, width, height);
        encoder.write_frame(&Frame { delay, ..frame }).map_err(failed)?;
        before = now;
    }
    let mut out = encoder.into_inner().map_err(|e| Error::Write(e.to_string()))?;
    out.flush().map_err(|e| Error::Write(e.to_string()))
}

fn failed(e: gif::EncodingError) -> Error {
    match e {
        gif::EncodingError::Io(e) => Error::Write(e.to_string()),
        other => Error::Encode(other.to_string()),
    }
}

/// The smallest frame that turns one image into the next; the whole image where there is none
/// before, and one pixel where nothing changes (players skip empty frames).
fn difference(before: &[u8], now: &[u8], width: usize, height: usize) -> Frame<'static> {
    let changed = |x: usize, y: usize| before.get(y * width + x) != Some(&now[y * width + x]);
    let row = |y: &usize| (0..width).any(|x| changed(x, *y));
    let column = |x: &usize| (0..height).any(|y| changed(*x, y));
    let (top, bottom) = ((0..height).find(row), (0..height).rev().find(row));
    let (left, right) = ((0..width).find(column), (0..width).rev().find(column));
    let (x0, x1) = (left.unwrap_or(0), right.unwrap_or(0) + 1);
    let (y0, y1) = (top.unwrap_or(0), bottom.unwrap_or(0) + 1);
    let mut buffer = Vec::with_capacity((x1 - x0) * (y1 - y0));
    for y in y0..y1 {
        for x in x0..x1 {
            buffer.push(if changed(x, y) { now[y * width + x] } else { AS_BEFORE });
        }
    }
    Frame {
        // Sides fit into 16 bits: the caller has checked the whole image's.
        left: x0 as u16,
        top: y0 as u16,
        width: (x1 - x0) as u16,
        height: (y1 - y0) as u16,
        buffer: Cow::Owned(buffer),
        transparent: Some(AS_BEFORE),
        dispose: DisposalMethod::Keep,
        ..Frame::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timelines_show_life_or_round_factors() {
        let t = Timeline::new(0.0, 4.0, 200);
        assert_eq!((t.speed, t.delay, t.times.len()), (1.0, 4, 101));
        let t = Timeline::new(0.0, 0.5, 200);
        assert_eq!((t.speed, t.delay), (0.2, 4));
        assert_eq!(t.times.last(), Some(&0.5));
        let t = Timeline::new(0.0, 100.0, 200);
        assert_eq!(t.speed, 10.0);
        assert!(t.times.len() <= 200);
        for (a, b) in [(1.0, 1.0), (2.0, 1.0), (0.0, f64::NAN), (0.0, f64::INFINITY)] {
            assert_eq!(Timeline::new(a, b, 200).times.len(), 1);
        }
        assert!(Timeline::new(-1e300, 1e300, 50).times.len() <= 50);
        assert!(Timeline::new(0.0, 1e-300, 50).times.len() <= 50);
    }

    #[test]
    fn only_what_changes_is_stored() {
        let before = [1, 1, 1, 1, 1, 1];
        let now = [1, 1, 1, 1, 2, 1];
        let f = difference(&before, &now, 3, 2);
        assert_eq!((f.left, f.top, f.width, f.height), (1, 1, 1, 1));
        assert_eq!(&*f.buffer, &[2]);
        let f = difference(&before, &before, 3, 2);
        assert_eq!(&*f.buffer, &[AS_BEFORE]);
        let f = difference(&[], &now, 3, 2);
        assert_eq!(&*f.buffer, &now);
    }
}
