//! Fear: the hand-written reader and the protocol buffer library disagree.
//!
//! Messages are written with every freedom the wire format has (packed, unpacked and mixed lists, parts given twice, unknown
//! fields and groups, padded varints), then damaged. Both readers must read the same, or both must refuse, but for two rules:
//!
//! - A known field of another wire type is skipped at a record's top level, as TensorFlow and Google's own protocol buffers do;
//!   prost refuses it.
//! - A varint's bits beyond the 64th are dropped, as TensorFlow and Google's own protocol buffers do; prost refuses them.

mod example_support;

use example_support::{Map, prost_example, prost_map, prost_words, view_example, view_words};
use proptest::prelude::*;
use prost::Message;
use tfrmap::{Example, SequenceExample, proto};

fn put_varint(out: &mut Vec<u8>, mut value: u64, padding: usize) {
    let start = out.len();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    for _ in 0..padding.min(9 - (out.len() - start).min(9)) {
        *out.last_mut().unwrap() |= 0x80;
        out.push(0);
    }
}

fn put_sub(out: &mut Vec<u8>, field: u32, message: &[u8], padding: usize) {
    put_varint(out, u64::from(field << 3 | 2), padding % 3);
    put_varint(out, message.len() as u64, padding);
    out.extend_from_slice(message);
}

/// A field that no message here knows.
fn unknown() -> impl Strategy<Value = Vec<u8>> {
    let field = prop_oneof![4_u32..40, Just(536_870_911)];
    let leaf = (field, 0_usize..4, any::<u64>(), prop::collection::vec(any::<u8>(), 0..6)).prop_map(
        |(field, wire, number, bytes)| {
            let mut out = Vec::new();
            let wire_type = [0, 1, 2, 5][wire];
            put_varint(&mut out, u64::from(field << 3 | wire_type), 0);
            match wire {
                0 => put_varint(&mut out, number, 0),
                1 => out.extend(number.to_le_bytes()),
                2 => {
                    put_varint(&mut out, bytes.len() as u64, 0);
                    out.extend(bytes);
                }
                _ => out.extend((number as u32).to_le_bytes()),
            }
            out
        },
    );
    leaf.prop_recursive(6, 12, 2, |inner| {
        (4_u32..40, prop::collection::vec(inner, 0..3)).prop_map(|(field, fields)| {
            let mut out = Vec::new();
            put_varint(&mut out, u64::from(field << 3 | 3), 0);
            out.extend(fields.concat());
            put_varint(&mut out, u64::from(field << 3 | 4), 0);
            out
        })
    })
}

/// Parts of a message, with unknown fields among them now and then.
fn with_unknowns(parts: impl Strategy<Value = Vec<Vec<u8>>>) -> impl Strategy<Value = Vec<u8>> {
    let unknown = prop_oneof![8 => Just(Vec::new()), 1 => unknown()];
    (parts, prop::collection::vec(unknown, 0..4)).prop_map(|(parts, unknowns)| {
        let mut out = Vec::new();
        for i in 0..parts.len().max(unknowns.len()) {
            out.extend(parts.get(i).into_iter().flatten());
            out.extend(unknowns.get(i).into_iter().flatten());
        }
        out
    })
}

fn number() -> impl Strategy<Value = i64> {
    prop_oneof![0_i64..200, any::<i64>(), Just(-1)]
}

