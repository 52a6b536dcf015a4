//! What a picture shall become: the spec, its builder and its validation.

use crate::error::{Error, Result};
use crate::image::augment::{Augment, RandomResizedCrop};
use crate::image::jpeg::{Damage, Dct};

/// The interpolation of a resize.
///
/// The names without `Pillow` are `tf.image.resize`'s, with its arithmetic in f32. The `Pillow` ones are Pillow's
/// `Image.resize` on 8-bit pictures in fixed point, always antialiased, bit-equal to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// Two taps a direction; with antialias a triangle over the reduced area.
    Bilinear,
    /// The nearest pixel.
    Nearest,
    /// Cubic convolution: a = -0.5 with [`Coordinates::HalfPixel`], else a = -0.75 as TensorFlow 1.
    Bicubic,
    /// The mean of the area that a pixel covers.
    Area,
    /// Lanczos with radius 3.
    Lanczos3,
    /// Lanczos with radius 5.
    Lanczos5,
    /// A Gaussian with radius 1.5.
    Gaussian,
    /// The Mitchell-Netravali cubic.
    MitchellCubic,
    /// Pillow's `BOX`.
    PillowBox,
    /// Pillow's `BILINEAR`.
    PillowBilinear,
    /// Pillow's `BICUBIC`.
    PillowBicubic,
    /// Pillow's `LANCZOS`.
    PillowLanczos,
}

