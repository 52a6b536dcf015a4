//! From encoded bytes to finished pixels: the state one thread reuses for each picture.

use crate::error::{Error, Result};
use crate::image::augment::{AugmentKey, Window};
use crate::image::codecs::{Codecs, jpeg_options, wrap_jpeg};
use crate::image::decode::{Image, recognise};
use crate::image::decode_options::DecodeOptions;
use crate::image::exif::orientation_of_jpeg;
use crate::image::fit::{Applied, Geometry};
use crate::image::format::Format;
use crate::image::guard::{guarded, reserve};
use crate::image::jpeg::{self, RowSink};
use crate::image::resize::{self, Resizer, Stream, View};
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
///
/// ```
/// use tfrmap::image::{AugmentKey, ImageSpec, ImageWorker, PixelsMut};
/// # let bytes: &[u8] = include_bytes!("../../tests/data/golden/images/inputs/jpg_sz_9x9_420.jpg");
/// let spec = ImageSpec::rgb(32, 32);
/// let mut worker = ImageWorker::new();
/// let mut pixels = vec![0.0; 32 * 32 * 3];
/// worker.run(bytes, &spec, AugmentKey::default(), PixelsMut::F32(&mut pixels))?;
/// assert!(pixels.iter().all(|v| (0.0..=1.0).contains(v)));
/// # Ok::<(), tfrmap::Error>(())
/// ```
#[derive(Default)]
pub struct ImageWorker {
    codecs: Codecs,
    /// A whole decoded picture, or the part of it that is used.
    pixels: Vec<u8>,
    resizer: Resizer,
    finish: Finish,
}

/// A picture whose size is known.
struct Opened {
    geometry: Geometry,
    applied: Applied,
    /// How it will be decoded; `None` where it is decoded already.
    jpeg: Option<jpeg::Options>,
}

impl ImageWorker {
    /// A worker with nothing in it yet.
    pub fn new() -> ImageWorker {
        ImageWorker::default()
    }

    /// Decodes, resizes and converts one picture into `out`, which has exactly the elements of
    /// [`ImageSpec::shape`]; returns what was cut and flipped.
    ///
    /// A JPEG that is resized bilinearly without antialias is resized row by row while it is decoded, and of one that is
    /// cropped only the part is decoded. On an error `out` holds unspecified values.
    ///
    /// # Errors
    /// As [`decode`](crate::image::decode) and [`ImageSpec::check`]; `InvalidArgument` where `out` has another length or
    /// type than the spec, where the spec's crop is not inside the picture, or where [`Fit::Pad`](crate::image::Fit) would
    /// leave nothing of it.
    pub fn run(
        &mut self,
        bytes: &[u8],
        spec: &ImageSpec,
        key: AugmentKey,
        out: PixelsMut<'_>,
    ) -> Result<Applied> {
        check_output(spec, &out)?;
        guarded(|| {
            let opened = self.open(bytes, spec, key)?;
            self.finish(bytes, &opened, spec, out)?;
            Ok(opened.applied)
        })
    }

