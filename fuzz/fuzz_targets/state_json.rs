#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tfrmap_fuzz::state_json::run(data));
