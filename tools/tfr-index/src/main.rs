//! `tfr-index`: index, check, show, repair and export TFRecord files.

fn main() {}
