//! Data sets: named, made here from a seed (or from pictures given), the same on every machine of one kind.

mod picture;
pub mod random;
mod tfrecord;

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::Failure;
use crate::check::crc32;
use crate::definition::Definition;
use crate::run::process;
use crate::settings::Settings;

/// How many records are sampled for comparisons of values.
const SAMPLED: u64 = 32;
/// Records made at one time.
const CHUNK: u64 = 128;
/// Files of a set of many records.
const SHARDS: u64 = 4;

/// Name of the files of reference values, before the size of the pictures.
const REFERENCE: &str = "reference";

/// What the records of a set hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Photo-like JPEGs, as in ImageNet mostly without chroma subsampling.
    Photo,
    /// The same, all 4:2:0.
    Photo420,
    /// 32 floats and a label.
    Tensor,
    /// A label: the smallest useful record.
    Label,
}

/// Name, kind and usual number of records.
const SETS: &[(&str, Kind, u64)] = &[
    ("photo", Kind::Photo, 4000),
    ("photo-420", Kind::Photo420, 4000),
    ("tensor", Kind::Tensor, 100_000),
    ("label", Kind::Label, 1_000_000),
];

/// A data set on disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataSet {
    /// Folder of its files.
    #[serde(skip)]
    pub folder: PathBuf,
    /// TFRecord files in order.
    #[serde(skip)]
    pub files: Vec<PathBuf>,
    /// Number of records; record i in file order has the label i.
    pub records: u64,
    /// Number of records the definitions are written for.
    pub usual_records: u64,
    /// Bytes of all payloads.
    pub payload_bytes: u64,
    /// CRC-32 over the payloads of the sampled records, one after the other.
    pub sample_checksum: String,
    /// Where the records come from.
    pub origin: String,
    /// Bits a pixel of the pictures; 0 without pictures.
    pub bits_per_pixel: f64,
    file_names: Vec<String>,
}

impl DataSet {
    /// The set `name` below `root`, made first when it is not there.
    ///
    /// # Errors
    /// An unknown name, or a folder that cannot be written.
    pub fn ready(name: &str, root: &Path, records: Option<u64>) -> Result<DataSet, Failure> {
        let (kind, usual) = known(name)?;
        let records = records.unwrap_or(usual);
        let folder = root.join(format!("{name}-{records}"));
        match DataSet::open(&folder)? {
            Some(set) => Ok(set),
            None => {
                eprintln!("making data set {name} of {records} records in {}", folder.display());
                make(kind, &folder, [records, usual], &[])
            }
        }
    }

    /// Makes the photo set `name` from the JPEG files of `images`, repeated up to `records`.
    ///
    /// # Errors
    /// When no JPEG is there or the folder cannot be written.
    pub fn from_images(
        name: &str,
        root: &Path,
        records: Option<u64>,
        images: &Path,
    ) -> Result<DataSet, Failure> {
        let (kind, usual) = known(name)?;
        let records = records.unwrap_or(usual);
        let entries = fs::read_dir(images).map_err(|e| Failure::io(images, &e))?;
        let is_jpeg = |path: &PathBuf| {
            path.extension()
                .is_some_and(|e| ["jpg", "jpeg"].iter().any(|known| e.eq_ignore_ascii_case(known)))
        };
        let mut files: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(is_jpeg).collect();
        files.sort();
        if files.is_empty() {
            return Err(Failure::new(format!("no .jpg or .jpeg in {}", images.display())));
        }
        make(kind, &root.join(format!("{name}-{records}")), [records, usual], &files)
    }

    fn open(folder: &Path) -> Result<Option<DataSet>, Failure> {
        let path = folder.join("manifest.json");
        let Ok(text) = fs::read_to_string(&path) else { return Ok(None) };
        let mut set: DataSet =
            serde_json::from_str(&text).map_err(|e| Failure::new(format!("{}: {e}", path.display())))?;
        set.folder = folder.canonicalize().map_err(|e| Failure::io(folder, &e))?;
        set.files = set.file_names.iter().map(|name| set.folder.join(name)).collect();
        Ok(Some(set))
    }

