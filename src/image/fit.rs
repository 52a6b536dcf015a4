//! From a picture's size to the part that is read, the size it is resized to, and where that lies in the output.

use crate::error::{Error, Result};
use crate::image::augment::{AugmentKey, Window, round_half_even};
use crate::image::resize::Axis;
use crate::image::spec::{Fit, ImageSpec};
use crate::image::target::Place;

/// What was done to one picture, so that boxes can follow it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// The part of the picture that was used, in pixels: y, x, height, width.
    pub crop: [u32; 4],
    /// Whether the result was mirrored left to right.
    pub flipped: bool,
    /// The picture's height and width as decoded.
    pub source: [u32; 2],
}

impl Applied {
    /// Where a box of the picture lies in the output: both `[ymin, xmin, ymax, xmax]` in shares of height and width, as
    /// TensorFlow's object detection stores them. `spec` is the one that the picture was made with. The result is not
    /// clipped: a box that was cut off reaches outside [0, 1], one that was cut away lies outside.
    ///
    /// ```
    /// use tfrmap::image::{Applied, ImageSpec};
    /// let applied = Applied { crop: [0, 50, 100, 50], flipped: true, source: [100, 100] };
    /// let moved = applied.map_box(&ImageSpec::rgb(8, 8), [0.25, 0.5, 0.75, 0.75])?;
    /// assert_eq!(moved, [0.25, 0.5, 0.75, 1.0]);
    /// # Ok::<(), tfrmap::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`ImageWorker::run`](crate::image::ImageWorker::run) for a picture of this size.
    pub fn map_box(&self, spec: &ImageSpec, [ymin, xmin, ymax, xmax]: [f32; 4]) -> Result<[f32; 4]> {
        let [y, x, height, width] = self.crop;
        let window = Window { y, x, height, width };
        let Fitted { resized, cut, place } = fit(spec, spec.size.unwrap_or([height, width]), &window)?;
        let along = |share: f32, axis: usize, start: u32, len: u32, offset: u32| {
            let source = f64::from(share) * f64::from(self.source[axis]) - f64::from(start);
            let scaled = source / f64::from(len) * f64::from(resized[axis]) - f64::from(cut[axis]);
            ((scaled + f64::from(offset)) / f64::from(place.size[axis])) as f32
        };
        let [ymin, ymax] = [ymin, ymax].map(|share| along(share, 0, y, height, place.top));
        let [xmin, xmax] = [xmin, xmax].map(|share| along(share, 1, x, width, place.left));
        Ok(if self.flipped { [ymin, 1.0 - xmax, ymax, 1.0 - xmin] } else { [ymin, xmin, ymax, xmax] })
    }
}

/// How one picture is turned into an output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    /// The source's height and width.
    pub source: [u32; 2],
    /// The part of the source that is resized.
    pub window: Window,
    pub vertical: Axis,
    pub horizontal: Axis,
    pub place: Place,
}

impl Geometry {
    /// The geometry of a picture of this height and width.
    pub fn new(spec: &ImageSpec, key: AugmentKey, height: u32, width: u32) -> Result<(Geometry, Applied)> {
        let (mut window, flip) = spec.augment.draw(key, height, width);
        if let Some([y, x, h, w]) = spec.crop {
            let inside =
                |from: u32, len: u32, size: u32| from.checked_add(len).is_some_and(|end| end <= size);
            if !inside(y, h, height) || !inside(x, w, width) {
                return Err(Error::invalid(format!(
                    "the crop of {h} x {w} at ({y}, {x}) is not inside the picture of {height} x {width}"
                )));
            }
            window = Window { y, x, height: h, width: w };
        }
        let size = spec.size.unwrap_or([window.height, window.width]);
        let fitted = fit(spec, size, &window)?;
        let axis = |input, output, from, len, flip| Axis {
            input,
            output,
            from,
            len,
            flip,
            coordinates: spec.coordinates,
        };
        let [h, w] = fitted.resized;
        let vertical = axis(window.height, h, fitted.cut[0], fitted.place.part[0], false);
        let horizontal = axis(window.width, w, fitted.cut[1], fitted.place.part[1], flip);
        let mut place = fitted.place;
        if flip {
            place.left = place.size[1] - place.part[1] - place.left;
        }
        let Window { y, x, height: h, width: w } = window;
        let applied = Applied { crop: [y, x, h, w], flipped: flip, source: [height, width] };
        Ok((Geometry { source: [height, width], window, vertical, horizontal, place }, applied))
    }
}

struct Fitted {
    /// The size of the whole window when resized.
    resized: [u32; 2],
    /// The first row and column that are kept of it.
    cut: [u32; 2],
    place: Place,
}

