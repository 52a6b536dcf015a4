#!/usr/bin/env bash
# Fuzzes one target, or all of them by risk:
#   fuzz/run.sh TARGET SECONDS
#   fuzz/run.sh all SECONDS        (each target so long)
# Needs a nightly toolchain and `cargo install cargo-fuzz`. New inputs that reach new code are kept in fuzz/work/TARGET,
# findings in fuzz/artifacts/TARGET; logs are in fuzz/work/TARGET.log. Exits with 1 where something was found.
set -euo pipefail
cd "$(dirname "$0")"

[ $# -eq 2 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 2; }
seconds=$2
all="jpeg images sidecar_data frames compressed example batches sequence_example index text_index features_json state_json paths"
targets=$1
[ "$targets" != all ] || targets=$all

# Inputs are files for most targets: keep them in memory.
[ ! -d /dev/shm ] || export TMPDIR=/dev/shm
mkdir -p work
TFRMAP_FUZZ_SEEDS="$PWD/work" cargo test --quiet --manifest-path ../Cargo.toml --test fuzz_replay >/dev/null
failed=0
for target in $targets; do
    [ ! -d "corpus/$target" ] || cp "corpus/$target"/* "work/$target/"
    cargo +nightly fuzz build --release "$target"
    status=0
    cargo +nightly fuzz run --release "$target" "work/$target" -- \
        -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 -max_len=8192 -print_final_stats=1 \
        >"work/$target.log" 2>&1 || status=$?
    echo "$target: $(grep -E 'DONE|Done|SUMMARY|panicked' "work/$target.log" | tail -1)"
    [ $status -eq 0 ] || failed=1
done
exit $failed