    /// As [`run`](ImageWorker::run), but for any spec without a size too: `out` is made as large as the picture becomes,
    /// and its shape in the order of the layout returned.
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
        guarded(|| {
            let opened = self.open(bytes, spec, key)?;
            let [height, width] = opened.geometry.place.size;
            let shape = spec.layout_shape(height, width);
            let elements = shape.iter().product();
            let out = match (out, spec.dtype) {
                (PixelsVec::U8(out), PixelType::U8) => {
                    reserve(out, elements)?;
                    out.resize(elements, 0);
                    PixelsMut::U8(out)
                }
                (PixelsVec::F32(out), PixelType::F32) => {
                    reserve(out, elements)?;
                    out.resize(elements, 0.0);
                    PixelsMut::F32(out)
                }
                _ => return Err(Error::invalid("the output must be of the spec's dtype")),
            };
            self.finish(bytes, &opened, spec, out)?;
            Ok((shape, opened.applied))
        })
    }

    /// As [`run`](ImageWorker::run) for a picture that is decoded already, with the spec's number of channels.
    ///
    /// # Errors
    /// As [`run`](ImageWorker::run), and `InvalidArgument` where the image is empty, its length is not that of its size,
    /// or it has another number of channels than the spec.
    pub fn run_decoded(
        &mut self,
        image: &Image,
        spec: &ImageSpec,
        key: AugmentKey,
        out: PixelsMut<'_>,
    ) -> Result<Applied> {
        check_output(spec, &out)?;
        let Image { height, width, channels, pixels } = image;
        let elements = u64::from(*height) * u64::from(*width) * u64::from(*channels);
        if *channels != spec.channels || elements == 0 || elements != pixels.len() as u64 {
            return Err(Error::invalid(format!(
                "an image of {height} x {width} x {channels} with {} values does not fit a spec of {} channels",
                pixels.len(),
                spec.channels
            )));
        }
        let (geometry, applied) = Geometry::new(spec, key, *height, *width)?;
        resize_into(&mut self.resizer, &mut self.finish, pixels, &geometry, spec, out);
        Ok(applied)
    }

    /// Finds the size of a picture, and how it is turned into the output. Decodes it, unless it is a JPEG, whose header
    /// tells the size.
    fn open(&mut self, bytes: &[u8], spec: &ImageSpec, key: AugmentKey) -> Result<Opened> {
        let options = DecodeOptions::of(spec);
        let format = recognise(bytes, &spec.limits)?;
        let upright = !spec.exif || orientation_of_jpeg(bytes) == 1;
        if format != Format::Jpeg || !upright {
            let [height, width] = self.codecs.decode(format, bytes, &options, &mut self.pixels)?;
            let (geometry, applied) = Geometry::new(spec, key, height, width)?;
            return Ok(Opened { geometry, applied, jpeg: None });
        }
        let (mut jpeg, [height, width]) = jpeg_options(bytes, &options)?;
        let (mut geometry, applied) = Geometry::new(spec, key, height, width)?;
        let Window { y, x, height: h, width: w } = geometry.window;
        if [h, w] != [height, width] {
            jpeg.crop = Some(jpeg::Crop { x, y, width: w, height: h });
            geometry.source = [h, w];
            geometry.window = Window::whole(h, w);
        }
        Ok(Opened { geometry, applied, jpeg: Some(jpeg) })
    }

    fn finish(&mut self, bytes: &[u8], opened: &Opened, spec: &ImageSpec, out: PixelsMut<'_>) -> Result<()> {
        let Opened { geometry, jpeg, .. } = opened;
        if let Some(jpeg) = jpeg {
            if resize::is_two_tap(spec) && spec.channels != 4 {
                let mut rows = ResizedRows {
                    target: Target::new(out, spec, geometry.place, spec.effective_scale(), &mut self.finish),
                    stream: self.resizer.stream(geometry, spec.channels.into()),
                    scale: scale_before(spec),
                };
                let done = self.codecs.jpeg.decode_rows(bytes, jpeg, &mut rows);
                return done.map(drop).map_err(wrap_jpeg);
            }
            self.codecs.decode_jpeg(bytes, jpeg, spec.channels, &mut self.pixels)?;
        }
        resize_into(&mut self.resizer, &mut self.finish, &self.pixels, geometry, spec, out);
        Ok(())
    }
}

fn check_output(spec: &ImageSpec, out: &PixelsMut<'_>) -> Result<()> {
    spec.check()?;
    let Some(shape) = spec.shape() else {
        return Err(Error::invalid("the spec has no size; use run_keep"));
    };
    let elements: usize = shape.iter().product();
    if out.len() != elements || out.pixel_type() != spec.dtype {
        return Err(Error::invalid(format!("the output must have {elements} elements of the spec's dtype")));
    }
    Ok(())
}

fn resize_into(
    resizer: &mut Resizer,
    finish: &mut Finish,
    pixels: &[u8],
    geometry: &Geometry,
    spec: &ImageSpec,
    out: PixelsMut<'_>,
) {
    let channels = usize::from(spec.channels);
    let window = geometry.window;
    let stride = geometry.source[1] as usize * channels;
    let view = View {
        data: &pixels[window.y as usize * stride + window.x as usize * channels..],
        stride,
        height: window.height,
        width: window.width,
        channels,
        scale: scale_before(spec),
    };
    let mut target = Target::new(out, spec, geometry.place, spec.effective_scale(), finish);
    if spec.size.is_none() {
        resize::copy(view, geometry.horizontal.flip, &mut target);
    } else if spec.method.is_pillow() {
        resizer.pillow(view, geometry, spec.method, &mut target);
    } else {
        resizer.run(view, geometry, spec, &mut target);
    }
}

/// Resizes rows as the decoder makes them.
struct ResizedRows<'a, 'b> {
    stream: Stream<'a>,
    target: Target<'b>,
    scale: f32,
}

impl RowSink for &mut ResizedRows<'_, '_> {
    fn wants(&mut self, y: u32) -> bool {
        self.stream.wants(y)
    }

    fn row(&mut self, y: u32, pixels: &[u8]) {
        self.stream.push(y, pixels, self.scale, &mut self.target);
    }
}
