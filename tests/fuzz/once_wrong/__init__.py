"""Programs that the fuzzer has written and made small, by what was wrong in them."""
