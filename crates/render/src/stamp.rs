//! The clock in the corner of a frame.

use crate::image::Image;
use crate::scene::TimeStamp;

/// Five by seven dots, one byte per row, the leftmost dot in bit 4.
fn glyph(c: char) -> [u8; 7] {
    match c {
        '0' => [0x0e, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0e],
        '1' => [0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e],
        '2' => [0x0e, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1f],
        '3' => [0x1f, 0x02, 0x04, 0x02, 0x01, 0x11, 0x0e],
        '4' => [0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02],
        '5' => [0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e],
        '6' => [0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e],
        '7' => [0x1f, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08],
        '8' => [0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e],
        '9' => [0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c],
        '.' => [0x00, 0x00, 0x00, 0x00, 0x00, 0x0c, 0x0c],
        '-' => [0x00, 0x00, 0x00, 0x1f, 0x00, 0x00, 0x00],
        's' => [0x00, 0x00, 0x0e, 0x10, 0x0e, 0x01, 0x1e],
        '×' => [0x00, 0x11, 0x0a, 0x04, 0x0a, 0x11, 0x00],
        _ => [0; 7],
    }
}

/// Writes the time, and the speed where it is not that of life, into the lower left corner.
pub(crate) fn draw(image: &mut Image, stamp: &TimeStamp) {
    let mut text = if stamp.time.abs() < 1e5 {
        format!("{:.3} s", stamp.time)
    } else {
        return;
    };
    if stamp.speed > 0.0 && (stamp.speed - 1.0).abs() > 1e-3 && stamp.speed < 1e4 {
        let digits = if stamp.speed < 0.01 { 4 } else { 2 };
        let speed = format!("{:.digits$}", stamp.speed);
        let speed = speed.trim_end_matches('0').trim_end_matches('.');
        text.push_str(&format!("   {speed}×"));
    }
    let scale = (image.height / 240).max(1);
    let margin = 4 * scale + 2;
    let Some(top) = image.height.checked_sub(margin + 7 * scale) else { return };
    for (i, c) in text.chars().enumerate() {
        for (row, bits) in glyph(c).into_iter().enumerate() {
            for column in (0..5).filter(|k| bits >> (4 - k) & 1 == 1) {
                let x = margin + (6 * i + column) * scale;
                let y = top + row * scale;
                for (dx, dy) in (0..scale * scale).map(|k| (k % scale, k / scale)) {
                    darken(image, x + dx, y + dy);
                }
            }
        }
    }
}

fn darken(image: &mut Image, x: usize, y: usize) {
    if x < image.width && y < image.height {
        let at = 3 * (y * image.width + x);
        image.rgb[at..at + 3].copy_from_slice(&[62, 70, 82]);
    }
}