/// A list of some kind (1 bytes, 2 floats, 3 integers): runs of packed or unpacked values.
fn list(kind: u32) -> impl Strategy<Value = Vec<u8>> {
    let run = (prop::collection::vec(number(), 0..4), any::<bool>(), 0_usize..3);
    with_unknowns(prop::collection::vec(run, 0..3).prop_map(move |runs| {
        runs.into_iter()
            .map(|(values, packed, padding)| {
                let mut out = Vec::new();
                match kind {
                    1 => values
                        .iter()
                        .for_each(|v| put_sub(&mut out, 1, &v.to_le_bytes()[..(*v & 7) as usize], padding)),
                    _ if packed => {
                        let mut run = Vec::new();
                        values.iter().for_each(|v| match kind {
                            2 => run.extend((*v as u32).to_le_bytes()),
                            _ => put_varint(&mut run, v.cast_unsigned(), padding),
                        });
                        put_sub(&mut out, 1, &run, padding);
                    }
                    2 => values.iter().for_each(|v| {
                        out.push(0x0d);
                        out.extend((*v as u32).to_le_bytes());
                    }),
                    _ => values.iter().for_each(|v| {
                        out.push(0x08);
                        put_varint(&mut out, v.cast_unsigned(), padding);
                    }),
                }
                out
            })
            .collect()
    }))
}

fn feature() -> impl Strategy<Value = Vec<u8>> {
    let one = (1_u32..4).prop_flat_map(|kind| {
        list(kind).prop_map(move |list| {
            let mut out = Vec::new();
            put_sub(&mut out, kind, &list, 0);
            out
        })
    });
    with_unknowns(prop::collection::vec(one, 0..3))
}

fn key() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => prop::sample::select(vec![&b"a"[..], b"b", b"image/encoded", b"", b"\xff\xfe"]).prop_map(<[u8]>::to_vec),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ]
}

/// A map entry: key and value in any order, each given any number of times.
fn entry(value: impl Strategy<Value = Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![key().prop_map(|key| (1, key)), value.prop_map(|value| (2, value)),];
    with_unknowns(prop::collection::vec((part, 0_usize..3), 0..4).prop_map(|parts| {
        parts
            .into_iter()
            .map(|((field, part), padding)| {
                let mut out = Vec::new();
                put_sub(&mut out, field, &part, padding);
                out
            })
            .collect()
    }))
}

/// A message whose field `field` holds any number of the given messages.
fn message_of(
    field: u32,
    parts: impl Strategy<Value = Vec<u8>>,
    most: usize,
) -> impl Strategy<Value = Vec<u8>> {
    with_unknowns(prop::collection::vec(parts, 0..most).prop_map(move |parts| {
        parts
            .into_iter()
            .map(|part| {
                let mut out = Vec::new();
                put_sub(&mut out, field, &part, 0);
                out
            })
            .collect()
    }))
}

fn example() -> impl Strategy<Value = Vec<u8>> {
    message_of(1, message_of(1, entry(feature()), 8), 3)
}

fn sequence() -> impl Strategy<Value = Vec<u8>> {
    let lists = message_of(2, message_of(1, entry(message_of(1, feature(), 4)), 4), 3);
    (example(), lists).prop_map(|(context, lists)| [context, lists].concat())
}

/// Flips, inserts, deletes and cuts.
fn damaged(payload: impl Strategy<Value = Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<prop::sample::Index>(), 0..4_u8, any::<u8>());
    (payload, prop::collection::vec(change, 1..4)).prop_map(|(mut payload, changes)| {
        for (at, change, byte) in changes {
            let at = at.index(payload.len() + 1);
            match change {
                0 if at < payload.len() => payload[at] ^= byte | 1,
                1 => payload.insert(at, byte),
                2 if at < payload.len() => drop(payload.remove(at)),
                3 => payload.truncate(at),
                _ => {}
            }
        }
        payload
    })
}

/// True where the two rules of this file's head may make prost refuse what we accept.
fn excused(payload: &[u8]) -> bool {
    let long = payload.windows(10).any(|ten| ten[..9].iter().all(|byte| *byte >= 0x80) && ten[9] > 1);
    long || has_known_field_of_other_wire_type(payload).unwrap_or(false)
}

