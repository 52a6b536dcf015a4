//! From encoded bytes to finished pixels: the state one thread reuses for each picture.

use crate::error::{Error, Result};
use crate::image::augment::AugmentKey;
use crate::image::codecs;
use crate::image::decode::{DecodeOptions, guarded, recognise};
use crate::image::fit::{Applied, Geometry};
use crate::image::resize::{self, Resizer, View};
use crate::image::spec::{ImageSpec, PixelType};
use crate::image::target::{Finish, PixelsMut, Target, scale_before};

/// Memory that grows to a picture's size, for [`ImageWorker::run_keep`].
#[derive(Debug)]
pub enum PixelsVec<'a> {
    /// 8-bit values.
    U8(&'a mut Vec<u8>),
    /// 32-bit floating point values.
    F32(&'a mut Vec<f32>),
}

/// What one thread keeps from picture to picture: decoder state, interpolation tables, scratch memory. Once pictures of
/// the usual size have passed, it allocates nothing for another JPEG.
#[derive(Default)]
pub struct ImageWorker {
    pixels: Vec<u8>,
    resizer: Resizer,
    finish: Finish,
}

impl ImageWorker {
    /// A worker with nothing in it yet.
    pub fn new() -> ImageWorker {
        ImageWorker::default()
    }

    /// Decodes, resizes and converts one picture into `out`, which has exactly the elements of
    /// [`ImageSpec::shape`]; returns what was cut and flipped.
    ///
    /// On an error `out` holds unspecified values.
    ///
    /// # Errors
    /// As [`decode`](crate::image::decode) and [`ImageSpec::check`]; `InvalidArgument` where `out` has another length or
    /// type than the spec, or the spec's crop is not inside the picture.
    pub fn run(
        &mut self,
        bytes: &[u8],
        spec: &ImageSpec,
        key: AugmentKey,
        out: PixelsMut<'_>,
    ) -> Result<Applied> {
        spec.check()?;
        let Some(shape) = spec.shape() else {
            return Err(Error::invalid("the spec has no size; use run_keep"));
        };
        let elements: usize = shape.iter().product();
        if out.len() != elements || out.pixel_type() != spec.dtype {
            return Err(Error::invalid(format!(
                "the output must have {elements} elements of the spec's dtype"
            )));
        }
        let geometry = self.decode(bytes, spec, key)?;
        self.resize(&geometry.0, spec, out);
        Ok(geometry.1)
    }

    /// As [`run`](ImageWorker::run) for a spec without a size: `out` is made as large as the picture is, and its shape
    /// in the order of the layout returned.
    ///
    /// # Errors
    /// As [`run`](ImageWorker::run).
    pub fn run_keep(
        &mut self,
        bytes: &[u8],
        spec: &ImageSpec,
        key: AugmentKey,
        out: PixelsVec<'_>,
    ) -> Result<([usize; 3], Applied)> {
        spec.check()?;
        let (geometry, applied) = self.decode(bytes, spec, key)?;
        let [height, width] = geometry.place.size;
        let shape = spec.layout_shape(height, width);
        let elements = shape.iter().product();
        let out = match (out, spec.dtype) {
            (PixelsVec::U8(out), PixelType::U8) => {
                out.resize(elements, 0);
                PixelsMut::U8(out)
            }
            (PixelsVec::F32(out), PixelType::F32) => {
                out.resize(elements, 0.0);
                PixelsMut::F32(out)
            }
            _ => return Err(Error::invalid("the output must be of the spec's dtype")),
        };
        self.resize(&geometry, spec, out);
        Ok((shape, applied))
    }

    /// Decodes the whole picture into `self.pixels`.
    fn decode(&mut self, bytes: &[u8], spec: &ImageSpec, key: AugmentKey) -> Result<(Geometry, Applied)> {
        let format = recognise(bytes, &spec.limits)?;
        let pixels = &mut self.pixels;
        let [height, width] =
            guarded(|| codecs::decode_into(format, bytes, &DecodeOptions::of(spec), pixels))?;
        Geometry::new(spec, key, height, width)
    }

    fn resize(&mut self, geometry: &Geometry, spec: &ImageSpec, out: PixelsMut<'_>) {
        let channels = usize::from(spec.channels);
        let window = geometry.window;
        let stride = geometry.source[1] as usize * channels;
        let view = View {
            data: &self.pixels[window.y as usize * stride + window.x as usize * channels..],
            stride,
            height: window.height,
            width: window.width,
            channels,
            scale: scale_before(spec),
        };
        let mut target = Target::new(out, spec, geometry.place, spec.effective_scale(), &mut self.finish);
        if spec.size.is_none() {
            return resize::copy(view, geometry.horizontal.flip, &mut target);
        }
        if spec.method.is_pillow() {
            return self.resizer.pillow(view, geometry, spec.method, &mut target);
        }
        self.resizer.run(view, geometry, spec, &mut target);
    }
}
