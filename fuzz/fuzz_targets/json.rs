#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| proofhouse_fuzz::feed("json", bytes));
