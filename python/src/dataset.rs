//! A data set: the library's, and how it was made, so that another process can make it again.

use std::path::PathBuf;
use std::process;
use std::sync::Mutex;

use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyDict, PyList, PyRange, PyRangeMethods, PySlice, PyTuple};
use tfrmap::{Access, MissingIndex, OpenOptions, Verify};

use crate::batches::{Batches, Options};
use crate::error::OrRaise;
use crate::paths::Paths;
use crate::record::Record;
use crate::records::Records;
use crate::spec;

/// TFRecord files as one sequence of records, any of them in constant time, in a chosen order.
///
/// `len(ds)`, `ds[i]`, `ds[10:20]`; the verbs give a new data set each and apply from left to right; `batches` ends the chain:
///
///     for batch in tfrmap.open("data/train-*").shuffled(7).epochs(90).batches(64): ...
#[pyclass(frozen, module = "tfrmap")]
pub struct Dataset {
    /// With the process that opened it: a forked child opens its own, as locks may have been held by threads it lacks.
    inner: Mutex<(u32, tfrmap::Dataset)>,
    recipe: Recipe,
    maps: Vec<Py<PyAny>>,
    /// The last `read`, which keeps its threads for the next one.
    last_read: Mutex<Option<Batches>>,
}

/// How a data set was made.
struct Recipe {
    paths: Py<PyTuple>,
    options: Py<PyDict>,
    verbs: Vec<(&'static str, Py<PyTuple>)>,
}

impl Recipe {
    fn clone_ref(&self, py: Python<'_>) -> Recipe {
        Recipe {
            paths: self.paths.clone_ref(py),
            options: self.options.clone_ref(py),
            verbs: self.verbs.iter().map(|(name, args)| (*name, args.clone_ref(py))).collect(),
        }
    }
}

/// Opens a file, the one set of shards in a folder, all files that a pattern matches, or a list of these.
///
/// Files without a sidecar index are scanned, and their index is saved. Do not modify or truncate a file in place while it is
/// open; replace it by rename.
#[pyfunction]
#[pyo3(signature = (paths, *, access = "auto", verify = "full", missing_index = "build", index_dir = None, whole_records = false, allow_missing_shards = false))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub fn open(
    py: Python<'_>,
    paths: Paths,
    access: &str,
    verify: &str,
    missing_index: &str,
    index_dir: Option<PathBuf>,
    whole_records: bool,
    allow_missing_shards: bool,
) -> PyResult<Dataset> {
    let mut options = OpenOptions::new()
        .access(choose(
            "access",
            access,
            &[("auto", Access::Auto), ("map", Access::Map), ("read", Access::Read)],
        )?)
        .verify(choose(
            "verify",
            verify,
            &[("full", Verify::Full), ("length", Verify::Length), ("off", Verify::Off)],
        )?)
        .missing_index(choose(
            "missing_index",
            missing_index,
            &[
                ("build", MissingIndex::Build),
                ("in_memory", MissingIndex::InMemory),
                ("fail", MissingIndex::Fail),
            ],
        )?)
        .whole_records(whole_records)
        .allow_missing_shards(allow_missing_shards);
    let given = PyDict::new(py);
    given.set_item("access", access)?;
    given.set_item("verify", verify)?;
    given.set_item("missing_index", missing_index)?;
    given.set_item("whole_records", whole_records)?;
    given.set_item("allow_missing_shards", allow_missing_shards)?;
    if let Some(folder) = index_dir {
        let absolute = std::path::absolute(&folder).unwrap_or_else(|_| folder.clone());
        given.set_item("index_dir", absolute.into_os_string())?;
        options = options.index_dir(folder);
    }
    let inner = py.detach(|| tfrmap::Dataset::open_with(&options, &paths.0)).or_raise(py)?;
    let recipe = Recipe { paths: paths.absolute(py)?.unbind(), options: given.unbind(), verbs: Vec::new() };
    Ok(Dataset {
        inner: Mutex::new((process::id(), inner)),
        recipe,
        maps: Vec::new(),
        last_read: Mutex::default(),
    })
}

