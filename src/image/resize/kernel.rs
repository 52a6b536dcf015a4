//! The interpolation kernels of TensorFlow's `ScaleAndTranslate`, in f32.

use crate::image::spec::Method;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    Triangle,
    KeysCubic,
    MitchellCubic,
    Gaussian,
    Lanczos3,
    Lanczos5,
}

impl Kernel {
    /// The kernel of a method, where it is computed by one.
    pub fn of(method: Method, antialias: bool) -> Option<Kernel> {
        match method {
            Method::Bilinear if antialias => Some(Kernel::Triangle),
            Method::Bicubic if antialias => Some(Kernel::KeysCubic),
            Method::MitchellCubic => Some(Kernel::MitchellCubic),
            Method::Gaussian => Some(Kernel::Gaussian),
            Method::Lanczos3 => Some(Kernel::Lanczos3),
            Method::Lanczos5 => Some(Kernel::Lanczos5),
            _ => None,
        }
    }

    pub fn radius(self) -> f32 {
        match self {
            Kernel::Triangle => 1.0,
            Kernel::KeysCubic | Kernel::MitchellCubic => 2.0,
            Kernel::Gaussian => 1.5,
            Kernel::Lanczos3 => 3.0,
            Kernel::Lanczos5 => 5.0,
        }
    }

    pub fn at(self, x: f32) -> f32 {
        let x = x.abs();
        match self {
            Kernel::Triangle if x < 1.0 => 1.0 - x,
            Kernel::KeysCubic if x < 1.0 => ((1.5 * x - 2.5) * x) * x + 1.0,
            Kernel::KeysCubic if x < 2.0 => ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0,
            Kernel::MitchellCubic if x < 1.0 => (((7.0 / 6.0) * x - 2.0) * x) * x + 8.0 / 9.0,
            Kernel::MitchellCubic if x < 2.0 => (((-7.0 / 18.0) * x + 2.0) * x - 10.0 / 3.0) * x + 16.0 / 9.0,
            Kernel::Gaussian if x < 1.5 => gaussian(x),
            Kernel::Lanczos3 | Kernel::Lanczos5 => lanczos(x, self.radius()),
            _ => 0.0,
        }
    }
}

/// With sigma = radius / 3 = 0.5; the exponential in double precision.
fn gaussian(x: f32) -> f32 {
    (f64::from(-x * x) / (2.0 * 0.5 * 0.5)).exp() as f32
}

fn lanczos(x: f32, radius: f32) -> f32 {
    const PI: f32 = std::f32::consts::PI;
    if x > radius {
        return 0.0;
    }
    if x <= 1e-3 {
        return 1.0;
    }
    // A sine that is correctly rounded has the same bits on every machine.
    let sin = |v: f32| f64::from(v).sin() as f32;
    radius * sin(PI * x) * sin(PI * x / radius) / (PI * PI * x * x)
}
