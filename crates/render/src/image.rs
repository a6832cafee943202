//! Finished images and PNG.

use crate::Error;

/// An image of sRGB bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Red, green and blue of each pixel, row by row from the upper left corner.
    pub rgb: Vec<u8>,
}

impl Image {
    /// The three bytes of a pixel; black outside the image.
    pub fn pixel(&self, x: usize, y: usize) -> [u8; 3] {
        let inside = x < self.width && y < self.height;
        let at = 3 * (y * self.width + x);
        match self.rgb.get(at..at + 3) {
            Some([r, g, b]) if inside => [*r, *g, *b],
            _ => [0; 3],
        }
    }

    /// The image as a PNG file.
    ///
    /// # Errors
    /// [`Error::Encode`] where the number of bytes does not fit the sides.
    pub fn to_png(&self) -> Result<Vec<u8>, Error> {
        let encode = |e: png::EncodingError| Error::Encode(e.to_string());
        let side = |n: usize| u32::try_from(n).map_err(|e| Error::Encode(e.to_string()));
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(&mut out, side(self.width)?, side(self.height)?);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().map_err(encode)?;
        writer.write_image_data(&self.rgb).map_err(encode)?;
        writer.finish().map_err(encode)?;
        Ok(out)
    }
}
