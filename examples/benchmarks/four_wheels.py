"""Which reactions of a robot with redundant wheels are unique: the verdicts of Wojtyra and Frączek (2013)."""

from harness import HERE, Problem, show, timed

import mbplugin as mb

PROBLEM = Problem(
    title="Four-wheel robot with redundant nonholonomic constraints, uniqueness",
    parameters="structure of Wojtyra and Frączek (2013), section 4; lengths ours",
    reference="published verdicts: 2 redundant constraints, ranks 17, 4 and 20, B, C and W1 to W4 not unique",
    quantity="verdicts that differ, of 18",
    tolerance="—",
    allowed=0,
)
UNIQUE = dict.fromkeys(("B", "C", "W1", "W2", "W3", "W4"), False)
UNIQUE |= dict.fromkeys(("A", "D", "E", "F", "G", "H", "drive", "W5"), True)


def solve() -> tuple[float, float]:
    robot = mb.load(HERE.parents[1] / "assets" / "four_wheel_robot.scene.toml")
    found, seconds = timed(lambda: mb.analyze(robot, planar="xy"))
    verdicts = {pair.name: pair.unique for pair in found.constraints}
    counts = (found.degree_of_redundancy, found.rank_holonomic, found.rank_pfaffian, found.rank)
    wrong = sum(verdicts[name] is not unique for name, unique in UNIQUE.items())
    return float(
        wrong + sum(ours != theirs for ours, theirs in zip(counts, (2, 17, 4, 20), strict=True))
    ), seconds


if __name__ == "__main__":
    show(PROBLEM, solve)
