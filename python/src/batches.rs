//! The iteration over batches.

use std::process;
use std::sync::{Mutex, MutexGuard};
use std::task::Poll;
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyDict, PyList};
use tfrmap::{OnError, Remainder, State};

use crate::arrays;
use crate::batch;
use crate::dataset::{Dataset, choose};
use crate::error::{OrRaise, to_python};

/// How long a wait lasts before Python may look for Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(20);

/// An iterator of batches; each is decoded ahead, by threads that hold no GIL.
#[pyclass(frozen, module = "tfrmap")]
pub struct Batches {
    dataset: Py<Dataset>,
    options: Options,
    run: Mutex<Run>,
}

/// Where the iteration stands. The lock is only ever held with the GIL, so that a fork never finds it taken.
struct Run {
    /// The process whose threads work on it.
    pid: u32,
    /// `None` while a thread waits for a batch.
    batches: Option<tfrmap::Batches>,
}

/// The keyword arguments.
#[derive(Clone)]
pub struct Options {
    size: usize,
    remainder: Option<Remainder>,
    on_error: OnError,
    prefetch: Option<usize>,
    threads: Option<usize>,
}

impl Options {
    pub fn new(
        size: i64,
        remainder: Option<&str>,
        on_error: &str,
        error_limit: u64,
        prefetch: Option<usize>,
        threads: Option<usize>,
    ) -> PyResult<Options> {
        let size = usize::try_from(size)
            .map_err(|_| PyValueError::new_err(format!("a batch must have at least 1 row, not {size}")))?;
        let remainders = [("keep", Remainder::Keep), ("drop", Remainder::Drop), ("pad", Remainder::Pad)];
        let remainder = remainder.map(|name| choose("remainder", name, &remainders)).transpose()?;
        let limit = error_limit;
        let policies =
            [("stop", OnError::Stop), ("skip", OnError::Skip { limit }), ("mask", OnError::Mask { limit })];
        let on_error = choose("on_error", on_error, &policies)?;
        Ok(Options { size, remainder, on_error, prefetch, threads })
    }

    /// The library's batches of a data set.
    fn start(&self, dataset: tfrmap::Dataset) -> tfrmap::Batches {
        let mut batches = dataset.batches(self.size).on_error(self.on_error).aligned(64);
        if let Some(remainder) = self.remainder {
            batches = batches.remainder(remainder);
        }
        if let Some(prefetch) = self.prefetch {
            batches = batches.prefetch(prefetch);
        }
        if let Some(threads) = self.threads {
            batches = batches.threads(threads);
        }
        batches
    }
}

impl Batches {
    pub fn new(py: Python<'_>, dataset: Py<Dataset>, options: Options) -> PyResult<Batches> {
        let batches = options.start(dataset.get().here(py)?);
        let run = Mutex::new(Run { pid: process::id(), batches: Some(batches) });
        Ok(Batches { dataset, options, run })
    }

