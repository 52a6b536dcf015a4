//! Progress bars: on standard error, and only where it is a terminal.

use std::io::{self, IsTerminal};
use std::sync::Mutex;

use indicatif::{ProgressBar, ProgressStyle};

/// The bar on the screen, so that messages can step around it.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// One bar, counting bytes, records or files; silent where standard error is no terminal. It goes away when dropped.
pub struct Progress(Option<ProgressBar>);

/// What a bar counts.
#[derive(Clone, Copy)]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Records.
    Records,
    /// Pictures.
    Images,
}

impl Progress {
    /// A bar with a heading, up to `total`.
    pub fn new(heading: &str, unit: Unit, total: u64) -> Progress {
        if !io::stderr().is_terminal() {
            return Progress(None);
        }
        let counts = match unit {
            Unit::Bytes => "{bytes}/{total_bytes}  {binary_bytes_per_sec}  ETA {eta}  {wide_msg}",
            Unit::Records => "{human_pos}/{human_len} records  {per_sec}  ETA {eta}  {wide_msg}",
            Unit::Images => "{human_pos}/{human_len} images  {per_sec}  ETA {eta}  {wide_msg}",
        };
        let style = ProgressStyle::with_template(&format!("{{prefix}} [{{bar:30}}] {counts}"))
            .expect("the template is well formed")
            .progress_chars("=> ");
        let bar = ProgressBar::new(total).with_style(style).with_prefix(heading.to_owned());
        *shown() = Some(bar.clone());
        Progress(Some(bar))
    }

    /// Counts on.
    pub fn add(&self, count: u64) {
        if let Some(bar) = &self.0 {
            bar.inc(count);
        }
    }

    /// Shows a word at the bar's end.
    pub fn message(&self, text: impl FnOnce() -> String) {
        if let Some(bar) = &self.0 {
            bar.set_message(text());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.0.take() {
            bar.finish_and_clear();
            *shown() = None;
        }
    }
}

/// Runs `write` with the bar out of the way.
pub fn aside(write: impl FnOnce()) {
    let bar = shown().clone();
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

fn shown() -> std::sync::MutexGuard<'static, Option<ProgressBar>> {
    SHOWN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
