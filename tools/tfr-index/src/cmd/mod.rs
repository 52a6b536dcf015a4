//! The commands, one a file: its arguments (`Args`) and its work (`run`).

pub mod build;
pub mod completions;
pub mod info;
