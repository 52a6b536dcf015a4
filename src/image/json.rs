//! The JSON form of an image spec: `{"size": [224, 224], "method": "bilinear", ..}`.

use serde_json::{Map, Value, json};

use crate::error::Result;
use crate::image::augment::{Augment, RandomResizedCrop};
use crate::image::jpeg::{Damage, Dct};
use crate::image::spec::{Coordinates, Fit, ImageSpec, Layout, Limits, Method, PixelType, Scale, refuse};

const DCT: [(&str, Dct); 2] = [("INTEGER_ACCURATE", Dct::Accurate), ("INTEGER_FAST", Dct::Fast)];
const DAMAGE: [(&str, Damage); 2] = [("strict", Damage::Strict), ("lenient", Damage::Lenient)];

impl ImageSpec {
    /// The spec that a JSON object describes. Every key is optional; `{}` is the [default](ImageSpec).
    ///
    /// | key | value (first: default) |
    /// |---|---|
    /// | `size` | `[224, 224]` (height, width); `null` keeps the decoded size |
    /// | `method` | `"bilinear"`, `"nearest"`, `"bicubic"`, `"area"`, `"lanczos3"`, `"lanczos5"`, `"gaussian"`, `"mitchellcubic"`, `"pillow_box"`, `"pillow_bilinear"`, `"pillow_bicubic"`, `"pillow_lanczos"` |
    /// | `coordinates` | `"half_pixel"`, `"asymmetric"`, `"align_corners"` |
    /// | `antialias` | `false`, `true` |
    /// | `channels` | `3`, `1`, `4` |
    /// | `dtype` | `"float32"`, `"uint8"` |
    /// | `scale` | `true`, `"after"`, `"divide"`, `false` (see [`Scale`]; with uint8 `true` and `false` are the same) |
    /// | `layout` | `"nhwc"`, `"nchw"` |
    /// | `dct_method` | `"INTEGER_ACCURATE"`, `"INTEGER_FAST"` |
    /// | `fit` | `"stretch"`, `"center_crop"`, `"pad"` |
    /// | `short_side` | `null`, or pixels |
    /// | `mean`, `std` | `null`, or one number a channel, or one number for all |
    /// | `crop` | `null`, or `[y, x, height, width]` |
    /// | `exif` | `false`, `true` |
    /// | `damage` | `"strict"`, `"lenient"` |
    /// | `augment` | `null`, or `{"random_resized_crop": {"area": [0.08, 1.0], "aspect": [0.75, 1.3333333333333333]}, "flip": 0.5}` (`true` stands for the default ranges) |
    /// | `limits` | `{"pixels": 134217728, "bytes": 1073741824}` |
    ///
    /// # Errors
    /// `InvalidArgument`, naming the key, for unknown keys, values of another type, and specs that
    /// [make no sense](ImageSpec::check).
    pub fn from_json(json: &Value) -> Result<ImageSpec> {
        let Value::Object(map) = json else {
            return Err(refuse("spec", format!("must be an object, not {}", kind(json))));
        };
        let mut spec = ImageSpec::default();
        for (key, value) in map {
            spec.set(key, value)?;
        }
        // One number stands for all channels, whose number may come after it.
        let channels = usize::from(spec.channels);
        for values in [&mut spec.mean, &mut spec.std].into_iter().flatten() {
            if values.len() == 1 {
                values.resize(channels, values[0]);
            }
        }
        spec.check()?;
        let u8 = spec.dtype == PixelType::U8;
        spec.scale = spec.scale.filter(|scale| !u8 && *scale != Scale::Before);
        Ok(spec)
    }