impl Method {
    pub(crate) const NAMES: [(&'static str, Method); 12] = [
        ("bilinear", Method::Bilinear),
        ("nearest", Method::Nearest),
        ("bicubic", Method::Bicubic),
        ("area", Method::Area),
        ("lanczos3", Method::Lanczos3),
        ("lanczos5", Method::Lanczos5),
        ("gaussian", Method::Gaussian),
        ("mitchellcubic", Method::MitchellCubic),
        ("pillow_box", Method::PillowBox),
        ("pillow_bilinear", Method::PillowBilinear),
        ("pillow_bicubic", Method::PillowBicubic),
        ("pillow_lanczos", Method::PillowLanczos),
    ];

    /// True for the methods that are Pillow's.
    pub fn is_pillow(self) -> bool {
        use Method::*;
        matches!(self, PillowBox | PillowBilinear | PillowBicubic | PillowLanczos)
    }

    fn half_pixel_only(self) -> bool {
        use Method::*;
        self.is_pillow() || matches!(self, Lanczos3 | Lanczos5 | Gaussian | MitchellCubic)
    }
}

/// Where an output pixel lies in the input. With x the output's number and s = input size / output size:
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coordinates {
    /// (x + 0.5) s - 0.5: TensorFlow 2's `tf.image.resize`, Pillow, OpenCV, PyTorch.
    HalfPixel,
    /// x s: TensorFlow 1's `resize_images`.
    Asymmetric,
    /// x (input - 1) / (output - 1): TensorFlow 1's `resize_images(align_corners=True)`.
    AlignCorners,
}

impl Coordinates {
    pub(crate) const NAMES: [(&'static str, Coordinates); 3] = [
        ("half_pixel", Coordinates::HalfPixel),
        ("asymmetric", Coordinates::Asymmetric),
        ("align_corners", Coordinates::AlignCorners),
    ];
}

/// How a picture of another shape is brought to the size asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fit {
    /// Each direction is resized by itself; the aspect ratio is not kept.
    Stretch,
    /// The picture is resized, aspect ratio kept, until it covers the size (or its short side is
    /// [`short_side`](ImageSpec::short_side)), and what overlaps is cut off evenly, as torchvision's `CenterCrop`.
    CenterCrop,
    /// The picture is resized, aspect ratio kept, until it fits into the size, and black is added evenly around
    /// it: `tf.image.resize_with_pad`. Black is 0 before `mean` and `std` are applied.
    Pad,
}

impl Fit {
    pub(crate) const NAMES: [(&'static str, Fit); 3] =
        [("stretch", Fit::Stretch), ("center_crop", Fit::CenterCrop), ("pad", Fit::Pad)];
}

/// The type of the numbers in a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PixelType {
    /// 8-bit, 0 to 255: a quarter of the memory, and the faster path. Resized values become 8-bit as
    /// `tf.image.convert_image_dtype(.., tf.uint8, saturate=True)` does it.
    U8,
    /// 32-bit floating point; see [`Scale`].
    F32,
}

impl PixelType {
    pub(crate) const NAMES: [(&'static str, PixelType); 2] =
        [("float32", PixelType::F32), ("uint8", PixelType::U8)];
}

/// The range of f32 pixels, and when they are brought to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scale {
    /// `true` in JSON: to [0, 1] before the resize, v times f32(1/255), as `tf.image.convert_image_dtype`. (With a
    /// Pillow method, which works on 8-bit pixels, after it.)
    Before,
    /// `"after"`: to [0, 1] after the resize, v times f32(1/255).
    After,
    /// `"divide"`: to [0, 1] after the resize, v / 255, as torchvision's `ToTensor`; it differs from
    /// [`Scale::After`] in the last bit.
    Divide,
    /// `false`: 0 to 255.
    Off,
}

/// The order of a picture's dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Height, width, channels, as TensorFlow has it.
    Nhwc,
    /// Channels, height, width, as PyTorch has it.
    Nchw,
}

impl Layout {
    pub(crate) const NAMES: [(&'static str, Layout); 2] = [("nhwc", Layout::Nhwc), ("nchw", Layout::Nchw)];
}

/// The largest picture that is decoded, checked from its header before anything is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Width times height. Default 2^27, 134 million.
    pub pixels: u64,
    /// Length of the encoded picture in bytes. Default 2^30.
    pub bytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { pixels: 1 << 27, bytes: 1 << 30 }
    }
}

/// The largest output: its elements must be addressable in a batch without surprise.
const MAX_ELEMENTS: u64 = 1 << 31;

/// What pictures become: size, resize method, dtype, range, layout, augmentation.
///
/// Made by [`ImageSpec::rgb`] and the methods that follow it, by a preset, or [from JSON](ImageSpec::from_json).
/// Whether the whole makes sense is told by [`check`](ImageSpec::check), which everything that takes a spec calls.
///
/// The default is `decode_jpeg(dct_method='INTEGER_ACCURATE')`, `convert_image_dtype(float32)` and
/// `tf.image.resize(.., [224, 224])`, bit for bit: f32 in [0, 1], height x width x channels.
///
/// ```
/// use tfrmap::image::{Coordinates, ImageSpec, Layout};
/// let spec = ImageSpec::rgb(192, 256).coordinates(Coordinates::Asymmetric).layout(Layout::Nchw);
/// assert_eq!(spec.shape(), Some([3, 192, 256]));
/// # spec.check()?;
/// # Ok::<(), tfrmap::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ImageSpec {
    pub(crate) size: Option<[u32; 2]>,
    pub(crate) method: Method,
    pub(crate) coordinates: Coordinates,
    pub(crate) antialias: bool,
    pub(crate) channels: u8,
    pub(crate) dtype: PixelType,
    pub(crate) scale: Option<Scale>,
    pub(crate) layout: Layout,
    pub(crate) dct: Dct,
    pub(crate) fit: Fit,
    pub(crate) short_side: Option<u32>,
    pub(crate) mean: Option<Vec<f32>>,
    pub(crate) std: Option<Vec<f32>>,
    pub(crate) crop: Option<[u32; 4]>,
    pub(crate) exif: bool,
    pub(crate) damage: Damage,
    pub(crate) augment: Augment,
    pub(crate) limits: Limits,
}

impl Default for ImageSpec {
    fn default() -> ImageSpec {
        ImageSpec::rgb(224, 224)
    }
}

impl ImageSpec {
    /// Three channels of this height and width; all else as the [default](ImageSpec).
    pub fn rgb(height: u32, width: u32) -> ImageSpec {
        ImageSpec {
            size: Some([height, width]),
            method: Method::Bilinear,
            coordinates: Coordinates::HalfPixel,
            antialias: false,
            channels: 3,
            dtype: PixelType::F32,
            scale: None,
            layout: Layout::Nhwc,
            dct: Dct::Accurate,
            fit: Fit::Stretch,
            short_side: None,
            mean: None,
            std: None,
            crop: None,
            exif: false,
            damage: Damage::Strict,
            augment: Augment::default(),
            limits: Limits::default(),
        }
    }

    /// One channel of this height and width.
    pub fn gray(height: u32, width: u32) -> ImageSpec {
        ImageSpec::rgb(height, width).channels(1)
    }

    /// Three channels in the size that each picture has: no resize. All pictures of a batch must then agree.
    pub fn keep_size() -> ImageSpec {
        ImageSpec { size: None, ..ImageSpec::default() }
    }

