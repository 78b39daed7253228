"""Which reactions of a platform on six rods are unique: the verdicts of Pękal and Wojtyra (2024)."""

from harness import HERE, Problem, show, timed

import mbplugin as mb

PROBLEM = Problem(
    title="Spatial parallelogram with a triple pendulum, uniqueness",
    parameters="Pękal and Wojtyra (2024), section 4",
    reference="published verdicts: 1 redundant constraint, rank 44 of 45 rows, A to H not unique, K to R unique",
    quantity="verdicts that differ, of 18",
    tolerance="—",
    allowed=0,
)
UNIQUE = dict.fromkeys("ABCDEFGH", False) | dict.fromkeys("KLMNPQR", True)


def solve() -> tuple[float, float]:
    platform = mb.load(HERE.parents[1] / "assets" / "spatial_parallelogram.scene.toml")
    found, seconds = timed(lambda: mb.analyze(platform))
    verdicts = {pair.name: pair.unique for pair in found.constraints}
    counts = (found.degree_of_redundancy, found.rank, found.rows)
    wrong = sum(verdicts[name] is not unique for name, unique in UNIQUE.items())
    return float(
        wrong + sum(ours != theirs for ours, theirs in zip(counts, (1, 44, 45), strict=True))
    ), seconds


if __name__ == "__main__":
    show(PROBLEM, solve)