    fn set(&mut self, key: &str, value: &Value) -> Result<()> {
        match key {
            "size" => self.size = optional(value, |v| integers(key, v))?,
            "method" => self.method = name(key, value, &Method::NAMES)?,
            "coordinates" => self.coordinates = name(key, value, &Coordinates::NAMES)?,
            "antialias" => self.antialias = boolean(key, value)?,
            "channels" => {
                let channels = integer(key, value)?;
                self.channels = u8::try_from(channels)
                    .map_err(|_| refuse(key, format!("must be 1, 3 or 4, not {channels}")))?;
            }
            "dtype" => self.dtype = name(key, value, &PixelType::NAMES)?,
            "scale" => self.scale = Some(scale(key, value)?),
            "layout" => self.layout = name(key, value, &Layout::NAMES)?,
            "dct_method" => self.dct = name(key, value, &DCT)?,
            "fit" => self.fit = name(key, value, &Fit::NAMES)?,
            "short_side" => self.short_side = optional(value, |v| integer(key, v))?,
            "mean" => self.mean = optional(value, |v| floats(key, v))?,
            "std" => self.std = optional(value, |v| floats(key, v))?,
            "crop" => self.crop = optional(value, |v| integers(key, v))?,
            "exif" => self.exif = boolean(key, value)?,
            "damage" => self.damage = name(key, value, &DAMAGE)?,
            "augment" => self.augment = optional(value, |v| augment(key, v))?.unwrap_or_default(),
            "limits" => self.limits = limits(key, value)?,
            _ => return Err(refuse(key, "is no key of an image spec".into())),
        }
        Ok(())
    }

    /// The JSON form, from which [`from_json`](ImageSpec::from_json) makes an equal spec. Keys that are rarely used are
    /// left out where they have their default.
    pub fn to_json(&self) -> Value {
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| map.insert(key.into(), value);
        put("size", json!(self.size));
        put("method", word(self.method, &Method::NAMES));
        put("coordinates", word(self.coordinates, &Coordinates::NAMES));
        put("antialias", json!(self.antialias));
        put("channels", json!(self.channels));
        put("dtype", word(self.dtype, &PixelType::NAMES));
        let default = if self.dtype == PixelType::U8 { Scale::Off } else { Scale::Before };
        put(
            "scale",
            match self.scale.unwrap_or(default) {
                Scale::Before => json!(true),
                Scale::After => json!("after"),
                Scale::Divide => json!("divide"),
                Scale::Off => json!(false),
            },
        );
        put("layout", word(self.layout, &Layout::NAMES));
        put("dct_method", word(self.dct, &DCT));
        put("fit", word(self.fit, &Fit::NAMES));
        if let Some(short) = self.short_side {
            put("short_side", json!(short));
        }
        if let Some(mean) = &self.mean {
            put("mean", json!(mean));
        }
        if let Some(std) = &self.std {
            put("std", json!(std));
        }
        if let Some(crop) = self.crop {
            put("crop", json!(crop));
        }
        if self.exif {
            put("exif", json!(true));
        }
        if self.damage != Damage::Strict {
            put("damage", word(self.damage, &DAMAGE));
        }
        if self.is_augmented() {
            let mut augment = Map::new();
            if let Some(RandomResizedCrop { area, aspect }) = self.augment.crop {
                let ranges = json!({"area": [area.0, area.1], "aspect": [aspect.0, aspect.1]});
                augment.insert("random_resized_crop".into(), ranges);
            }
            augment.insert("flip".into(), json!(self.augment.flip));
            put("augment", Value::Object(augment));
        }
        if self.limits != Limits::default() {
            put("limits", json!({"pixels": self.limits.pixels, "bytes": self.limits.bytes}));
        }
        Value::Object(map)
    }
}

fn word<T: PartialEq>(value: T, names: &[(&str, T)]) -> Value {
    names.iter().find(|(_, v)| *v == value).map_or(Value::Null, |(name, _)| json!(name))
}

fn name<T: Copy>(key: &str, value: &Value, names: &[(&str, T)]) -> Result<T> {
    let found = value.as_str().and_then(|text| names.iter().find(|(name, _)| *name == text));
    found.map(|(_, v)| *v).ok_or_else(|| {
        let all: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        refuse(key, format!("must be one of {}, not {}", all.join(", "), shown(value)))
    })
}

fn optional<T>(value: &Value, read: impl FnOnce(&Value) -> Result<T>) -> Result<Option<T>> {
    if value.is_null() { Ok(None) } else { read(value).map(Some) }
}

