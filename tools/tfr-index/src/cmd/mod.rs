//! The commands, one a file: its arguments (`Args`) and its work (`run`).

pub mod completions;