fn fit(spec: &ImageSpec, size: [u32; 2], window: &Window) -> Result<Fitted> {
    let [height, width] = size;
    let whole = Place { size, top: 0, left: 0, part: size };
    match spec.fit {
        Fit::Stretch => Ok(Fitted { resized: size, cut: [0, 0], place: whole }),
        Fit::CenterCrop => {
            let resized = cover(size, spec.short_side, window);
            // torchvision: int(round((resized - size) / 2.0)).
            let start = |resized: u32, size: u32| round_half_even(f64::from(resized - size) / 2.0) as u32;
            let cut = [start(resized[0], height), start(resized[1], width)];
            Ok(Fitted { resized, cut, place: whole })
        }
        Fit::Pad => {
            let (top, h, left, w) = pad(size, window);
            if h == 0 || w == 0 {
                let (wh, ww) = (window.height, window.width);
                return Err(Error::invalid(format!(
                    "a picture of {wh} x {ww} would vanish when fitted into {height} x {width}"
                )));
            }
            Ok(Fitted { resized: [h, w], cut: [0, 0], place: Place { size, top, left, part: [h, w] } })
        }
    }
}

/// The size, aspect ratio kept, that covers `size`, or whose short side is `short`. The other side is rounded down, as
/// torchvision does.
fn cover([height, width]: [u32; 2], short: Option<u32>, window: &Window) -> [u32; 2] {
    let (h, w) = (u64::from(window.height), u64::from(window.width));
    let scaled =
        |side: u32, long: u64, short: u64| u32::try_from(u64::from(side) * long / short).unwrap_or(u32::MAX);
    match short {
        Some(short) if h <= w => [short, scaled(short, w, h)],
        Some(short) => [scaled(short, h, w), short],
        None if h * u64::from(width) <= w * u64::from(height) => [height, scaled(height, w, h)],
        None => [scaled(width, h, w), width],
    }
}

/// `tf.image.resize_with_pad` in its f32 arithmetic: top, height, left, width.
fn pad([height, width]: [u32; 2], window: &Window) -> (u32, u32, u32, u32) {
    let (h, w) = (window.height as f32, window.width as f32);
    let (target_h, target_w) = (height as f32, width as f32);
    let ratio = (w / target_w).max(h / target_h);
    let (resized_h, resized_w) = (h / ratio, w / ratio);
    let before = |target: f32, resized: f32| ((target - resized) / 2.0).floor().max(0.0) as u32;
    let (top, left) = (before(target_h, resized_h), before(target_w, resized_w));
    (top, (resized_h as u32).min(height - top), left, (resized_w as u32).min(width - left))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place_of(spec: &ImageSpec, height: u32, width: u32) -> ([u32; 2], [u32; 2], Place) {
        let fitted = fit(spec, spec.size.unwrap(), &Window::whole(height, width)).unwrap();
        (fitted.resized, fitted.cut, fitted.place)
    }

    #[test]
    fn centre_crops_are_torchvisions() {
        // Resize(256): int(256 * long / short); CenterCrop(224): halves to the even number.
        let spec = ImageSpec::imagenet_eval(256, 224);
        let cases = [
            ((375, 500), [256, 341], [16, 58]),
            ((500, 375), [341, 256], [58, 16]),
            ((256, 256), [256, 256], [16, 16]),
            ((333, 500), [256, 384], [16, 80]),
            ((100, 101), [256, 258], [16, 17]),
            ((101, 100), [258, 256], [17, 16]),
            ((97, 103), [256, 271], [16, 24]),
        ];
        for ((height, width), resized, cut) in cases {
            assert_eq!(place_of(&spec, height, width).0, resized, "{height} x {width}");
            assert_eq!(place_of(&spec, height, width).1, cut, "{height} x {width}");
        }
        // Without a short side the picture just covers the size.
        let spec = ImageSpec::rgb(100, 200).fit(Fit::CenterCrop);
        assert_eq!(place_of(&spec, 50, 50).0, [200, 200]);
        assert_eq!(place_of(&spec, 10, 100).0, [100, 1000]);
        assert_eq!(place_of(&spec, 50, 100).0, [100, 200]);
    }

    #[test]
    fn boxes_follow_the_picture() {
        let boxed = [0.25, 0.5, 0.75, 1.0];
        let applied = Applied { crop: [0, 0, 100, 200], flipped: false, source: [100, 200] };
        let at = |spec: &ImageSpec, applied: Applied| applied.map_box(spec, boxed).unwrap();
        assert_eq!(at(&ImageSpec::rgb(7, 9), applied), boxed);
        assert_eq!(at(&ImageSpec::rgb(7, 9), Applied { flipped: true, ..applied }), [0.25, 0.0, 0.75, 0.5]);
        // Letterboxed: half of the height is black.
        assert_eq!(at(&ImageSpec::rgb(48, 48).fit(Fit::Pad), applied), [0.375, 0.5, 0.625, 1.0]);
        // The sides are cut off: what was at the edge lies outside.
        assert_eq!(at(&ImageSpec::rgb(50, 50).fit(Fit::CenterCrop), applied), [0.25, 0.5, 0.75, 1.5]);
        let cropped = Applied { crop: [25, 100, 50, 100], ..applied };
        assert_eq!(at(&ImageSpec::rgb(7, 9), cropped), [0.0, 0.0, 1.0, 1.0]);
    }
}
