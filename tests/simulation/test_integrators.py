"""Integrators are registered by one file; order, dense output and events of explicit methods."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import DOP853, RK45

from mbplugin.errors import UnknownName
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.model.spatial import Array
from mbplugin.simulation.integrators import (
    explicit as dop853_coefficients,
    find_integrator,
    integrator_choices,
    integrator_names,
    methods,
)
from mbplugin.simulation.integrators.explicit_loop import Tableau
from mbplugin.simulation.options import UserEvent
from mbplugin.simulation.run import simulate
from mbplugin.simulation.trajectory.trajectory import Trajectory
from places import ROOT
from rod_arms import arm

#: The method of the guide for contributors: the file, as it stands there.
RECIPE = re.compile(r"```python\n# mbplugin/simulation/integrators/methods/(\w+)\.py\n(.*?)```", re.DOTALL)


@pytest.fixture
def bogacki_shampine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Register the method of the guide by its one file; return its name."""
    found = RECIPE.search((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert found
    (tmp_path / f"{found[1]}.py").write_text(found[2], encoding="utf-8")
    monkeypatch.setattr(methods, "__path__", [*methods.__path__, str(tmp_path)])
    return found[1]


def swing(integrator: str, duration: float = 0.96, **options: object) -> Trajectory:
    """Return the motion of a double pendulum of rods from rest."""
    start: dict[str, object] = {"q0": {"j0": -1.0, "j1": -0.6}, "limits": "ignore"}
    return simulate(arm((1.0, 0.7)), duration, integrator=integrator, **(start | options))  # type: ignore[arg-type]


def observed_order(integrator: str, steps: tuple[float, ...], readable: bool) -> float:
    """Return the order at which the error of a swinging rod falls with the step; tolerances bound nothing."""

    def end(name: str, **options: object) -> Array:
        start: dict[str, object] = {"q0": {"j0": -0.8}, "qd0": {"j0": 3.0}, "limits": "ignore"}
        motion = simulate(arm((1.0,)), 0.96, integrator=name, **(start | options))  # type: ignore[arg-type]
        assert "step" not in options or np.diff(motion.time).max() == pytest.approx(options["step"])
        return np.concatenate((motion.q[-1], motion.qd[-1]))

    exact = end("dop853", rtol=1e-13, atol=1e-14)
    ends = (end(integrator, step=step, rtol=1e9, atol=1e9, readable=readable) for step in steps)
    errors = [np.linalg.norm(found - exact) for found in ends]
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])


@pytest.mark.parametrize("readable", [False, True], ids=["compiled", "Python"])
def test_a_method_of_one_file_has_its_order(bogacki_shampine: str, readable: bool) -> None:
    assert bogacki_shampine in integrator_names() and bogacki_shampine in integrator_choices()
    assert abs(observed_order(bogacki_shampine, (0.016, 0.008, 0.004), readable) - 3.0) < 0.1


@pytest.mark.parametrize("readable", [False, True], ids=["compiled", "Python"])
@pytest.mark.parametrize(
    ("integrator", "order", "steps"),
    [
        ("rk4", 4, (0.016, 0.008, 0.004)),
        ("dopri5", 5, (0.008, 0.006, 0.005)),
        ("rodas5p", 5, (0.01, 0.008, 0.006)),
    ],
)
def test_methods_have_their_order(
    integrator: str, order: int, steps: tuple[float, ...], readable: bool
) -> None:
    assert abs(observed_order(integrator, steps, readable) - order) < 0.1


@pytest.mark.parametrize("integrator", ["bogacki_shampine", "dopri5", "dop853", "rodas5p"])
def test_the_tolerance_bounds_the_error_and_both_ways_are_one_motion(
    integrator: str, bogacki_shampine: str
) -> None:
    exact = swing("dop853", rtol=1e-13, atol=1e-14)
    errors = []
    # the rounding of differences moves the step of rodas5p
    close = 1e-4 if integrator == "rodas5p" else 1e-7
    for rtol in (1e-5, 1e-7):
        compiled, python = (swing(integrator, rtol=rtol, atol=rtol, readable=r) for r in (False, True))
        assert compiled.time == pytest.approx(python.time, abs=close)
        assert np.abs(compiled.q - python.q).max() < close
        assert compiled.q[-1] == pytest.approx(python.q[-1], abs=1e-10)
        errors.append(np.abs(compiled.q[-1] - exact.q[-1]).max())
    assert errors[0] < 1e-3 and errors[1] < errors[0] / 10
    assert compiled.statistics["evaluations"] == pytest.approx(python.statistics["evaluations"], rel=0.3)


