//! The commands, one a file: its arguments (`Args`) and its work (`run`).

pub mod batch;
pub mod build;
pub mod completions;
pub mod copy;
pub mod export;
pub mod get;
pub mod info;
pub mod pack;
pub mod preview;
pub mod schema;
pub mod verify;
