//! A JPEG decoder.
