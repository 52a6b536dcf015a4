#!/usr/bin/env bash
# Fuzzes one target, or all of them by risk, with AddressSanitizer and with checks of overflow:
#   fuzz/run.sh TARGET SECONDS [OPTION OF LIBFUZZER...]
#   fuzz/run.sh all SECONDS        (each target so long)
# Needs a nightly toolchain and `cargo install cargo-fuzz`. New inputs that reach new code are kept in fuzz/grown/TARGET,
# findings in fuzz/artifacts/TARGET; logs are in fuzz/grown/TARGET.log. Exits with 1 where something was found.
set -euo pipefail
cd "$(dirname "$0")"

[ $# -ge 2 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 2; }
seconds=$2
all="jpeg images sidecar_data frames compressed example batches sequence_example index text_index features_json state_json paths"
targets=$1
shift 2
[ "$targets" != all ] || targets=$all

# Inputs are files for most targets: keep them in memory.
[ ! -d /dev/shm ] || export TMPDIR=/dev/shm
mkdir -p grown
TFRMAP_FUZZ_SEEDS="$PWD/grown" cargo test --quiet --manifest-path ../Cargo.toml --test fuzz_replay >/dev/null
failed=0
for target in $targets; do
    [ ! -d "corpus/$target" ] || cp "corpus/$target"/* "grown/$target/"
    cargo +nightly fuzz build "$target"
    status=0
    # A look for leaks costs a hundred inputs, and threads that go on make it happen after each; they have tests of their own.
    cargo +nightly fuzz run "$target" "grown/$target" -- \
        -max_total_time="$seconds" -timeout=60 -rss_limit_mb=3000 -max_len=8192 -print_final_stats=1 \
        -detect_leaks=0 "$@" \
        >"grown/$target.log" 2>&1 || status=$?
    echo "$target: $(grep -E 'DONE|Done|SUMMARY|panicked' "grown/$target.log" | tail -1)"
    [ $status -eq 0 ] || failed=1
done
exit $failed
