"""What every engine script shares: the job, the clock, and the one JSON line at the end.

An engine gets its job as a JSON object in its only argument and prints one JSON object with keys that carry their unit.
Exit 0 with {"missing": ...} says that something it needs is not installed.
"""
import json
import os
import sys
import time
import zlib
from array import array
from importlib.metadata import PackageNotFoundError, version

JOB = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}


def version_of(*packages):
    """Installed packages with their versions."""
    found = []
    for package in packages:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(package)
    return ", ".join(found)


def say(**fields):
    """Print the result and end; os._exit keeps a peer's shutdown out of the time and away from hangs."""
    print(json.dumps(fields), flush=True)
    sys.stdout.flush()
    os._exit(0)


def missing(what):
    say(missing=str(what))


def ids_checksum(ids):
    """CRC-32 over the sorted numbers, 8 bytes little-endian each."""
    return f"{zlib.crc32(array('Q', sorted(ids)).tobytes()):08x}"


def rss_mb():
    """Memory without a file behind it, MB."""
    for line in open("/proc/self/status"):
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024 / 1e6
    return 0.0


class Clock:
    """Takes the batches of a run: times, record numbers, and the values of the sampled records."""

    def __init__(self, unit="images"):
        self.unit = unit
        self.sample = set(JOB["sample"])
        self.values = {}
        self.ids = []
        self.first = None
        self.rss = []
        self.start = time.perf_counter()

    def batch(self, values, ids):
        """`values`: NumPy array of a batch; `ids`: its labels as a list of int."""
        now = time.perf_counter()
        if self.first is None:
            self.first = now
            self.first_records = len(ids)
            self.first_from_start = time.time() - JOB["spawned_unix_ns"] / 1e9
        before = len(self.ids)
        self.ids.extend(ids)
        if len(self.values) < len(self.sample) and values is not None:
            for row, number in enumerate(ids):
                if number in self.sample and number not in self.values:
                    self.values[number] = values[row].copy()
        if before // JOB["records"] != len(self.ids) // JOB["records"]:
            self.rss.append(round(rss_mb(), 1))
        self.last = time.perf_counter()

    @property
    def full(self):
        """True when the job asks for no more."""
        return len(self.ids) >= JOB.get("stop_after", 1 << 62)

    def done(self, **fields):
        """Writes what the harness checks, and prints the line."""
        write_values(self.values)
        if JOB.get("ids_out"):
            with open(JOB["ids_out"], "wb") as out:
                out.write(array("Q", self.ids[: JOB["records"]]).tobytes())
        whole = self.last - self.start
        steady = self.last - self.first
        rate = {f"{self.unit}_per_s": len(self.ids) / whole}
        if steady > 0:
            rate[f"steady_{self.unit}_per_s"] = (len(self.ids) - self.first_records) / steady
        if len(self.rss) > 2:
            rate["anonymous_mb_after_epoch"] = self.rss
            rate["growth_mb_per_epoch"] = (self.rss[-1] - self.rss[0]) / (len(self.rss) - 1)
        say(
            delivered=len(self.ids),
            checksum=ids_checksum(self.ids),
            first_batch_ms=1e3 * (self.first - self.start),
            first_batch_from_start_ms=1e3 * self.first_from_start,
            **rate,
            **fields,
        )


def write_values(values):
    """The sampled values, in the order of the job's sample, as little-endian floats."""
    if values and JOB.get("values_out"):
        with open(JOB["values_out"], "wb") as out:
            for number in JOB["sample"]:
                if number in values:
                    out.write(values[number].astype("<f4").tobytes())