    /// The records whose values are compared: spread evenly over the set.
    pub fn sample(&self) -> Vec<u64> {
        sample(self.records)
    }

    /// Reference values of the sampled records and who made them: the generator for tensors; for pictures of the definition's
    /// size TensorFlow's accurate decode and resize, or without TensorFlow the library's own.
    ///
    /// # Errors
    /// When the reference cannot be made.
    pub fn reference(
        &self,
        definition: &Definition,
        settings: &Settings,
    ) -> Result<(Vec<f32>, String), Failure> {
        let size = definition.integer("size");
        let stem = size.map_or(REFERENCE.to_owned(), |size| format!("{REFERENCE}-{size}"));
        let path = self.folder.join(format!("{stem}.f32"));
        let source = self.folder.join(format!("{stem}.txt"));
        let made_by = fs::read_to_string(&source).unwrap_or_default();
        let tensorflow = settings.peers.program("tf").ok();
        if made_by.is_empty() || (made_by.starts_with("tfrmap") && tensorflow.is_some()) {
            let mut command = match tensorflow {
                Some(python) => {
                    let mut command = Command::new(python);
                    command.arg(settings.peers.engines().join("reference.py"));
                    command
                }
                None => {
                    let own = std::env::current_exe().map_err(|e| Failure::new(e.to_string()))?;
                    let mut command = Command::new(own);
                    command.arg("engine");
                    command
                }
            };
            let job = json!({
                "task": "reference", "files": self.files, "sample": self.sample(), "values_out": path,
                "records": self.records, "size": size, "threads": 1,
            });
            let outcome = process::run(command.arg(job.to_string()), Duration::from_secs(600))
                .map_err(|e| Failure::new(format!("reference: {e}")))?;
            let made_by = outcome.stdout.lines().next_back().unwrap_or_default().trim();
            if !outcome.status.is_some_and(|s| s.success()) || made_by.is_empty() {
                return Err(Failure::new(format!("the reference could not be made: {}", outcome.stderr)));
            }
            fs::write(&source, made_by).map_err(|e| Failure::io(&source, &e))?;
        }
        let bytes = fs::read(&path).map_err(|e| Failure::io(&path, &e))?;
        let made_by = fs::read_to_string(&source).map_err(|e| Failure::io(&source, &e))?;
        Ok((bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect(), made_by))
    }
}

fn known(name: &str) -> Result<(Kind, u64), Failure> {
    let set = SETS.iter().find(|(known, ..)| *known == name);
    let names: Vec<&str> = SETS.iter().map(|(known, ..)| *known).collect();
    set.map(|(_, kind, records)| (*kind, *records)).ok_or_else(|| {
        Failure::new(format!("no data set is named {name:?}; there are: {}", names.join(", ")))
    })
}

/// The sampled record numbers of a set.
fn sample(records: u64) -> Vec<u64> {
    let sampled = SAMPLED.min(records);
    (0..sampled).map(|k| k * records / sampled).collect()
}

/// The values of tensor record `id`.
fn tensor(id: u64) -> Vec<f32> {
    let mut random = random::Random::new(id);
    (0..32).map(|_| random.unit() as f32).collect()
}

