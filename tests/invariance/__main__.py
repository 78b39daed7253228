"""``PYTHONPATH=.:tests python -m invariance [STEP [FIRST]]``: run every STEP-th case, say what differs."""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from .cases import cases
from .sources import sources


def main() -> None:
    """Run the cases and print a line for each that is not the same, and the counts."""
    step = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    start = time.monotonic()
    counts: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate(cases(sources(Path(folder)))[first::step]):
            if number % 100 == 0:
                print(f"{number} cases in {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
            outcome, text = case.run()
            counts[case.transformation, outcome] += 1
            if outcome in ("weak", "different"):
                print(f"{outcome}: {case.name}: {text}", flush=True)
    for (transformation, outcome), count in sorted(counts.items()):
        print(f"{count:5d} {outcome:10s} {transformation}")
    print(f"{counts.total()} cases in {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
