"""Labelled rows, the constraint matrix, its reduction to joint rates, and closing a pose.

Here are the rank tolerance with its default, and contradictions of stated values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from mbplugin.errors import BadUsage, ContradictedState
from mbplugin.phrases import listed

if TYPE_CHECKING:
    from mbplugin.model import Scene


#: Relative to the largest singular value of a block's scaled closure Jacobian.
DEFAULT_TOLERANCE = 1e-4
#: Largest number of poses sampled to distinguish structural redundancy from a singular pose.
DEFAULT_SAMPLES = 8
#: Tolerance for computed values to agree: rad or lengths of the mechanism; for rates, a fraction of the largest.
AGREED = 1e-8
#: A number with at least this many significant digits may be rounded; with fewer it is exact.
_DIGITS = 5
#: Largest number of names in a sentence.
_NAMED = 8
#: Remedy of values that contradict drivers.
FEWER_VALUES = "change what its drivers prescribe, or give fewer values"
#: Returns the values of all names if those of some are prescribed; None if these cannot hold together.
Follows = Callable[[Collection[str]], Mapping[str, float] | None]


def rank_tolerance(scene: Scene | None, requested: float | None) -> float:
    """Return the relative rank tolerance: the requested one, else the scene's, else the default.

    Raises
    ------
    BadUsage
        It is not between 0 and 1.
    """
    stated = scene.options.tolerance if scene is not None and requested is None else requested
    tolerance = DEFAULT_TOLERANCE if stated is None else stated
    require_tolerance(tolerance)
    return tolerance


def require_tolerance(tolerance: float) -> None:
    """Raise if a number is not a valid relative tolerance.

    Raises
    ------
    BadUsage
        It is not between 0 and 1.
    """
    if not 0 < tolerance < 1:
        raise BadUsage(f"the tolerance is {tolerance:g}", expected="a number between 0 and 1")


# Contradictions of stated values: a minimal contradicting set, and the values that would agree.


def rounding_of(value: float) -> float:
    """Return half a unit in the last written digit of a number, or zero for one with few digits, which is exact."""
    written = Decimal(repr(float(value))).normalize()
    exponent = written.as_tuple().exponent
    rounded = len(written.as_tuple().digits) >= _DIGITS and isinstance(exponent, int)
    return float(Decimal("0.5").scaleb(int(exponent))) if rounded else 0.0


def contradiction(
    what: str, stated: Mapping[str, float], caller: Collection[str], follows: Follows, closing: Sequence[str]
) -> ContradictedState:
    """Return the error that names a minimal set of contradicting values, and the values that would agree.

    Parameters
    ----------
    what : "coordinate" or "rate"
    stated : mapping of str to float
        The values, rad and m (per second).
    caller : collection of str
        Names of the values stated by the caller; the others come from the file.
    follows : callable
        Gives the values that follow from some of them.
    closing : sequence of str
        The constraints that couple them.
    """
    members = _smallest(sorted(stated, key=lambda name: (name not in caller, name)), follows)
    through = (
        f"{'constraint' if len(closing) == 1 else 'constraints'} {listed([repr(n) for n in closing], _NAMED)}"
    )
    least = AGREED * max(abs(stated[name]) for name in members)
    agreeing: dict[str, float] = {}
    for name in members:
        if (values := follows([other for other in members if other != name])) is not None:
            agreeing[name] = values[name] if abs(values[name]) > least else 0.0
    if len(members) == 1:
        (name,) = members
        state = "pose" if what == "coordinate" else "motion at this pose"
        text = f"no {state} that {through} allow{'s' if len(closing) == 1 else ''} has {name} = {stated[name]:.8g}"
        text += ": it is locked or at a dead centre" if what == "rate" and agreeing.get(name) == 0 else ""
        remedy = "state another value, or leave it out: the others are computed"
    else:
        values_text = listed([f"{name} = {stated[name]:.8g}" for name in members], _NAMED)
        text = f"the stated {what}s {values_text} contradict each other through {through}"
        remedy = "state fewer of them: the others are computed"
    either = " or ".join(f"{name} = {value:.10g}" for name, value in list(agreeing.items())[:_NAMED])
    expected = f"{either}, the others as stated" if len(members) > 1 and either else either
    error = ContradictedState(text, expected=expected, remedy=remedy)
    error.of_file = not any(name in caller for name in stated)
    return error


def unsatisfied(what: str, constraint: str, remedy: str) -> BadUsage:
    """Return the error for a constraint that no rates or accelerations satisfy together with the others."""
    return BadUsage(f"no {what} satisfy constraint {constraint!r} together with the others", remedy=remedy)


def _smallest(names: Sequence[str], follows: Follows) -> list[str]:
    """Return a minimal set of names whose values contradict each other: without any one of them the rest agree."""
    held: list[str] = []
    for name in names:
        if follows([*held, name]) is None:
            for other in list(held):
                without = [n for n in held if n != other]
                if follows([*without, name]) is None:
                    held = without
            return [*held, name]
        held.append(name)
    return list(names)