    /// 1 (gray), 3 (RGB) or 4 (RGB and alpha; 255 where there is none). Gray of a CMYK JPEG is refused.
    pub fn channels(mut self, channels: u8) -> ImageSpec {
        self.channels = channels;
        self
    }

    /// The interpolation.
    pub fn method(mut self, method: Method) -> ImageSpec {
        self.method = method;
        self
    }

    /// Where output pixels lie in the input.
    pub fn coordinates(mut self, coordinates: Coordinates) -> ImageSpec {
        self.coordinates = coordinates;
        self
    }

    /// Whether the filter is widened where the picture is made smaller (`tf.image.resize(antialias=True)`). Nearest
    /// and area ignore it, as TensorFlow does; Pillow's methods always antialias.
    pub fn antialias(mut self, antialias: bool) -> ImageSpec {
        self.antialias = antialias;
        self
    }

    /// How another aspect ratio is treated.
    pub fn fit(mut self, fit: Fit) -> ImageSpec {
        self.fit = fit;
        self
    }

    /// With [`Fit::CenterCrop`]: the length to which the short side is resized before the cut; at least the larger
    /// side of the size.
    pub fn short_side(mut self, pixels: u32) -> ImageSpec {
        self.short_side = Some(pixels);
        self
    }

    /// The type of the numbers.
    pub fn dtype(mut self, dtype: PixelType) -> ImageSpec {
        self.dtype = dtype;
        self
    }

    /// The range of f32 pixels; 8-bit ones are always 0 to 255, and resized with [`Scale::Before`].
    pub fn scale(mut self, scale: Scale) -> ImageSpec {
        self.scale = Some(scale);
        self
    }

    /// After all else, each channel becomes (v - mean) / std: one number a channel.
    pub fn normalize(mut self, mean: &[f32], std: &[f32]) -> ImageSpec {
        self.mean = Some(mean.to_vec());
        self.std = Some(std.to_vec());
        self
    }

    /// The order of the dimensions.
    pub fn layout(mut self, layout: Layout) -> ImageSpec {
        self.layout = layout;
        self
    }

    /// The JPEG decoder's inverse transform.
    pub fn dct(mut self, dct: Dct) -> ImageSpec {
        self.dct = dct;
        self
    }

    /// What is done about JPEGs whose data ends early.
    pub fn damage(mut self, damage: Damage) -> ImageSpec {
        self.damage = damage;
        self
    }

    /// A window of the decoded picture, in pixels, that is used instead of the whole; it must lie inside each picture.
    pub fn crop(mut self, y: u32, x: u32, height: u32, width: u32) -> ImageSpec {
        self.crop = Some([y, x, height, width]);
        self
    }

    /// Whether the orientation that a camera wrote (EXIF) is applied. TensorFlow never does; Pillow only when asked.
    /// Orientations 5 to 8 swap height and width; boxes of a record then have to be turned by the caller.
    pub fn exif(mut self, exif: bool) -> ImageSpec {
        self.exif = exif;
        self
    }

    /// Random crop and flip.
    pub fn augment(mut self, augment: Augment) -> ImageSpec {
        self.augment = augment;
        self
    }

    /// The largest picture that is decoded.
    pub fn limits(mut self, limits: Limits) -> ImageSpec {
        self.limits = limits;
        self
    }

    /// The shape of one picture in the order of the layout; `None` where each picture keeps its size.
    pub fn shape(&self) -> Option<[usize; 3]> {
        self.size.map(|[h, w]| self.layout_shape(h, w))
    }

    pub(crate) fn layout_shape(&self, height: u32, width: u32) -> [usize; 3] {
        let (h, w, c) = (height as usize, width as usize, self.channels.into());
        match self.layout {
            Layout::Nhwc => [h, w, c],
            Layout::Nchw => [c, h, w],
        }
    }

    /// The type of the numbers.
    pub fn pixel_type(&self) -> PixelType {
        self.dtype
    }

    /// The order of the dimensions.
    pub fn pixel_layout(&self) -> Layout {
        self.layout
    }

    /// True where the pixels depend on seed, epoch and record number.
    pub fn is_augmented(&self) -> bool {
        self.augment != Augment::default()
    }