/// The value of a name among those allowed.
pub fn choose<T: Copy>(argument: &str, name: &str, choices: &[(&str, T)]) -> PyResult<T> {
    choices.iter().find(|(choice, _)| *choice == name).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<String> = choices.iter().map(|(choice, _)| format!("{choice:?}")).collect();
        PyValueError::new_err(format!("{argument} must be one of {}, not {name:?}", names.join(", ")))
    })
}

#[pymethods]
impl Dataset {
    /// The number of records of one epoch, of all ranks together.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.here(py)?.len() as usize)
    }

    /// `ds[i]`: the record at a position of the order of the first epoch; `ds[a:b:c]` and `ds[[i, j]]`: a data set of some.
    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let inner = self.here(py)?;
        if let Ok(slice) = key.cast::<PySlice>() {
            let span = slice.indices(inner.len() as isize)?;
            let part = if span.step == 1 {
                self.skip(py, span.start as u64)?.take(py, span.slicelength as u64)?
            } else {
                self.select(
                    py,
                    (0..span.slicelength as i64).map(|k| span.start as i64 + k * span.step as i64).collect(),
                )?
            };
            return Ok(Bound::new(py, part)?.into_any());
        }
        if let Ok(position) = key.extract::<i64>() {
            let position = from_end(position, inner.len())?;
            let record = py.detach(|| inner.get(position)).or_raise(py)?;
            return Ok(Record::create(py, record)?.into_any());
        }
        let positions: Vec<i64> = key
            .extract()
            .map_err(|_| PyTypeError::new_err("expected a position, a slice, or a list of positions"))?;
        Ok(Bound::new(py, self.select(py, positions)?)?.into_any())
    }

    /// The records, in the order of the first epoch.
    fn __iter__(slf: Bound<'_, Self>) -> Records {
        Records::new(slf.unbind())
    }

    /// A true shuffle: a permutation of all records, another one in each epoch, the same for a seed on every machine.
    fn shuffled(&self, py: Python<'_>, seed: u64) -> PyResult<Dataset> {
        let inner = self.here(py)?.shuffled(seed);
        self.then(py, inner, "shuffled", (seed,))
    }

    /// The one epoch to read; 0 is the default.
    fn epoch(&self, py: Python<'_>, epoch: u64) -> PyResult<Dataset> {
        let inner = self.here(py)?.epoch(epoch);
        self.then(py, inner, "epoch", (epoch,))
    }

    /// The epochs to read one after the other: a number of them, a range, or without an end where nothing is given.
    #[pyo3(signature = (epochs = None))]
    fn epochs(&self, py: Python<'_>, epochs: Option<&Bound<'_, PyAny>>) -> PyResult<Dataset> {
        let (start, stop) = match epochs {
            None => (0, u64::MAX),
            Some(epochs) => match epochs.cast::<PyRange>() {
                Ok(range) if range.step()? != 1 => {
                    return Err(PyValueError::new_err("a range of epochs must have the step 1"));
                }
                Ok(_) => (epochs.getattr("start")?.extract()?, epochs.getattr("stop")?.extract()?),
                Err(_) => (0, epochs.extract::<u64>()?),
            },
        };
        let inner = self.here(py)?.epochs(start..stop.max(start));
        self.then(py, inner, "epochs", (epochs,))
    }

    /// The first `n` records, or all where there are fewer.
    fn take(&self, py: Python<'_>, n: u64) -> PyResult<Dataset> {
        let inner = self.here(py)?.take(n);
        self.then(py, inner, "take", (n,))
    }

    /// All but the first `n` records.
    fn skip(&self, py: Python<'_>, n: u64) -> PyResult<Dataset> {
        let inner = self.here(py)?.skip(n);
        self.then(py, inner, "skip", (n,))
    }

    /// The records at these positions, in this order; negative ones count from the end.
    fn select(&self, py: Python<'_>, positions: Vec<i64>) -> PyResult<Dataset> {
        let inner = self.here(py)?;
        let len = inner.len();
        let chosen: Vec<u64> =
            positions.iter().map(|&position| from_end(position, len)).collect::<PyResult<_>>()?;
        let inner = py.detach(|| inner.select(chosen)).or_raise(py)?;
        self.then(py, inner, "select", (positions,))
    }

    /// These records, then those of another data set.
    fn concat(&self, py: Python<'_>, other: &Bound<'_, Dataset>) -> PyResult<Dataset> {
        let inner = self.here(py)?.concat(other.get().here(py)?);
        self.then(py, inner, "concat", (other,))
    }

    /// The share of one of `world_size` processes that read the same data set together.
    fn for_rank(&self, py: Python<'_>, rank: u64, world_size: u64) -> PyResult<Dataset> {
        let inner = self.here(py)?.for_rank(rank, world_size).or_raise(py)?;
        self.then(py, inner, "for_rank", (rank, world_size))
    }

    /// `for_rank` with what torchrun, SLURM or MPI say in the environment; no launcher means one process.
    fn for_rank_from_env(&self, py: Python<'_>) -> PyResult<Dataset> {
        let inner = self.here(py)?.for_rank_from_env().or_raise(py)?;
        self.then(py, inner, "for_rank_from_env", ())
    }

    /// `features()`: what each record is read as, as a dict (what inference found, where nothing was said).
    /// `features({...})`: a data set read as said: the words of the JSON spec, or TensorFlow's `FixedLenFeature` and the like.
    #[pyo3(signature = (spec = None))]
    fn features<'py>(
        &self,
        py: Python<'py>,
        spec: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let inner = self.here(py)?;
        let Some(spec) = spec else {
            let features = py.detach(|| inner.features()).or_raise(py)?;
            return spec::to_python(py, &features);
        };
        let inner = inner.with_features(spec::from_python(py, spec)?);
        Ok(Bound::new(py, self.then(py, inner, "features", (spec::plain(py, spec)?,))?)?.into_any())
    }

    /// Calls `fn(batch)` on every batch, in the thread that iterates; what it returns is what the loop gets.
    fn map(&self, py: Python<'_>, r#fn: &Bound<'_, PyAny>) -> PyResult<Dataset> {
        if !r#fn.is_callable() {
            return Err(PyTypeError::new_err("map takes a function of a batch"));
        }
        let inner = self.here(py)?;
        let mut mapped = self.then(py, inner, "map", (r#fn,))?;
        mapped.maps.push(r#fn.clone().unbind());
        Ok(mapped)
    }

    /// The batches, decoded ahead by threads that hold no GIL: an iterator of `Batch`.
    #[pyo3(signature = (size, *, remainder = None, on_error = "stop", error_limit = 100, prefetch = None, threads = None))]
    fn batches(
        slf: &Bound<'_, Self>,
        size: i64,
        remainder: Option<&str>,
        on_error: &str,
        error_limit: u64,
        prefetch: Option<usize>,
        threads: Option<usize>,
    ) -> PyResult<Batches> {
        let options = Options::new(size, remainder, on_error, error_limit, prefetch, threads)?;
        Batches::new(slf.py(), slf.clone().unbind(), options)
    }

    /// One batch of the records at these positions, in this order, decoded by all threads.
    fn read<'py>(&self, py: Python<'py>, positions: Vec<i64>) -> PyResult<Bound<'py, PyAny>> {
        let size = positions.len() as i64;
        let chosen = Bound::new(py, self.select(py, positions)?)?;
        let options = Options::new(size, Some("keep"), "stop", 0, None, None)?;
        let batches = Batches::new(py, chosen.unbind(), options)?;
        let batch = batches.next(py)?.ok_or_else(|| PyValueError::new_err("no positions were given"))?;
        *self.last_read.lock_py_attached(py).map_err(broken)? = Some(batches);
        Ok(batch)
    }

    /// The data files, in order.
    #[getter]
    fn shards<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.here(py)?.shards().map(|path| path.as_os_str()))
    }

    /// `(rank, world_size)`: `(0, 1)` unless `for_rank` said otherwise.
    #[getter]
    fn rank(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        Ok(self.here(py)?.rank())
    }

    /// The first epoch that is read.
    #[getter]
    fn first_epoch(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.here(py)?.epoch_range().start)
    }

    /// A short text that is the same for the same records and verbs (but for epochs and ranks), wherever the files lie.
    #[getter]
    fn fingerprint(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("{:016x}", self.here(py)?.fingerprint()))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let verbs = PyList::new(py, self.recipe.verbs.iter().map(|(name, args)| (*name, args.bind(py))))?;
        let made_again = py.import("tfrmap._recipe")?.getattr("rebuild")?;
        (made_again, (self.recipe.paths.bind(py), self.recipe.options.bind(py), verbs)).into_pyobject(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let inner = self.here(py)?;
        let mut text = format!("<Dataset of {} records in {} files", inner.len(), inner.shards().len());
        for (name, args) in &self.recipe.verbs {
            let args: Vec<String> =
                args.bind(py).iter().map(|arg| Ok(short(arg.repr()?.to_str()?))).collect::<PyResult<_>>()?;
            text.push_str(&format!(", {name}({})", args.join(", ")));
        }
        text.push('>');
        Ok(text)
    }
}

