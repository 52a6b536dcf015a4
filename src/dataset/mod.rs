//! Data sets: files in order, what is chosen of them, and the writing of them.

pub(crate) mod ahead;
mod draft;
mod names;
mod paths;
mod pattern;
pub(crate) mod ranks;
pub(crate) mod shards;
mod verbs;
pub(crate) mod view;
mod writer;

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use crate::dataset::ranks::Ranks;
use crate::dataset::shards::Shards;
use crate::dataset::view::{EpochOrder, Fingerprint, View};
use crate::error::{Error, Result};
use crate::example::Features;
use crate::record::{MissingIndex, OpenOptions, Record};

pub use writer::DatasetWriter;

/// How many records inference looks at.
const LOOKED_AT: u64 = 64;

/// TFRecord files as one list of records, any of them in constant time, in a chosen order.
///
/// Cheap to clone (the files are shared), `Send`, `Sync` and without a lifetime. The verbs take it by value and apply from
/// left to right; `batches` ends the chain:
///
/// ```no_run
/// # fn main() -> tfrmap::Result<()> {
/// use tfrmap::Dataset;
///
/// let train = Dataset::open("data/train-*")?.shuffled(7).epochs(0..90);
/// for batch in train.batches(64) {
///     let batch = batch?;
///     println!("{:?} {:?}", batch.images()?.shape(), batch.labels()?);
/// }
/// # Ok(())
/// # }
/// ```
///
/// **Do not modify or truncate a file in place while it is open; replace it by rename.** Files are mapped; those who
/// cannot keep to that use [`Access::Read`](crate::Access::Read).
#[derive(Clone)]
pub struct Dataset {
    pub(crate) shards: Arc<Shards>,
    pub(crate) view: Arc<View>,
    pub(crate) epochs: Range<u64>,
    pub(crate) ranks: Ranks,
    /// The order of the first epoch, once a single record has been asked for.
    first_order: Arc<OnceLock<EpochOrder>>,
    features: Option<Arc<Features>>,
    /// What inference found, shared by all that was made of one opened data set.
    inferred: Arc<Mutex<Option<Arc<Features>>>>,
}

impl Dataset {
    /// Opens a file, the one set of shards in a folder, or all files that a pattern matches (`data/train-*`,
    /// `data/{a,b}-*.tfrecord`), in natural order of their names. A path that exists is never taken as a pattern.
    ///
    /// Files without a sidecar index are scanned, and their index is saved (see [`OpenOptions`] for other ways).
    ///
    /// # Errors
    /// `Io` where nothing is there; `MissingShard` and `ShardSetConflict` where a set is not one whole set; what is wrong
    /// with a file or its index, as for [`Store::open`](crate::Store::open).
    pub fn open(path: impl AsRef<Path>) -> Result<Dataset> {
        Dataset::open_with(&OpenOptions::new(), [path])
    }

    /// Opens several paths, each as [`open`](Dataset::open) does, in the order given.
    ///
    /// # Errors
    /// As [`open`](Dataset::open).
    pub fn open_all<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Dataset> {
        Dataset::open_with(&OpenOptions::new(), paths)
    }

    /// Opens paths with options, in the order given.
    ///
    /// # Errors
    /// As [`open`](Dataset::open); `InvalidArgument` where no path is given.
    pub fn open_with<P: AsRef<Path>>(
        options: &OpenOptions,
        paths: impl IntoIterator<Item = P>,
    ) -> Result<Dataset> {
        let mut files: Vec<PathBuf> = Vec::new();
        let mut given = 0;
        for path in paths {
            files.extend(options.files(path)?);
            given += 1;
        }
        if given == 0 {
            return Err(Error::invalid("no path to open was given"));
        }
        let shards = Shards::open(options, &files)?;
        let view = View::All { first: 0, len: shards.len() };
        Ok(Dataset {
            shards: Arc::new(shards),
            view: Arc::new(view),
            epochs: 0..1,
            ranks: Ranks::ALONE,
            first_order: Arc::default(),
            features: None,
            inferred: Arc::default(),
        })
    }

    /// The number of records of one epoch, of all ranks together.
    pub fn len(&self) -> u64 {
        self.view.len()
    }

