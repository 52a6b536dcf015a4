#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tfrmap_fuzz::text_index::run(data));