impl Dataset {
    /// The library's data set, opened by this process.
    pub fn here(&self, py: Python<'_>) -> PyResult<tfrmap::Dataset> {
        let pid = process::id();
        {
            let inner = self.inner.lock_py_attached(py).map_err(broken)?;
            if inner.0 == pid {
                return Ok(inner.1.clone());
            }
        }
        let verbs = PyList::new(py, self.recipe.verbs.iter().map(|(name, args)| (*name, args.bind(py))))?;
        let again = py
            .import("tfrmap._recipe")?
            .getattr("rebuild")?
            .call1((self.recipe.paths.bind(py), self.recipe.options.bind(py), verbs))?
            .cast_into::<Dataset>()?
            .get()
            .here(py)?;
        let mut inner = self.inner.lock_py_attached(py).map_err(broken)?;
        // The parent's is leaked: dropping it could wait for threads that this process does not have.
        std::mem::forget(std::mem::replace(&mut *inner, (pid, again.clone())));
        Ok(again)
    }

    /// The functions of `map`, in order.
    pub fn maps(&self) -> &[Py<PyAny>] {
        &self.maps
    }

    /// The data set after one more verb.
    fn then<'py>(
        &self,
        py: Python<'py>,
        inner: tfrmap::Dataset,
        verb: &'static str,
        args: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error: Into<PyErr>>,
    ) -> PyResult<Dataset> {
        let mut recipe = self.recipe.clone_ref(py);
        recipe.verbs.push((verb, args.into_pyobject(py).map_err(Into::into)?.unbind()));
        let maps = self.maps.iter().map(|map| map.clone_ref(py)).collect();
        Ok(Dataset { inner: Mutex::new((process::id(), inner)), recipe, maps, last_read: Mutex::default() })
    }
}

fn broken<T>(_: T) -> PyErr {
    PyRuntimeError::new_err("the data set failed earlier")
}

/// A position from 0, of one that counts from the end where it is negative.
fn from_end(position: i64, len: u64) -> PyResult<u64> {
    let from_start = i128::from(position) + if position < 0 { i128::from(len) } else { 0 };
    u64::try_from(from_start).ok().filter(|&position| position < len).ok_or_else(|| {
        PyIndexError::new_err(format!("there is no position {position}, the data set has {len}"))
    })
}

/// A text that fits a line.
fn short(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_string(),
    }
}
