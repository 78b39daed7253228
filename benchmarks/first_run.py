"""How long does the first motion take on a machine, and the next one?

    python benchmarks/first_run.py

The first run compiles the integrator into an empty cache; the second one finds it there. Both are whole
processes, start-up included.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _models import table

SCENE = Path(__file__).resolve().parent.parent / "assets" / "four_bar.scene.toml"


def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        for name in ("first run, empty cache", "second run"):
            start = time.perf_counter()
            command = [sys.executable, "-m", "mbplugin", "simulate", str(SCENE), "--duration", "0.1"]
            subprocess.run(
                command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "XDG_CACHE_HOME": cache}
            )
            rows.append([name, f"{time.perf_counter() - start:.1f}"])
    table("mbplugin simulate of a four-bar, whole process", ["run", "s"], rows)


if __name__ == "__main__":
    main()
