//! Where finished pixels go: range, normalisation, dtype, layout and place within the output.

use crate::image::rows::{self, INVERSE_255, saturate};
use crate::image::spec::{ImageSpec, Layout, PixelType, Scale};

/// The memory that receives one picture: exactly the elements of [`ImageSpec::shape`].
#[derive(Debug)]
pub enum PixelsMut<'a> {
    /// 8-bit values.
    U8(&'a mut [u8]),
    /// 32-bit floating point values.
    F32(&'a mut [f32]),
}

impl PixelsMut<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            PixelsMut::U8(values) => values.len(),
            PixelsMut::F32(values) => values.len(),
        }
    }

    pub(crate) fn pixel_type(&self) -> PixelType {
        match self {
            PixelsMut::U8(_) => PixelType::U8,
            PixelsMut::F32(_) => PixelType::F32,
        }
    }
}

/// What 8-bit values are multiplied by before they are resized.
pub(crate) fn scale_before(spec: &ImageSpec) -> f32 {
    if spec.effective_scale() == Scale::Before { INVERSE_255 } else { 1.0 }
}

/// What is done to a resized row before it is stored. Reused from picture to picture.
#[derive(Default)]
pub(crate) struct Finish {
    /// One value per element of a row.
    mean: Vec<f32>,
    std: Vec<f32>,
    row: Vec<f32>,
    bytes: Vec<u8>,
}

/// The part of an output that a picture fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Height and width of the whole output.
    pub size: [u32; 2],
    pub top: u32,
    pub left: u32,
    /// Height and width of the part.
    pub part: [u32; 2],
}

impl Place {
    fn is_whole(&self) -> bool {
        self.size == self.part
    }
}

/// One picture's output.
pub(crate) struct Target<'a> {
    pixels: PixelsMut<'a>,
    spec: &'a ImageSpec,
    place: Place,
    finish: &'a mut Finish,
    scale: Scale,
}

impl<'a> Target<'a> {
    /// Begins a picture, and blackens the output where the part does not cover it.
    pub fn new(
        pixels: PixelsMut<'a>,
        spec: &'a ImageSpec,
        place: Place,
        scale: Scale,
        finish: &'a mut Finish,
    ) -> Target<'a> {
        let width = place.size[1] as usize;
        for (row, values, neutral) in
            [(&mut finish.mean, &spec.mean, 0.0), (&mut finish.std, &spec.std, 1.0f32)]
        {
            row.clear();
            if spec.mean.is_some() || spec.std.is_some() {
                let channels = usize::from(spec.channels);
                let value = |c: usize| values.as_ref().map_or(neutral, |v| v[c]);
                row.extend((0..width * channels).map(|i| value(i % channels)));
            }
        }
        let mut target = Target { pixels, spec, place, finish, scale };
        if !place.is_whole() {
            target.blacken();
        }
        target
    }

    fn blacken(&mut self) {
        let part = self.place;
        self.place = Place { size: part.size, top: 0, left: 0, part: part.size };
        for y in 0..self.place.size[0] {
            self.row(y, |row| row.fill(0.0));
        }
        self.place = part;
    }

    /// Stores row `y` of the part. `fill` is given memory for its interleaved f32 values.
    pub fn row(&mut self, y: u32, fill: impl FnOnce(&mut [f32])) {
        let channels = usize::from(self.spec.channels);
        let len = self.place.part[1] as usize * channels;
        if let (PixelsMut::F32(out), Layout::Nhwc) = (&mut self.pixels, self.spec.layout) {
            let start = self.place.start(y) * channels;
            let out = &mut out[start..start + len];
            fill(out);
            finish(out, self.scale, &self.finish.mean, &self.finish.std);
            return;
        }
        let Finish { mean, std, row, bytes } = &mut *self.finish;
        row.resize(len, 0.0);
        fill(row);
        finish(row, self.scale, mean, std);
        match &mut self.pixels {
            PixelsMut::F32(out) => self.place.planes(y, channels, row, out),
            PixelsMut::U8(out) if self.spec.layout == Layout::Nhwc => {
                let start = self.place.start(y) * channels;
                saturate(row, &mut out[start..start + len]);
            }
            PixelsMut::U8(out) => {
                bytes.resize(len, 0);
                saturate(row, bytes);
                self.place.planes(y, channels, bytes, out);
            }
        }
    }

    /// Stores row `y` of the part from 8-bit values that need no resize any more.
    pub fn row_u8(&mut self, y: u32, values: &[u8]) {
        let channels = usize::from(self.spec.channels);
        match &mut self.pixels {
            PixelsMut::U8(out) => match self.spec.layout {
                Layout::Nhwc => {
                    let start = self.place.start(y) * channels;
                    out[start..start + values.len()].copy_from_slice(values);
                }
                Layout::Nchw => self.place.planes(y, channels, values, out),
            },
            PixelsMut::F32(_) => {
                let factor = if self.scale == Scale::Before { INVERSE_255 } else { 1.0 };
                self.row(y, |row| {
                    for (out, value) in row.iter_mut().zip(values) {
                        *out = f32::from(*value) * factor;
                    }
                });
            }
        }
    }
}

impl Place {
    /// The number of the first pixel of row `y` of the part.
    fn start(&self, y: u32) -> usize {
        (self.top + y) as usize * self.size[1] as usize + self.left as usize
    }

    /// Stores an interleaved row into planes.
    fn planes<T: Copy>(&self, y: u32, channels: usize, row: &[T], out: &mut [T]) {
        let plane = self.size[0] as usize * self.size[1] as usize;
        let (start, width) = (self.start(y), self.part[1] as usize);
        if channels == 3 {
            let (red, rest) = out[start..].split_at_mut(plane);
            let (green, blue) = rest.split_at_mut(plane);
            let planes = red[..width].iter_mut().zip(&mut green[..width]).zip(&mut blue[..width]);
            for (((r, g), b), pixel) in planes.zip(row.as_chunks::<3>().0) {
                [*r, *g, *b] = *pixel;
            }
            return;
        }
        for c in 0..channels {
            let out = &mut out[c * plane + start..][..width];
            for (out, pixel) in out.iter_mut().zip(row.chunks_exact(channels)) {
                *out = pixel[c];
            }
        }
    }
}

fn finish(row: &mut [f32], scale: Scale, mean: &[f32], std: &[f32]) {
    match scale {
        Scale::After => rows::multiply(row, INVERSE_255),
        Scale::Divide => rows::divide(row, 255.0),
        Scale::Before | Scale::Off => {}
    }
    if !mean.is_empty() {
        rows::normalize(row, mean, std);
    }
}