    /// The next batch, after the functions of `map`; `None` at the end.
    pub fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut batches = self.take(py)?;
        let mut patience = Duration::ZERO;
        let next = loop {
            if let Poll::Ready(next) = py.detach(|| batches.next_timeout(patience)) {
                break Ok(next);
            }
            // While the first batch is decoded there is time for the import.
            if let Err(interrupt) = arrays::load_numpy(py).and_then(|()| py.check_signals()) {
                break Err(interrupt);
            }
            patience = PATIENCE;
        };
        self.put(py, batches)?;
        let Some(batch) = next?.transpose().or_raise(py)? else { return Ok(None) };
        let mut value = batch::to_python(py, batch)?;
        for map in self.dataset.get().maps() {
            value = map.bind(py).call1((value,))?;
        }
        Ok(Some(value))
    }

    /// What a function makes of the library's batches, in this process.
    fn with<T>(&self, py: Python<'_>, look: impl FnOnce(&tfrmap::Batches) -> T) -> PyResult<T> {
        let batches = self.take(py)?;
        let seen = look(&batches);
        self.put(py, batches)?;
        Ok(seen)
    }

    /// Takes the batches out, waiting for the thread that has them.
    fn take(&self, py: Python<'_>) -> PyResult<tfrmap::Batches> {
        loop {
            let mut run = self.lock(py)?;
            if run.pid != process::id() {
                let Some(parents) = run.batches.take() else {
                    return Err(PyRuntimeError::new_err(
                        "this process was forked off while another thread waited for a batch; call batches again",
                    ));
                };
                let state = parents.state();
                // Its threads are the parent's: there is nobody to stop, and locks may be held for ever.
                std::mem::forget(parents);
                drop(run);
                self.restart(py, &state)?;
                continue;
            }
            if let Some(batches) = run.batches.take() {
                return Ok(batches);
            }
            drop(run);
            py.detach(|| std::thread::sleep(Duration::from_millis(1)));
            py.check_signals()?;
        }
    }

    fn put(&self, py: Python<'_>, batches: tfrmap::Batches) -> PyResult<()> {
        self.lock(py)?.batches = Some(batches);
        Ok(())
    }

    /// Goes on from a state with threads of this process.
    fn restart(&self, py: Python<'_>, state: &State) -> PyResult<()> {
        let batches = self.options.start(self.dataset.get().here(py)?);
        let batches = batches.resume(state).or_raise(py)?;
        *self.lock(py)? = Run { pid: process::id(), batches: Some(batches) };
        Ok(())
    }

    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Run>> {
        self.run.lock_py_attached(py).map_err(|_| PyRuntimeError::new_err("the iteration failed earlier"))
    }
}

#[pymethods]
impl Batches {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.next(py)
    }

    /// Where the loop stands: a small dict to save, for `load_state_dict`.
    fn state_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = self.with(py, |batches| batches.state().to_json())?;
        py.import("json")?.call_method1("loads", (text,))
    }

    /// Goes on from a state saved by `state_dict`, of a run over the same records with the same verbs.
    fn load_state_dict(&self, py: Python<'_>, state: &Bound<'_, PyAny>) -> PyResult<()> {
        let text: String = py.import("json")?.call_method1("dumps", (state,))?.extract()?;
        let state = State::from_json(&text).or_raise(py)?;
        // Not while another thread waits for a batch, and not before a fork is noticed.
        let old = self.take(py)?;
        let restarted = self.restart(py, &state);
        match restarted {
            Ok(()) => drop(old),
            Err(_) => self.put(py, old)?,
        }
        restarted
    }

    /// `state_dict` by Grain's name.
    fn get_state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.state_dict(py)
    }

    /// `load_state_dict` by Grain's name.
    fn set_state(&self, py: Python<'_>, state: &Bound<'_, PyAny>) -> PyResult<()> {
        self.load_state_dict(py, state)
    }

    /// The number of batches left of the epoch that is being read.
    #[getter]
    fn steps_left(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |batches| batches.steps_left())?.or_raise(py)
    }

    /// The number of batches of a whole epoch.
    #[getter]
    fn steps_per_epoch(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |batches| batches.steps_per_epoch())?.or_raise(py)
    }

    /// The bad records that `on_error` has left out or masked so far: exceptions that say where and why.
    #[getter]
    fn errors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let errors = self.with(py, |batches| {
            batches.bad_records().iter().map(|error| to_python(py, error).into_value(py)).collect::<Vec<_>>()
        })?;
        PyList::new(py, errors)
    }

    /// How the run went so far: whoever is waited for is the bottleneck. Times are in seconds.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = self.with(py, |batches| batches.stats())?;
        let dict = PyDict::new(py);
        dict.set_item("batches", stats.batches)?;
        dict.set_item("records", stats.records)?;
        dict.set_item("payload_bytes", stats.payload_bytes)?;
        dict.set_item("elapsed", stats.elapsed.as_secs_f64())?;
        dict.set_item("waited_for_data", stats.waited_for_data.as_secs_f64())?;
        dict.set_item("waited_for_consumer", stats.waited_for_consumer.as_secs_f64())?;
        dict.set_item("records_per_second", stats.records_per_second())?;
        dict.set_item("bytes_per_second", stats.bytes_per_second())?;
        dict.set_item("mapped", stats.mapped)?;
        Ok(dict)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let dataset = self.dataset.bind(py).repr()?;
        Ok(format!("<Batches of {} rows of {dataset}>", self.options.size))
    }
}
