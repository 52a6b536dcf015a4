"""Fear: importing the package is slow, because it brings in what is not needed yet."""

import subprocess
import sys

HEAVY = ("numpy", "torch", "jax", "grain", "ray", "tensorflow", "matplotlib", "json")


def test_importing_brings_in_nothing_heavy():
    code = f"import sys, tfrmap; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_everything_named_is_there():
    code = "import tfrmap; print([name for name in tfrmap.__all__ if not hasattr(tfrmap, name)], tfrmap.__version__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("[] 0.")
