//! Fear: a spec that makes no sense is taken, and the training runs on pixels nobody asked for.

use serde_json::{Value, json};
use tfrmap::ErrorKind;
use tfrmap::image::{Augment, Fit, ImageSpec, Layout, Limits, Method, PixelType, RandomResizedCrop, Scale};

#[test]
fn defaults_are_as_documented() {
    let spec = ImageSpec::from_json(&json!({})).unwrap();
    assert_eq!(spec, ImageSpec::default());
    assert_eq!(spec.shape(), Some([224, 224, 3]));
    let want = json!({
        "size": [224, 224], "method": "bilinear", "coordinates": "half_pixel", "antialias": false, "channels": 3,
        "dtype": "float32", "scale": true, "layout": "nhwc", "dct_method": "INTEGER_ACCURATE", "fit": "stretch"
    });
    assert_eq!(spec.to_json(), want);
    assert_eq!(ImageSpec::from_json(&want).unwrap().to_json(), want);
    let bytes = ImageSpec::default().dtype(PixelType::U8);
    assert_eq!(bytes.to_json()["scale"], json!(false));
    for scale in [true, false] {
        assert_eq!(ImageSpec::from_json(&json!({"dtype": "uint8", "scale": scale})).unwrap(), bytes);
    }
}

#[test]
fn json_and_back_is_the_same_spec() {
    let specs = [
        ImageSpec::tf1(10, 20),
        ImageSpec::tf2(10, 20),
        ImageSpec::pillow(10, 20),
        ImageSpec::imagenet_train(224),
        ImageSpec::imagenet_eval(256, 224),
        ImageSpec::keep_size().exif(true),
        ImageSpec::gray(5, 6).crop(1, 2, 3, 4).scale(Scale::After),
        ImageSpec::rgb(5, 6).fit(Fit::Pad).layout(Layout::Nchw).limits(Limits { pixels: 10, bytes: 20 }),
        ImageSpec::rgb(5, 6).augment(Augment {
            crop: Some(RandomResizedCrop { area: (0.1, 0.3), aspect: (0.2, 3.1) }),
            flip: 0.25,
        }),
        ImageSpec::rgb(5, 6).dtype(PixelType::U8).damage(tfrmap::image::Damage::Lenient),
    ];
    for spec in specs {
        spec.check().unwrap();
        let json = spec.to_json();
        let back = ImageSpec::from_json(&json).unwrap();
        assert_eq!(back.to_json(), json);
        assert_eq!(back.shape(), spec.shape());
        if spec.pixel_type() == PixelType::F32 {
            // Floats survive as decimal numbers.
            assert_eq!(
                ImageSpec::from_json(&serde_json::from_str(&json.to_string()).unwrap()).unwrap(),
                back
            );
        }
    }
    let flip =
        ImageSpec::from_json(&json!({"augment": {"flip": true, "random_resized_crop": true}})).unwrap();
    let want = Augment { crop: Some(RandomResizedCrop::default()), flip: 0.5 };
    assert_eq!(flip, ImageSpec::default().augment(want));
    let one = ImageSpec::from_json(&json!({"mean": 0.5, "std": 0.25})).unwrap();
    assert_eq!(one, ImageSpec::default().normalize(&[0.5; 3], &[0.25; 3]));
}

#[test]
fn nonsense_is_refused_by_field() {
    let refused: [(&str, Value); 41] = [
        ("spec", json!([])),
        ("sizes", json!({"sizes": [2, 2]})),
        ("size", json!({"size": [0, 5]})),
        ("size", json!({"size": [5, 0]})),
        ("size", json!({"size": [-1, 5]})),
        ("size", json!({"size": [5]})),
        ("size", json!({"size": [5, 5, 3]})),
        ("size", json!({"size": [5.5, 5]})),
        ("size", json!({"size": "5x5"})),
        ("size", json!({"size": [1_000_000, 1_000_000]})),
        ("method", json!({"method": "bogus"})),
        ("method", json!({"method": 1})),
        ("coordinates", json!({"coordinates": "legacy"})),
        ("coordinates", json!({"coordinates": "asymmetric", "method": "lanczos3"})),
        ("coordinates", json!({"coordinates": "align_corners", "method": "mitchellcubic"})),
        ("coordinates", json!({"coordinates": "asymmetric", "method": "pillow_bilinear"})),
        ("antialias", json!({"coordinates": "asymmetric", "antialias": true})),
        ("antialias", json!({"antialias": 1})),
        ("channels", json!({"channels": 2})),
        ("channels", json!({"channels": 0})),
        ("channels", json!({"channels": 259})),
        ("dtype", json!({"dtype": "float64"})),
        ("scale", json!({"scale": "before"})),
        ("scale", json!({"scale": "after", "dtype": "uint8"})),
        ("mean", json!({"mean": [0.5, 0.5, 0.5], "dtype": "uint8"})),
        ("mean", json!({"mean": [0.5, 0.5]})),
        ("mean", json!({"mean": ["a", 0.5, 0.5]})),
        ("std", json!({"std": [0.5, 0.0, 0.5]})),
        ("std", json!({"std": 0})),
        ("layout", json!({"layout": "hwc"})),
        ("dct_method", json!({"dct_method": "FAST"})),
        ("fit", json!({"fit": "cover"})),
        ("fit", json!({"fit": "pad", "size": null})),
        ("fit", json!({"fit": "pad", "augment": {"random_resized_crop": {}}})),
        ("short_side", json!({"short_side": 256})),
        ("short_side", json!({"short_side": 200, "fit": "center_crop"})),
        ("crop", json!({"crop": [0, 0, 0, 5]})),
        ("crop", json!({"crop": [0, 0, 5, 5], "augment": {"random_resized_crop": true}})),
        ("augment", json!({"augment": {"flip": 1.5}})),
        ("augment", json!({"augment": {"random_resized_crop": {"area": [0.5, 0.2]}}})),
        ("limits", json!({"limits": {"pixel": 5}})),
    ];
    for (field, json) in refused {
        let error = ImageSpec::from_json(&json).expect_err(&json.to_string());
        assert_eq!(*error.kind(), ErrorKind::InvalidArgument, "{json}");
        assert!(error.to_string().contains(&format!("{field}:")), "{json}: {error}");
    }
    let augment = Augment { crop: Some(RandomResizedCrop::default()), flip: f64::NAN };
    assert!(ImageSpec::default().augment(augment).check().is_err());
    assert!(ImageSpec::keep_size().augment(Augment { flip: 0.0, ..augment }).check().is_err());
    assert!(ImageSpec::default().normalize(&[0.0; 3], &[f32::INFINITY; 3]).check().is_err());
    assert!(ImageSpec::default().method(Method::Lanczos5).check().is_ok());
}