@pytest.mark.long_after(3)
@pytest.mark.parametrize("readable", [False, True], ids=["compiled", "Python"])
@pytest.mark.parametrize("integrator", ["bogacki_shampine", "dopri5", "rk4", "rodas5p"])
def test_events_inside_steps_are_found_by_the_dense_output(
    integrator: str, readable: bool, bogacki_shampine: str
) -> None:
    """The instant at which the second rod passes an angle, against the event of a motion at 1e-12."""
    event = UserEvent(lambda t, q, qd: float(q[1] + 0.1), "angle")
    options = {"step": 0.01, "rtol": 1e-8, "atol": 1e-8, "events": (event,), "readable": readable}
    exact = swing("dop853", rtol=1e-12, atol=1e-13, step=0.002, events=(event,))
    motion = swing(integrator, 0.6, **options)
    found = [e.time for e in motion.events if e.joint == "angle"]
    wanted = [e.time for e in exact.events if e.joint == "angle" and e.time < 0.6]
    assert len(wanted) >= 1 and found == pytest.approx(wanted, abs=3e-7)
    assert min(np.abs(motion.time - wanted[0])) > 1e-6


def test_samples_of_a_method_of_one_file_lie_on_the_motion(bogacki_shampine: str) -> None:
    motion = swing(bogacki_shampine, rtol=1e-9, atol=1e-9, samples=12)
    exact = swing("dop853", rtol=1e-13, atol=1e-14, samples=12)
    assert motion.time == pytest.approx(exact.time) and len(motion.time) == 13
    assert np.abs(motion.q - exact.q).max() < 1e-6


@pytest.mark.parametrize(("integrator", "method"), [("dop853", DOP853), ("dopri5", RK45)])
def test_dense_output_is_that_of_scipy(integrator: str, method: type[DOP853] | type[RK45]) -> None:
    solver = method(
        lambda t, y: np.array([y[1], -np.sin(y[0]) - 0.3 * y[1] ** 3]), 0.0, [1.0, 0.5], 9.0, rtol=1e-6
    )
    for _ in range(3):
        solver.step()
    output = solver.dense_output()
    k = solver.K_extended if method is DOP853 else solver.K
    dense = find_integrator(integrator).tableau.coefficients.dense  # type: ignore[attr-defined]
    h = solver.t - solver.t_old
    for fraction in (0.0, 0.1, 0.37, 0.5, 0.93, 1.0):
        ours = solver.y_old + h * (fraction ** np.arange(dense.shape[1])) @ dense.T @ k
        assert ours == pytest.approx(output(solver.t_old + fraction * h), abs=1e-12)


def test_coefficients_are_those_of_scipy() -> None:
    """Number by number: they were typed in, as the import of scipy's takes longer than a short motion."""
    names = ("A", "A_EXTRA", "B", "C", "C_EXTRA", "E3", "E5", "D")
    for name in names:
        theirs, ours = getattr(DOP853, name), getattr(dop853_coefficients, name)
        if theirs.ndim == 2:
            width = theirs.shape[1]
            ours = [[*row, *([0.0] * (width - len(row)))] for row in ours]
        assert np.array_equal(theirs, np.array(ours)), name
    A, b, c, errors, dense, _ = find_integrator("dopri5").tableau.coefficients  # type: ignore[attr-defined]
    assert np.array_equal(A[:6, :5], RK45.A) and np.array_equal(b, RK45.B) and np.array_equal(c[:6], RK45.C)
    assert np.array_equal(errors[0], RK45.E) and np.array_equal(dense[:, 1:], RK45.P)


MIDPOINT: dict[str, object] = {"A": [[], [0.5]], "b": [0, 1], "c": [0, 0.5]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"A": [[], [0.25, 0.25]]}, "not explicit"),
        ({"b": [0, 0.9]}, "do not add up"),
        ({"c": [0, 0.4]}, "do not add up"),
        ({"c": [0, 0.5, 1]}, "2 stages have 3 fractions"),
        ({"errors": [[1, -1, 0.1]], "error_order": 1}, "add up to 0"),
        ({"errors": [[1, -1, 0]]}, "need an order"),
        ({"dense": [[0, 1], [0, 0], [0, 0]]}, "does not end where the step does"),
        ({"dense": [[0, 0], [0, 1]]}, "for 2 of 3 stages"),
    ],
)
def test_coefficients_that_contradict_each_other_are_refused(change: dict[str, object], message: str) -> None:
    Tableau(**MIDPOINT)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=message):
        Tableau(**(MIDPOINT | change))  # type: ignore[arg-type]


def test_an_unknown_integrator_is_refused_with_the_names(bogacki_shampine: str) -> None:
    with pytest.raises(UnknownName, match="there is no integrator 'bogacki_shampin'") as caught:
        swing("bogacki_shampin")
    assert bogacki_shampine in str(caught.value)


def test_the_guide_to_the_motion_has_a_row_for_each_integrator() -> None:
    guide = (ROOT / "docs" / "motion.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)`[^|]*\| \d ", guide, re.MULTILINE) == list(integrator_names())


@pytest.mark.filterwarnings("error")
def test_a_step_that_overflows_is_rejected_in_absolute_coordinates_too():
    stiff = arm((1e-4, 1e-4), mass=1e-4, limits=Freedom(damping=10.0))
    motion = simulate(stiff, duration=0.002, qd0={"j0": 1e3}, coordinates="absolute", max_seconds=1.0)
    assert motion.outcome in ("step_too_small", "budget_spent", "completed")
    assert np.isfinite(motion.qd).all()