fn make(
    kind: Kind,
    folder: &Path,
    [records, usual_records]: [u64; 2],
    images: &[PathBuf],
) -> Result<DataSet, Failure> {
    fs::create_dir_all(folder).map_err(|e| Failure::io(folder, &e))?;
    let shards = if kind == Kind::Label { 1 } else { SHARDS.min(records.max(1)) };
    let mut set = DataSet {
        records,
        usual_records,
        origin: match images.len() {
            0 => "made by tfrmap-bench data".to_owned(),
            n => format!("{n} pictures given"),
        },
        folder: folder.to_owned(),
        files: Vec::new(),
        payload_bytes: 0,
        sample_checksum: String::new(),
        bits_per_pixel: 0.0,
        file_names: Vec::new(),
    };
    let sampled = sample(records);
    let (mut crc, mut bits, mut pixels) = (0, 0.0, 0.0);
    for shard in 0..shards {
        let name = format!("train-{shard:05}-of-{shards:05}");
        let path = folder.join(&name);
        let file = File::create(&path).map_err(|e| Failure::io(&path, &e))?;
        let mut file = BufWriter::with_capacity(1 << 20, file);
        let (first, end) = (shard * records / shards, (shard + 1) * records / shards);
        let mut at = first;
        while at < end {
            let until = end.min(at + CHUNK);
            let payloads: Result<Vec<_>, Failure> =
                (at..until).into_par_iter().map(|id| payload(kind, id, images)).collect();
            for (id, (payload, shape)) in (at..until).zip(payloads?) {
                tfrecord::write_record(&mut file, &payload).map_err(|e| Failure::io(&path, &e))?;
                set.payload_bytes += payload.len() as u64;
                if sampled.binary_search(&id).is_ok() {
                    crc = crc32(crc, &payload);
                }
                if let Some((width, height, bytes)) = shape {
                    bits += bytes as f64 * 8.0;
                    pixels += f64::from(width) * f64::from(height);
                }
            }
            at = until;
        }
        set.file_names.push(name);
    }
    set.sample_checksum = format!("{crc:08x}");
    set.bits_per_pixel = if pixels > 0.0 { bits / pixels } else { 0.0 };
    if kind == Kind::Tensor {
        let values: Vec<u8> = sampled.iter().flat_map(|id| tensor(*id)).flat_map(f32::to_le_bytes).collect();
        write(&folder.join(format!("{REFERENCE}.f32")), &values)?;
        write(&folder.join(format!("{REFERENCE}.txt")), b"the generator")?;
    }
    let manifest = serde_json::to_vec_pretty(&set).map_err(|e| Failure::new(e.to_string()))?;
    write(&folder.join("manifest.json"), &manifest)?;
    DataSet::open(folder)?.ok_or_else(|| Failure::new("the data set just made is not there"))
}

type Payload = (Vec<u8>, Option<(u32, u32, usize)>);

fn payload(kind: Kind, id: u64, images: &[PathBuf]) -> Result<Payload, Failure> {
    let label = tfrecord::int64("image/class/label", id as i64);
    match kind {
        Kind::Label => Ok((tfrecord::example(&[tfrecord::int64("label", id as i64)]), None)),
        Kind::Tensor => {
            let features = [tfrecord::floats("x", &tensor(id)), tfrecord::int64("label", id as i64)];
            Ok((tfrecord::example(&features), None))
        }
        Kind::Photo | Kind::Photo420 => {
            let jpeg = match images {
                [] => picture::jpeg(id, kind == Kind::Photo420)
                    .map_err(|e| Failure::new(format!("picture {id}: {e}")))?,
                _ => {
                    let path = &images[id as usize % images.len()];
                    fs::read(path).map_err(|e| Failure::io(path, &e))?
                }
            };
            let (width, height) =
                picture::size(&jpeg).ok_or_else(|| Failure::new(format!("picture {id} is no JPEG")))?;
            let features = [
                tfrecord::bytes("image/encoded", &jpeg),
                label,
                tfrecord::int64("image/height", i64::from(height)),
                tfrecord::int64("image/width", i64::from(width)),
            ];
            Ok((tfrecord::example(&features), Some((width, height, jpeg.len()))))
        }
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    fs::write(path, bytes).map_err(|e| Failure::io(path, &e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_made_once_and_says_what_is_in_it() {
        let root = std::env::temp_dir().join(format!("tfrmap-bench-data-{}", std::process::id()));
        let made = DataSet::ready("photo", &root, Some(9)).unwrap();
        let found = DataSet::ready("photo", &root, Some(9)).unwrap();
        assert_eq!(made, found);
        assert_eq!((made.records, made.files.len()), (9, 4));
        assert!((2.5..6.5).contains(&made.bits_per_pixel), "{} bits a pixel", made.bits_per_pixel);
        let bytes: u64 = made.files.iter().map(|f| f.metadata().unwrap().len()).sum();
        assert_eq!(bytes, made.payload_bytes + 9 * 16);
        fs::remove_dir_all(&root).unwrap();
    }
}
