"""``python -m tests.fuzz``: mutate, lint, and say what failed; exit 1 if anything did."""

from __future__ import annotations

import argparse
from pathlib import Path

from .campaign import Limits, run_campaign


def main() -> int:
    """Run a campaign from the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--inputs", type=int, default=10**9, help="how many inputs at most")
    parser.add_argument("--seconds", type=float, default=600.0, help="how long at most")
    parser.add_argument("--keep", type=Path, default=Path("out/fuzz"), help="where failing inputs are kept")
    asked = parser.parse_args()
    limits = Limits(asked.first, asked.inputs, asked.seconds)
    result = run_campaign(asked.seed, limits, asked.keep)
    print(result.text())
    return int(bool(result.failures))


if __name__ == "__main__":
    raise SystemExit(main())
