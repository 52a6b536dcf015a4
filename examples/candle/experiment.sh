#!/usr/bin/env bash
# Does the experiment of docs/shuffle.md again, from the pictures to the table and the chart.
# Needs a Python with scikit-learn and Pillow; PYTHON names another one than python3.
set -euo pipefail
cd "$(dirname "$0")/../.."
data=target/digits
"${PYTHON:-python3}" tools/digits.py "$data"
for part in train test; do
    cargo run --locked --release -p tfr-index -- pack "$data/$part" --out "$data/$part.tfrecord" --force
done
cargo run --locked --release --manifest-path examples/candle/Cargo.toml --bin experiment -- \
    "$data/train.tfrecord" "$data/test.tfrecord" docs