    /// True where there is no record.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The record at a position of the order of the first epoch, verified: constant time, whatever the verbs.
    ///
    /// # Errors
    /// `InvalidArgument` from [`len`](Dataset::len) on; else as [`Store::get`](crate::Store::get).
    pub fn get(&self, position: u64) -> Result<Record> {
        self.shards.get(self.record_number(position)?)
    }

    /// The global number of the record at a position of the order of the first epoch: its number when the records of
    /// all [`shards`](Dataset::shards) are counted through.
    ///
    /// # Errors
    /// `InvalidArgument` from [`len`](Dataset::len) on.
    pub fn record_number(&self, position: u64) -> Result<u64> {
        if position >= self.len() {
            let reason = format!("there is no position {position}, the data set has {}", self.len());
            return Err(Error::invalid(reason));
        }
        Ok(self.first_order.get_or_init(|| self.view.order(self.epochs.start)).at(position))
    }

    /// The same files in another view.
    fn viewed(mut self, view: impl FnOnce(Arc<View>) -> View) -> Dataset {
        self.view = Arc::new(view(self.view));
        self.first_order = Arc::default();
        self
    }

    fn with_epochs(mut self, epochs: Range<u64>) -> Dataset {
        self.epochs = epochs;
        self.first_order = Arc::default();
        self
    }

    /// The data files, in order.
    pub fn shards(&self) -> impl ExactSizeIterator<Item = &Path> {
        self.shards.paths()
    }

    /// What each record is read as: what [`with_features`](Dataset::with_features) said, else what up to 64 records
    /// spread evenly over all files hold. It is looked for once, and then stays.
    ///
    /// # Errors
    /// `Io` and errors about the index; what is wrong with the records looked at, where none of them is whole.
    pub fn features(&self) -> Result<Features> {
        self.features_shared().map(|features| (*features).clone())
    }

    pub(crate) fn features_shared(&self) -> Result<Arc<Features>> {
        if let Some(features) = &self.features {
            return Ok(features.clone());
        }
        let mut inferred = self.inferred.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(features) = &*inferred {
            return Ok(features.clone());
        }
        let len = self.shards.len();
        let looked_at = len.min(LOOKED_AT);
        let mut payloads = Vec::with_capacity(looked_at as usize);
        let mut damage = None;
        for i in 0..looked_at {
            let record = (u128::from(i) * u128::from(len) / u128::from(looked_at)) as u64;
            match self.shards.get(record) {
                Ok(record) => payloads.push(record),
                // What to do about a damaged record is said by the error policy, when it is read.
                Err(error) if error.is_corruption() => damage = damage.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        if let (true, Some(error)) = (payloads.is_empty(), damage) {
            return Err(error);
        }
        let features = Arc::new(Features::infer(&payloads));
        *inferred = Some(features.clone());
        Ok(features)
    }

    /// Says what each record is to be read as.
    pub fn with_features(mut self, features: Features) -> Dataset {
        self.features = Some(Arc::new(features));
        self
    }

    /// A hash that is the same for the same records and verbs (but for epochs and ranks), wherever the files lie and
    /// however they were indexed. Costs the hashing of 24 bytes for each file and 8 for each selected position.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Fingerprint::new();
        for store in self.shards.stores() {
            hash.add(&[store.len(), store.data_len(), u64::from(store.index_checksum())]);
        }
        self.view.fingerprint(&mut hash);
        hash.finish()
    }
}

impl fmt::Debug for Dataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dataset")
            .field("records", &self.len())
            .field("shards", &self.shards().len())
            .field("epochs", &self.epochs)
            .finish_non_exhaustive()
    }
}

impl DatasetWriter {
    /// Puts the files in place (flushed, fsynced, renamed, then indexed) and opens them.
    ///
    /// # Errors
    /// `Io`, for a full disk too; `AlreadyExists` where somebody else has made a file of the name meanwhile.
    pub fn finish(self) -> Result<Dataset> {
        // Where no index was wanted beside the data, none is left there by opening it.
        let options = OpenOptions::new().missing_index(MissingIndex::InMemory);
        Dataset::open_with(&options, self.finish_paths()?)
    }
}
