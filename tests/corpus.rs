//! The fear: it works with files of our own making only.

mod store_support;

use serde_json::Value;
use store_support::*;
use tfrmap::{Access, RecordReader, Store};

/// FNV would do for a count; the manifest holds SHA-256, so that is computed here, by its definition (FIPS 180-4).
struct Sha256 {
    state: [u32; 8],
    block: Vec<u8>,
    len: u64,
}

impl Sha256 {
    fn new() -> Sha256 {
        // The first 32 bits of the fractional parts of the square roots of the first eight primes.
        let state = primes().take(8).map(|p| (p as f64).sqrt()).map(fraction).collect::<Vec<_>>();
        Sha256 { state: state.try_into().unwrap(), block: Vec::new(), len: 0 }
    }

    fn update(&mut self, bytes: &[u8]) {
        self.len += bytes.len() as u64;
        self.block.extend_from_slice(bytes);
        let whole = self.block.len() / 64 * 64;
        let blocks: Vec<u8> = self.block.drain(..whole).collect();
        blocks.chunks_exact(64).for_each(|block| self.compress(block));
    }

    fn finish(mut self) -> String {
        let bits = self.len * 8;
        self.update(&[0x80]);
        while self.block.len() != 56 {
            self.update(&[0]);
        }
        let length: Vec<u8> = (0..8).rev().map(|i| (bits >> (8 * i)) as u8).collect();
        self.update(&length);
        self.state.iter().map(|word| format!("{word:08x}")).collect()
    }

    fn compress(&mut self, block: &[u8]) {
        thread_local!(static K: Vec<u32> = primes().take(64).map(|p| fraction((p as f64).cbrt())).collect());
        let mut w: Vec<u32> = block
            .chunks_exact(4)
            .map(|word| word.iter().fold(0, |all, byte| all << 8 | u32::from(*byte)))
            .collect();
        for i in 16..64 {
            let (a, b) = (w[i - 15], w[i - 2]);
            let s0 = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
            let s1 = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
            w.push(w[i - 16].wrapping_add(s0).wrapping_add(w[i - 7]).wrapping_add(s1));
        }
        let mut v = self.state;
        K.with(|k| {
            for i in 0..64 {
                let [a, b, c, d, e, f, g, h] = v;
                let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
                let t1 =
                    h.wrapping_add(s1).wrapping_add((e & f) ^ (!e & g)).wrapping_add(k[i]).wrapping_add(w[i]);
                let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
                let t2 = s0.wrapping_add((a & b) ^ (a & c) ^ (b & c));
                v = [t1.wrapping_add(t2), a, b, c, d.wrapping_add(t1), e, f, g];
            }
        });
        self.state.iter_mut().zip(v).for_each(|(state, v)| *state = state.wrapping_add(v));
    }
}

fn primes() -> impl Iterator<Item = u32> {
    (2..).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0))
}

fn fraction(x: f64) -> u32 {
    ((x - x.floor()) * 4_294_967_296.0) as u32
}

#[test]
fn digests_are_computed_right() {
    let mut digest = Sha256::new();
    digest.update(b"abc");
    assert_eq!(digest.finish(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

#[test]
fn counts_ends_and_digests() {
    let Some(folder) = std::env::var_os("TFRMAP_CORPUS").map(std::path::PathBuf::from) else {
        eprintln!("SKIPPED: real files are not checked, since TFRMAP_CORPUS names no folder");
        return;
    };
    let manifest: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("manifest.json")).unwrap()).unwrap();
    let files = manifest["files"].as_array().unwrap();
    for file in files {
        let (name, path) = (file["file"].as_str().unwrap(), folder.join(file["file"].as_str().unwrap()));
        if file["is_tfrecord"] == false {
            let error = Store::open_with(&in_memory(Access::Auto), &path).unwrap_err();
            assert!(["NotTfrecord", "CorruptLength"].contains(&class(&error)), "{name}: {error}");
            continue;
        }
        let mut digest = Sha256::new();
        let mut offsets = Vec::new();
        let mut reader = RecordReader::open(&path).unwrap();
        let mut payload = Vec::new();
        loop {
            let offset = reader.offset();
            if !reader.read_into(&mut payload).unwrap_or_else(|error| panic!("{error}")) {
                break;
            }
            offsets.push((offset, payload.len() as u64));
            digest.update(&(payload.len() as u64).to_le_bytes());
            digest.update(&payload);
        }
        assert_eq!(Some(offsets.len() as u64), file["records"].as_u64(), "{name}");
        assert_eq!(Some(digest.finish().as_str()), file["payload_digest"].as_str(), "{name}");
        for (end, found) in [("first_record", offsets.first()), ("last_record", offsets.last())] {
            if let Some((offset, length)) = found {
                assert_eq!(Some(*offset), file[end]["offset"].as_u64(), "{name}");
                assert_eq!(Some(*length), file[end]["length"].as_u64(), "{name}");
            }
        }
        for access in [Access::Map, Access::Read] {
            let opened = Store::open_with(&in_memory(access), &path);
            if file["compression"] == "none" {
                let store = opened.unwrap();
                store.verify().unwrap();
                let spans: Vec<_> = (0..store.len())
                    .map(|i| store.span(i).unwrap())
                    .map(|s| (s.offset, s.payload_len))
                    .collect();
                assert_eq!(spans, offsets, "{name}");
            } else {
                assert_eq!(class(&opened.unwrap_err()), "Compressed", "{name}");
            }
        }
    }
    assert!(files.len() > 50);
}
