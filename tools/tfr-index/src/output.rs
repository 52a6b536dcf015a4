//! Standard output as text or JSON Lines, and the messages on standard error.
//!
//! A reader that goes away (`| head`) is no failure: what follows is dropped in silence, and commands that only read
//! ask [`Output::is_closed`] and stop. Any other failure to write (a full disk) ends the command.

use std::fmt::{self, Display};
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

use serde_json::Value;

use crate::failure::{Failure, Result};
use crate::progress;

/// Standard output of one command.
pub struct Output {
    out: BufWriter<Stdout>,
    json: bool,
    colour: bool,
    closed: bool,
}

/// The colours used, by meaning.
#[derive(Clone, Copy)]
pub enum Tone {
    /// All is well.
    Good,
    /// Look here.
    Odd,
    /// Something is wrong.
    Bad,
    /// Less important.
    Dim,
    /// A heading.
    Bold,
}

impl Tone {
    fn code(self) -> &'static str {
        match self {
            Tone::Good => "32",
            Tone::Odd => "33",
            Tone::Bad => "31",
            Tone::Dim => "2",
            Tone::Bold => "1",
        }
    }
}

impl Output {
    /// Standard output: JSON Lines, or text with colours where it is a terminal.
    pub fn new(json: bool) -> Output {
        let stdout = io::stdout();
        let colour = !json && stdout.is_terminal() && colours_wanted();
        Output { out: BufWriter::with_capacity(1 << 16, stdout), json, colour, closed: false }
    }

    /// True where JSON Lines were asked for.
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// True once nobody reads any more.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// A text in a colour, where colours are on.
    pub fn paint<T: Display>(&self, tone: Tone, text: T) -> String {
        if self.colour { format!("\x1b[{}m{text}\x1b[0m", tone.code()) } else { text.to_string() }
    }

    /// Prints one JSON line.
    pub fn json(&mut self, value: &Value) -> Result<()> {
        self.bytes(format!("{value}\n").as_bytes())
    }

    /// Prints one line of text.
    pub fn text(&mut self, line: impl Display) -> Result<()> {
        self.bytes(format!("{line}\n").as_bytes())
    }

    /// Prints bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        if self.closed {
            return Ok(());
        }
        let result = self.out.write_all(bytes);
        self.check(result)
    }

    /// Hands everything to the reader; the last call of each command.
    pub fn flush(&mut self) -> Result<()> {
        if self.closed {
            return Ok(());
        }
        let result = self.out.flush();
        self.check(result)
    }

    fn check(&mut self, result: io::Result<()>) -> Result<()> {
        match result {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            Err(error) => {
                self.closed = true;
                Err(Failure::usage(format!("cannot write to standard output: {error}")))
            }
        }
    }
}

/// Prints `error: ..` on standard error.
pub fn report(message: impl Display) {
    say("error", Tone::Bad, message);
}

/// Prints `warning: ..` on standard error.
pub fn warn(message: impl Display) {
    say("warning", Tone::Odd, message);
}

/// Prints `note: ..` on standard error.
pub fn note(message: impl Display) {
    say("note", Tone::Dim, message);
}

fn say(head: &str, tone: Tone, message: impl Display) {
    progress::aside(|| {
        let mut err = io::stderr();
        let head = if err.is_terminal() && colours_wanted() {
            format!("\x1b[{}m{head}\x1b[0m", tone.code())
        } else {
            head.to_owned()
        };
        // Nothing can be said about a standard error that cannot be written to.
        let _ = writeln!(err, "{head}: {message}");
    });
}

fn colours_wanted() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value: std::ffi::OsString| !value.is_empty());
    !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// The library's notices, as warnings on standard error.
struct Notices;

impl log::Log for Notices {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Warn && metadata.target().starts_with("tfrmap")
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            warn(record.args());
        }
    }

    fn flush(&self) {}
}

/// Sends the library's notices to standard error.
pub fn show_notices() {
    static NOTICES: Notices = Notices;
    if log::set_logger(&NOTICES).is_ok() {
        log::set_max_level(log::LevelFilter::Warn);
    }
}

/// Columns of text, each as wide as its widest cell; numbers to the right.
pub struct Table {
    rows: Vec<Vec<String>>,
    right: Vec<bool>,
}

impl Table {
    /// A table whose columns are aligned to the right where `right` says so.
    pub fn new(right: &[bool]) -> Table {
        Table { rows: Vec::new(), right: right.to_vec() }
    }

    /// True where no row was added.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }
}

impl Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize| {
            self.rows
                .iter()
                .map(|row| row.get(column).map_or(0, |cell| cell.chars().count()))
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.right.len()).map(width).collect();
        for (i, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let pad = " ".repeat(widths[column].saturating_sub(cell.chars().count()));
                if column > 0 {
                    line.push_str("  ");
                }
                if self.right[column] {
                    line.push_str(&pad);
                }
                line.push_str(cell);
                if !self.right[column] {
                    line.push_str(&pad);
                }
            }
            if i > 0 {
                f.write_str("\n")?;
            }
            f.write_str(line.trim_end())?;
        }
        Ok(())
    }
}