fn has_known_field_of_other_wire_type(mut payload: &[u8]) -> Option<bool> {
    while !payload.is_empty() {
        let key = varint(&mut payload)?;
        let (field, wire) = (key >> 3, key & 7);
        if (1..=2).contains(&field) && wire != 2 {
            return Some(true);
        }
        let skip = match wire {
            0 => varint(&mut payload).map(|_| 0)?,
            1 => 8,
            2 => varint(&mut payload)?,
            5 => 4,
            // The fields of a group are looked at as if they were the record's: good enough for an excuse.
            _ => 0,
        };
        payload = payload.get(usize::try_from(skip).ok()?..)?;
    }
    Some(false)
}

fn varint(payload: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for i in 0..10 {
        let (byte, rest) = payload.split_first()?;
        *payload = rest;
        value |= u64::from(byte & 0x7f).checked_shl(7 * i)?;
        if *byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn same_as_an_example(payload: &[u8]) -> Result<(), TestCaseError> {
    let ours = Example::parse(payload).ok().map(|example| view_example(&example));
    let theirs = prost_example(payload);
    match (&ours, &theirs) {
        (Some(_), None) => prop_assert!(excused(payload), "read here, refused by prost"),
        _ => prop_assert_eq!(ours, theirs),
    }
    Ok(())
}

type Lists = std::collections::BTreeMap<Vec<u8>, Vec<(&'static str, Vec<String>)>>;

fn prost_sequence(payload: &[u8]) -> Option<(Map, Lists)> {
    let message = proto::SequenceExample::decode(payload).ok()?;
    let context = message.context.as_ref().map(prost_map).unwrap_or_default();
    let lists = message.feature_lists.unwrap_or_default().feature_list.into_iter();
    let words = |list: proto::FeatureList| list.feature.iter().map(prost_words).collect();
    Some((context, lists.map(|entry| (entry.key, words(entry.value))).collect()))
}

fn same_as_a_sequence(payload: &[u8]) -> Result<(), TestCaseError> {
    let ours = SequenceExample::parse(payload).ok().map(|sequence| {
        let words = |list: tfrmap::FeatureList<'_>| -> Vec<_> {
            let steps: Vec<_> = list.iter().map(|step| view_words(&step)).collect();
            assert_eq!(steps.len(), list.len());
            steps
        };
        let lists: Lists = sequence.lists().map(|(key, list)| (key.to_vec(), words(list))).collect();
        for (key, steps) in &lists {
            assert_eq!(&words(sequence.list(key).unwrap()), steps);
        }
        (view_example(&sequence.context()), lists)
    });
    let theirs = prost_sequence(payload);
    match (&ours, &theirs) {
        (Some(_), None) => prop_assert!(excused(payload), "read here, refused by prost"),
        _ => prop_assert_eq!(ours, theirs),
    }
    Ok(())
}

/// Miri is a thousand times slower.
const CASES: u32 = if cfg!(miri) { 20 } else { 1500 };

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) })]

    #[test]
    fn examples_are_read_as_by_prost(payload in example()) {
        prop_assert!(Example::parse(&payload).is_ok());
        same_as_an_example(&payload)?;
    }

    #[test]
    fn damaged_examples_are_read_or_refused_as_by_prost(payload in damaged(example())) {
        same_as_an_example(&payload)?;
    }

    #[test]
    fn sequences_are_read_as_by_prost(payload in sequence()) {
        prop_assert!(SequenceExample::parse(&payload).is_ok());
        same_as_a_sequence(&payload)?;
    }

    #[test]
    fn damaged_sequences_are_read_or_refused_as_by_prost(payload in damaged(sequence())) {
        same_as_a_sequence(&payload)?;
    }

    #[test]
    fn noise_is_read_or_refused_as_by_prost(payload in prop::collection::vec(any::<u8>(), 0..60)) {
        same_as_an_example(&payload)?;
        same_as_a_sequence(&payload)?;
    }

    #[test]
    fn what_prost_writes_is_read_back(payload in example()) {
        let message = proto::Example::decode(&payload[..]).unwrap();
        let written = message.encode_to_vec();
        prop_assert_eq!(prost_example(&written), prost_example(&payload));
        same_as_an_example(&written)?;
    }
}