    /// The scale in effect: u8 pixels are resized as [0, 1] and brought back.
    pub(crate) fn effective_scale(&self) -> Scale {
        match self.dtype {
            PixelType::F32 => self.scale.unwrap_or(Scale::Before),
            PixelType::U8 => Scale::Before,
        }
    }

    /// Whether the spec makes sense.
    ///
    /// # Errors
    /// `InvalidArgument`, naming the field, for zero or huge sizes, unknown numbers of channels, and combinations that
    /// no reference defines.
    pub fn check(&self) -> Result<()> {
        let c = usize::from(self.channels);
        if !matches!(c, 1 | 3 | 4) {
            return Err(refuse("channels", format!("must be 1, 3 or 4, not {c}")));
        }
        match self.size {
            Some([h, w]) => {
                if h == 0 || w == 0 {
                    return Err(refuse("size", format!("must not be zero, but is [{h}, {w}]")));
                }
                let elements = u64::from(h) * u64::from(w);
                if elements.saturating_mul(c as u64) > MAX_ELEMENTS {
                    return Err(refuse(
                        "size",
                        format!("[{h}, {w}] is over the limit of {MAX_ELEMENTS} values"),
                    ));
                }
            }
            None if self.fit != Fit::Stretch => {
                return Err(refuse("fit", "needs a size, but size is null".into()));
            }
            None => {}
        }
        if self.coordinates != Coordinates::HalfPixel {
            if self.method.half_pixel_only() {
                return Err(refuse("coordinates", "this method exists only with half_pixel".into()));
            }
            if self.antialias && matches!(self.method, Method::Bilinear | Method::Bicubic) {
                return Err(refuse("antialias", "exists only with half_pixel coordinates".into()));
            }
        }
        if self.dtype == PixelType::U8 {
            if self.mean.is_some() || self.std.is_some() {
                return Err(refuse("mean", "mean and std need dtype float32".into()));
            }
            if matches!(self.scale, Some(Scale::After | Scale::Divide)) {
                return Err(refuse("scale", "uint8 pixels are always 0 to 255; use true or false".into()));
            }
        }
        for (name, values) in [("mean", &self.mean), ("std", &self.std)] {
            let Some(values) = values else { continue };
            if values.len() != c {
                let n = values.len();
                return Err(refuse(name, format!("has {n} values for {c} channels")));
            }
            if values.iter().any(|v| !v.is_finite() || (name == "std" && *v == 0.0)) {
                return Err(refuse(name, "must be finite, and std not zero".into()));
            }
        }
        if let Some([_, _, h, w]) = self.crop
            && (h == 0 || w == 0)
        {
            return Err(refuse("crop", format!("must not be empty, but is {h} x {w}")));
        }
        self.check_short_side()?;
        self.check_augment()
    }

    fn check_short_side(&self) -> Result<()> {
        let Some(short) = self.short_side else { return Ok(()) };
        match (self.fit, self.size) {
            (Fit::CenterCrop, Some([h, w])) if short >= h.max(w) => Ok(()),
            (Fit::CenterCrop, _) => {
                Err(refuse("short_side", format!("must be at least as large as the size, but is {short}")))
            }
            _ => Err(refuse("short_side", "exists only with fit center_crop".into())),
        }
    }

    fn check_augment(&self) -> Result<()> {
        let flip = self.augment.flip;
        if !(0.0..=1.0).contains(&flip) {
            return Err(refuse("augment", format!("flip is a probability, not {flip}")));
        }
        let Some(RandomResizedCrop { area, aspect }) = self.augment.crop else { return Ok(()) };
        if self.size.is_none() {
            return Err(refuse("augment", "a random resized crop needs a size".into()));
        }
        if self.fit != Fit::Stretch {
            return Err(refuse("fit", "a random resized crop is always stretched to the size".into()));
        }
        if self.crop.is_some() {
            return Err(refuse("crop", "cannot be combined with a random resized crop".into()));
        }
        if !(area.0 > 0.0 && area.0 <= area.1 && area.1 <= 1.0) {
            return Err(refuse("augment", "area must be a range within (0, 1]".into()));
        }
        if !(aspect.0 >= 1e-3 && aspect.0 <= aspect.1 && aspect.1 <= 1e3) {
            return Err(refuse("augment", "aspect must be a range within [0.001, 1000]".into()));
        }
        Ok(())
    }
}

pub(crate) fn refuse(field: &str, reason: String) -> Error {
    Error::invalid(format!("image spec: {field}: {reason}"))
}
