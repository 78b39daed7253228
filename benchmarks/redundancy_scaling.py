"""How do time and memory of a full verdict grow with the number of coupled loops?

    python benchmarks/redundancy_scaling.py [N…] [--peers-up-to 200]

N coupled planar four-bars with p = 3N. Ours is the whole analysis of a Mechanism at a pose: constraint
rows, rank, and the verdict of every joint and component. With remedies every self-stress is put in words and
changes are proved that take the redundancy away; with stiffness all reactions are computed. Assembly closes
all loops from a pose that is 0.1 rad off. DCA is the divide-and-conquer test of its own, with the poses that
it samples where the mechanism is small. Beside them, in the same run: the rank of the same dense constraint
matrix by pivoted QR and by SVD (no verdict per joint), and where installed Exudyn's degree-of-freedom count
and sparse QR (sparseqr, without Q). Each case runs in a process of its own with one thread and counts
processor seconds; the peak memory is that process's.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

CASES = ("ours", "remedies", "stiffness", "assembly", "DCA", "dense QR", "dense SVD", "Exudyn", "sparse QR")
LARGE = {"dense QR", "dense SVD", "Exudyn"}


def main() -> None:
    parser = argparse.ArgumentParser(description="Scaling of the redundancy verdict over coupled loops.")
    parser.add_argument("sizes", nargs="*", type=int, default=[10, 50, 100, 200, 500, 1000, 2000])
    parser.add_argument("--peers-up-to", type=int, default=200, help="largest N for dense peers")
    arguments = parser.parse_args()
    print(f"{'N':>6}" + "".join(f"{case + ' s':>14}{'MiB':>7}" for case in CASES))
    for n in arguments.sizes:
        cells = []
        for case in CASES:
            skipped = case in LARGE and n > arguments.peers_up_to
            cells.append("             –      –" if skipped else cell(run(case, n)))
        print(f"{n:>6}" + "".join(cells))


def cell(found: dict[str, float] | None) -> str:
    return "             –      –" if found is None else f"{found['seconds']:>14.3f}{found['MiB']:>7.0f}"


def run(case: str, n: int) -> dict[str, float] | None:
    """Measure one case in a process of its own; None where its package is missing."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("_redundancy_case.py")), case, str(n)],
        env={**os.environ, **threads},
        capture_output=True,
        text=True,
        check=False,
    )
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


if __name__ == "__main__":
    main()
