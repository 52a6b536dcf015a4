//! Resizing of values that are decoded already.

use crate::error::{Error, Result};
use crate::image::augment::{Augment, AugmentKey};
use crate::image::fit::Geometry;
use crate::image::resize::{Resizer, View};
use crate::image::spec::{ImageSpec, Layout, PixelType, Scale};
use crate::image::target::{Finish, PixelsMut, Target};

/// Resizes an array of height x width x channels f32 values, any number of channels, to height x width x channels of
/// the spec's size.
///
/// Of the spec, size, method, coordinates, antialias and fit count. The arithmetic is that of `tf.image.resize` on
/// float32.
///
/// # Errors
/// `InvalidArgument` for Pillow's methods (they are for 8-bit pictures), an empty array, one whose length is not that of
/// its shape, and what [`ImageSpec::check`] refuses.
pub fn resize(values: &[f32], shape: [usize; 3], spec: &ImageSpec) -> Result<Vec<f32>> {
    spec.check()?;
    let Some([height, width]) = spec.size else {
        return Err(Error::invalid("a resize needs a size"));
    };
    if spec.method.is_pillow() {
        return Err(Error::invalid("Pillow's methods are for 8-bit pictures"));
    }
    let [h, w, channels] = shape;
    let elements = h.checked_mul(w).and_then(|n| n.checked_mul(channels));
    let (Ok(h), Ok(w), Ok(count)) = (u32::try_from(h), u32::try_from(w), u8::try_from(channels)) else {
        return Err(Error::invalid(format!("an array of shape {shape:?} is too large")));
    };
    if elements != Some(values.len()) || values.is_empty() {
        return Err(Error::invalid(format!(
            "an array of shape {shape:?} cannot have {} values",
            values.len()
        )));
    }
    let spec = ImageSpec {
        channels: count,
        dtype: PixelType::F32,
        scale: Some(Scale::Off),
        layout: Layout::Nhwc,
        mean: None,
        std: None,
        crop: None,
        augment: Augment::default(),
        ..spec.clone()
    };
    let (geometry, _) = Geometry::new(&spec, AugmentKey::default(), h, w)?;
    let view =
        View { data: values, stride: w as usize * channels, height: h, width: w, channels, scale: 1.0 };
    let mut out = vec![0.0; height as usize * width as usize * channels];
    let mut finish = Finish::default();
    let mut target = Target::new(PixelsMut::F32(&mut out), &spec, geometry.place, Scale::Off, &mut finish);
    Resizer::default().run(view, &geometry, &spec, &mut target);
    Ok(out)
}
