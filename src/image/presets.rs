//! Specs by the name of what they equal.

use crate::image::augment::{Augment, RandomResizedCrop};
use crate::image::jpeg::Dct;
use crate::image::spec::{Coordinates, Fit, ImageSpec, Layout, Method, Scale};

/// The means of ImageNet's red, green and blue, as torchvision's models want them.
pub const IMAGENET_MEAN: [f32; 3] = [0.485, 0.456, 0.406];

/// The standard deviations that belong to [`IMAGENET_MEAN`].
pub const IMAGENET_STD: [f32; 3] = [0.229, 0.224, 0.225];

impl ImageSpec {
    /// The classic TensorFlow 1 pipeline, bit for bit: `decode_jpeg(channels=3)` (INTEGER_FAST),
    /// `convert_image_dtype(float32)`, `resize_images([height, width])` (bilinear, asymmetric coordinates).
    pub fn tf1(height: u32, width: u32) -> ImageSpec {
        ImageSpec::rgb(height, width).dct(Dct::Fast).coordinates(Coordinates::Asymmetric)
    }

    /// TensorFlow 2 with its defaults, bit for bit: `tf.io.decode_jpeg(channels=3)` (INTEGER_FAST),
    /// `tf.image.convert_image_dtype(tf.float32)`, `tf.image.resize([height, width])` (bilinear, half-pixel
    /// coordinates, no antialias).
    pub fn tf2(height: u32, width: u32) -> ImageSpec {
        ImageSpec::rgb(height, width).dct(Dct::Fast)
    }

    /// Pillow 13: `Image.open(..).convert("RGB").resize((width, height), Image.BILINEAR)`, then `np.float32(..)`
    /// times f32(1/255) (f32 in [0, 1], height x width x channels).
    pub fn pillow(height: u32, width: u32) -> ImageSpec {
        ImageSpec::rgb(height, width).method(Method::PillowBilinear)
    }

    /// torchvision's training transforms on Pillow pictures: `RandomResizedCrop(size)` (bilinear),
    /// `RandomHorizontalFlip()`, `ToTensor()`, `Normalize(`[`IMAGENET_MEAN`]`, `[`IMAGENET_STD`]`)`; channels x height x
    /// width. Pixels are equal for the same crop; the crops are drawn from this crate's own random numbers.
    pub fn imagenet_train(size: u32) -> ImageSpec {
        torchvision(size).augment(Augment { crop: Some(RandomResizedCrop::default()), flip: 0.5 })
    }

    /// torchvision's evaluation transforms on Pillow pictures: `Resize(resize)` (the short side, bilinear),
    /// `CenterCrop(crop)`, `ToTensor()`, `Normalize(..)`; channels x height x width. `resize` must not be less than
    /// `crop`.
    pub fn imagenet_eval(resize: u32, crop: u32) -> ImageSpec {
        torchvision(crop).fit(Fit::CenterCrop).short_side(resize)
    }
}

fn torchvision(size: u32) -> ImageSpec {
    ImageSpec::rgb(size, size)
        .method(Method::PillowBilinear)
        .scale(Scale::Divide)
        .normalize(&IMAGENET_MEAN, &IMAGENET_STD)
        .layout(Layout::Nchw)
}
