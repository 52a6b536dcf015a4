//! Fear: a record made to hurt hangs the reader, overflows its stack or fills its memory.

mod example_support;

use std::thread;

use example_support::prost_example;

use tfrmap::{ErrorKind, Example, ExampleBuilder, Features, Profile, SequenceExample, proto};

fn sub(field: u8, message: &[u8]) -> Vec<u8> {
    let mut out = vec![field << 3 | 2];
    let mut length = message.len();
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend_from_slice(message);
    out
}

/// Puts bytes into each message of an Example: the record, its features, an entry, a feature, and each kind of list.
fn at_every_level(bytes: &[u8]) -> Vec<Vec<u8>> {
    let key = sub(1, b"a");
    let feature = |feature: Vec<u8>| sub(1, &sub(1, &[key.clone(), sub(2, &feature)].concat()));
    let mut payloads = vec![
        bytes.to_vec(),
        sub(1, bytes),
        sub(1, &sub(1, &[&key, bytes].concat())),
        feature(bytes.to_vec()),
    ];
    payloads.extend((1..=3).map(|kind| feature(sub(kind, bytes))));
    payloads
}

fn refused(payload: &[u8]) {
    for error in [Example::parse(payload).unwrap_err(), SequenceExample::parse(payload).unwrap_err()] {
        assert_eq!(*error.kind(), ErrorKind::MalformedProto, "{error}");
        assert!(error.offset().unwrap() <= payload.len() as u64);
    }
    let error = Features::new().var_len::<i64>("a").parse(&[payload]).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::MalformedProto);
    let mut profile = Profile::new();
    profile.add(payload);
}

/// Runs where a recursion of some hundred levels would overflow.
fn on_a_small_stack(run: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(64 << 10).spawn(run).unwrap().join().unwrap();
}

#[test]
fn groups_are_refused_beyond_a_depth_of_100_and_never_by_recursion() {
    on_a_small_stack(|| {
        for depth in [101, 5_000, 1_000_000] {
            let open: Vec<u8> = vec![0x4b; depth];
            let closed = [open.clone(), vec![0x4c; depth]].concat();
            at_every_level(&open).iter().chain(&at_every_level(&closed)).for_each(|payload| refused(payload));
        }
    });
}

#[test]
fn the_depth_that_is_allowed_is_prosts() {
    for depth in 90..=102 {
        let closed = [vec![0x4b; depth], vec![0x4c; depth]].concat();
        let with_a_leaf = [vec![0x4b; depth], vec![0x48, 1], vec![0x4c; depth]].concat();
        for payload in at_every_level(&closed).iter().chain(&at_every_level(&with_a_leaf)) {
            assert_eq!(Example::parse(payload).is_ok(), prost_example(payload).is_some(), "{depth} deep");
        }
    }
}

#[test]
fn ends_of_groups_must_fit_their_beginnings() {
    for bytes in [&[0x4b, 0x54][..], &[0x4c], &[0x4b, 0x53, 0x4c, 0x54], &[0x4b]] {
        at_every_level(bytes).iter().for_each(|payload| refused(payload));
    }
}

#[test]
fn varints_of_more_than_ten_bytes_are_refused_everywhere() {
    let long = [vec![0xff; 10], vec![0x01]].concat();
    let tags = at_every_level(&long);
    let values = at_every_level(&[vec![0x48], long.clone()].concat());
    let lengths = at_every_level(&[vec![0x4a], long.clone()].concat());
    tags.iter().chain(&values).chain(&lengths).for_each(|payload| refused(payload));
    // Packed and unpacked integers.
    let list = |list: &[u8]| sub(1, &sub(1, &[sub(1, b"a"), sub(2, &sub(3, list))].concat()));
    refused(&list(&sub(1, &long)));
    refused(&list(&[vec![0x08], long].concat()));
    refused(&list(&sub(1, &[0x80])));
}

