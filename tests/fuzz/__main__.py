"""``python -m tests.fuzz``: make inputs, use them, and say what failed; exit 1 if anything did.

Models of the corpus are mutated; with --structured, models and command lines are made from a grammar.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from .campaign import Limits, run_campaign
from .structured.target import Structured
from .target import Mutated


def main() -> int:
    """Run a campaign from the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--structured", action="store_true", help="models and commands from a grammar")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, help="only this input, and keep it")
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--inputs", type=int, default=10**9, help="how many inputs at most")
    parser.add_argument("--seconds", type=float, default=600.0, help="how long at most")
    parser.add_argument("--keep", type=Path, default=Path("out/fuzz"), help="where failing inputs are kept")
    asked = parser.parse_args()
    limits = Limits(asked.first, asked.inputs, asked.seconds)
    if asked.number is not None:
        limits = Limits(asked.number, 1, asked.seconds)
    subject = Structured() if asked.structured else Mutated()
    result = run_campaign(asked.seed, limits, asked.keep.resolve(), subject, _say)
    print(result.text())
    return int(bool(result.failures))


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