fn boolean(key: &str, value: &Value) -> Result<bool> {
    value.as_bool().ok_or_else(|| refuse(key, format!("must be true or false, not {}", shown(value))))
}

fn integer(key: &str, value: &Value) -> Result<u32> {
    value.as_u64().and_then(|v| u32::try_from(v).ok()).ok_or_else(|| {
        refuse(key, format!("must be a whole number from 0 to 2^32 - 1, not {}", shown(value)))
    })
}

fn integers<const N: usize>(key: &str, value: &Value) -> Result<[u32; N]> {
    let values = value.as_array().filter(|values| values.len() == N);
    let Some(values) = values else {
        return Err(refuse(key, format!("must be a list of {N} whole numbers, not {}", shown(value))));
    };
    let mut out = [0; N];
    for (out, value) in out.iter_mut().zip(values) {
        *out = integer(key, value)?;
    }
    Ok(out)
}

fn float(key: &str, value: &Value) -> Result<f64> {
    value.as_f64().ok_or_else(|| refuse(key, format!("must be a number, not {}", shown(value))))
}

fn floats(key: &str, value: &Value) -> Result<Vec<f32>> {
    match value {
        Value::Array(values) => values.iter().map(|v| Ok(float(key, v)? as f32)).collect(),
        _ => Ok(vec![float(key, value)? as f32]),
    }
}

fn scale(key: &str, value: &Value) -> Result<Scale> {
    match value {
        Value::Bool(true) => Ok(Scale::Before),
        Value::Bool(false) => Ok(Scale::Off),
        Value::String(text) if text == "after" => Ok(Scale::After),
        Value::String(text) if text == "divide" => Ok(Scale::Divide),
        _ => {
            let reason = format!("must be true, false, \"after\" or \"divide\", not {}", shown(value));
            Err(refuse(key, reason))
        }
    }
}

fn object<'a>(key: &str, value: &'a Value) -> Result<&'a Map<String, Value>> {
    value.as_object().ok_or_else(|| refuse(key, format!("must be an object, not {}", shown(value))))
}

fn augment(key: &str, value: &Value) -> Result<Augment> {
    let mut augment = Augment::default();
    for (name, value) in object(key, value)? {
        match (name.as_str(), value) {
            ("random_resized_crop", Value::Null | Value::Bool(false)) => {}
            ("random_resized_crop", Value::Bool(true)) => augment.crop = Some(RandomResizedCrop::default()),
            ("random_resized_crop", value) => augment.crop = Some(ranges(key, value)?),
            ("flip", Value::Bool(flip)) => augment.flip = if *flip { 0.5 } else { 0.0 },
            ("flip", value) => augment.flip = float(key, value)?,
            _ => return Err(refuse(key, format!("has no key {name:?}"))),
        }
    }
    Ok(augment)
}

fn ranges(key: &str, value: &Value) -> Result<RandomResizedCrop> {
    let mut crop = RandomResizedCrop::default();
    for (name, value) in object(key, value)? {
        let range = match value.as_array().map(Vec::as_slice) {
            Some([low, high]) => (float(key, low)?, float(key, high)?),
            _ => return Err(refuse(key, format!("{name} must be a list of two numbers"))),
        };
        match name.as_str() {
            "area" => crop.area = range,
            "aspect" => crop.aspect = range,
            _ => return Err(refuse(key, format!("random_resized_crop has no key {name:?}"))),
        }
    }
    Ok(crop)
}

fn limits(key: &str, value: &Value) -> Result<Limits> {
    let mut limits = Limits::default();
    for (name, value) in object(key, value)? {
        let number = value.as_u64().ok_or_else(|| refuse(key, format!("{name} must be a whole number")))?;
        match name.as_str() {
            "pixels" => limits.pixels = number,
            "bytes" => limits.bytes = number,
            _ => return Err(refuse(key, format!("has no key {name:?}"))),
        }
    }
    Ok(limits)
}

/// A value for a message, cut where it is long.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