#[test]
fn lengths_past_the_end_are_refused_without_wrapping() {
    for length in [6, 0x7fff_ffff, u64::from(u32::MAX), i64::MAX as u64, u64::MAX - 1, u64::MAX] {
        for field in [1, 2, 9] {
            let mut bytes = vec![field << 3 | 2];
            let mut rest = length;
            while rest >= 0x80 {
                bytes.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            bytes.extend([rest as u8, 1, 2, 3]);
            for payload in at_every_level(&bytes) {
                assert_eq!(*Example::parse(&payload).unwrap_err().kind(), ErrorKind::MalformedProto);
            }
        }
    }
}

#[test]
fn every_cut_of_a_record_is_refused_or_read_and_never_panics() {
    let payload = ExampleBuilder::new()
        .image([0xff; 300], "JPEG", 2, 3)
        .label(300)
        .floats("f", [1.0, 2.0])
        .int64s("i", [1, -1, i64::MIN])
        .encode();
    let features = Features::infer([&payload]);
    let mut whole = 0;
    for cut in 0..payload.len() {
        whole += usize::from(Example::parse(&payload[..cut]).is_ok());
        assert!(features.parse(&[&payload[..cut]]).is_err());
        // One byte of padding in front moves every position.
        let _ = SequenceExample::parse(&payload[cut..]);
    }
    assert_eq!(whole, 1, "only the empty record is an Example");
}

#[test]
fn thousands_of_equal_and_of_different_keys_are_told_apart() {
    let entry = |key: String, value: i64| proto::FeatureEntry {
        key: key.into_bytes(),
        value: proto::Feature::int64_list([value]),
    };
    let encode = |feature: Vec<proto::FeatureEntry>| {
        prost::Message::encode_to_vec(&proto::Example { features: Some(proto::Features { feature }) })
    };
    for n in [0, 1, 7, 8, 9, 200, 256, 257, 3_000, 50_000] {
        let different = encode((0..n).map(|i| entry(i.to_string(), i)).collect());
        let example = Example::parse(&different).unwrap();
        assert_eq!((example.len() as i64, example.iter().count() as i64), (n, n));
        let twice = encode((0..n).chain(0..n).map(|i| entry((i / 2).to_string(), i)).collect());
        let example = Example::parse(&twice).unwrap();
        let values: Vec<i64> = example.iter().map(|(_, feature)| feature.int64s().next().unwrap()).collect();
        let last_of_each: Vec<i64> = (0..n).filter(|i| i % 2 == 1 || i + 1 == n).collect();
        assert_eq!(values, last_of_each);
    }
}

#[test]
fn a_70_mb_feature_is_read_whole() {
    let zeros = vec![0; 70_000_000];
    let packed = sub(1, &sub(1, &[sub(1, b"a"), sub(2, &sub(2, &sub(1, &zeros)))].concat()));
    let feature = Example::parse(&packed).unwrap().get("a").unwrap();
    assert_eq!(feature.len(), 17_500_000);
    assert!(feature.floats().all(|value| value.to_bits() == 0));
    let column = Features::new().fixed_len::<f32>("a", [17_500_000]).parse(&[&packed]).unwrap().remove(0).1;
    assert_eq!(column.shape(), Some(&[1, 17_500_000][..]));
    drop((packed, column));
    let integers = sub(1, &sub(1, &[sub(1, b"a"), sub(2, &sub(3, &sub(1, &zeros)))].concat()));
    assert_eq!(Example::parse(&integers).unwrap().get("a").unwrap().int64s().count(), 70_000_000);
}

#[test]
fn shapes_that_no_memory_holds_are_refused_before_anything_is_read() {
    for shape in [vec![usize::MAX, 2], vec![1 << 40], vec![1 << 20, 1 << 20]] {
        let fixed = Features::new().fixed_len::<i64>("a", shape.clone()).default_value(1);
        let padded = Features::new().padded::<i64>("a", shape.clone());
        let raw = Features::new().decode_raw("a", tfrmap::DType::UInt8, shape);
        for features in [fixed, padded, raw] {
            let error = features.parse(&[b""]).unwrap_err();
            assert_eq!((error.kind(), error.feature()), (&ErrorKind::InvalidArgument, Some("a")));
        }
    }
    // An element of nothing would fit any number of times.
    let error = Features::new().padded::<i64>("a", [2, 0]).parse(&[b""]).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::InvalidArgument);
}
