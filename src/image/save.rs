//! A row of a batch back to a picture that can be looked at.

use crate::error::{Error, Result};
use crate::image::decode::Image;
use crate::image::spec::{ImageSpec, Layout, PixelType, Scale};

/// Pixels to read.
#[derive(Clone, Copy, Debug)]
pub enum Pixels<'a> {
    /// 8-bit values.
    U8(&'a [u8]),
    /// 32-bit floating point values.
    F32(&'a [f32]),
}

impl Image {
    /// The picture as the bytes of a PNG file.
    ///
    /// # Errors
    /// `InvalidArgument` where the picture is empty or does not hold what its size says.
    pub fn encode_png(&self) -> Result<Vec<u8>> {
        let spec = ImageSpec::keep_size().channels(self.channels).dtype(PixelType::U8);
        let shape = [self.height as usize, self.width as usize, usize::from(self.channels)];
        spec.encode_png(Pixels::U8(&self.pixels), shape)
    }
}

impl ImageSpec {
    /// One picture of a batch as the bytes of a PNG file; `shape` is in the order of the spec's layout, and is
    /// [`ImageSpec::shape`] unless the size is kept. Mean, standard deviation and scale are undone, values rounded to 8
    /// bits.
    ///
    /// ```
    /// use tfrmap::image::{DecodeOptions, ImageSpec, Pixels, decode};
    /// let spec = ImageSpec::imagenet_eval(8, 4);
    /// let png = spec.encode_png(Pixels::F32(&[0.0; 3 * 4 * 4]), [3, 4, 4])?;
    /// // ImageNet's mean colour.
    /// assert_eq!(decode(&png, &DecodeOptions::default())?.pixels[..3], [124, 116, 104]);
    /// # Ok::<(), tfrmap::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidArgument` where the shape is empty, has another number of channels than the spec, or does not fit the
    /// number of values.
    pub fn encode_png(&self, row: Pixels<'_>, shape: [usize; 3]) -> Result<Vec<u8>> {
        let (height, width, channels) = match self.layout {
            Layout::Nhwc => (shape[0], shape[1], shape[2]),
            Layout::Nchw => (shape[1], shape[2], shape[0]),
        };
        let len = match row {
            Pixels::U8(values) => values.len(),
            Pixels::F32(values) => values.len(),
        };
        let elements = height.checked_mul(width).and_then(|n| n.checked_mul(channels));
        let sides = u32::try_from(height).ok().zip(u32::try_from(width).ok());
        let (Some((rows, columns)), true) = (sides, elements == Some(len) && len > 0) else {
            return Err(Error::invalid(format!("a picture of shape {shape:?} cannot have {len} values")));
        };
        let color = match channels {
            _ if channels != usize::from(self.channels) => {
                let expected = self.channels;
                return Err(Error::invalid(format!(
                    "the picture has {channels} channels, the spec {expected}"
                )));
            }
            1 => ::png::ColorType::Grayscale,
            3 => ::png::ColorType::Rgb,
            4 => ::png::ColorType::Rgba,
            _ => return Err(Error::invalid(format!("a PNG cannot have {channels} channels"))),
        };
        let plane = height * width;
        let place = |i: usize| match self.layout {
            Layout::Nhwc => i,
            Layout::Nchw => i % channels * plane + i / channels,
        };
        let factor = if self.effective_scale() == Scale::Off { 1.0 } else { 255.0 };
        let restore = |value: f32, c: usize| {
            let std = self.std.as_ref().map_or(1.0, |std| std[c]);
            let mean = self.mean.as_ref().map_or(0.0, |mean| mean[c]);
            ((value * std + mean) * factor).round().clamp(0.0, 255.0) as u8
        };
        let pixels: Vec<u8> = match row {
            Pixels::U8(values) => (0..len).map(|i| values[place(i)]).collect(),
            Pixels::F32(values) => (0..len).map(|i| restore(values[place(i)], i % channels)).collect(),
        };
        let mut file = Vec::new();
        let mut encoder = ::png::Encoder::new(&mut file, columns, rows);
        encoder.set_color(color);
        encoder.set_depth(::png::BitDepth::Eight);
        let written = encoder.write_header().and_then(|mut writer| {
            writer.write_image_data(&pixels)?;
            writer.finish()
        });
        written.map_err(|error| Error::invalid(format!("PNG: {error}")).with_source(error))?;
        Ok(file)
    }
}
