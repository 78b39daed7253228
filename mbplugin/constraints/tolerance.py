"""The relative rank tolerance that counts for a request, its default, and the default number of sampled poses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from mbplugin.errors import BadUsage, ContradictedState
from mbplugin.phrases import listed

if TYPE_CHECKING:
    from mbplugin.model.scene import Scene

#: Relative to the largest singular value of a block's scaled closure Jacobian.
DEFAULT_TOLERANCE = 1e-4
#: Poses sampled, at most, to tell a structural redundancy from a singular pose.
DEFAULT_SAMPLES = 8
#: Values that a program computed agree up to this, rad or lengths of the mechanism; of rates, a part of the largest.
AGREED = 1e-8
#: Significant digits from which on a number may be a rounded one; with fewer it is meant as it is written.
_DIGITS = 5
#: Names in a sentence.
_NAMED = 8
#: The values of all names where those of some hold, None where these cannot hold together.
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
    """Refuse a number that is no relative tolerance.

    Raises
    ------
    BadUsage
        It is not between 0 and 1.
    """
    if not 0 < tolerance < 1:
        raise BadUsage(f"the tolerance is {tolerance:g}", expected="a number between 0 and 1")


# What stated values say against each other: the smallest set that no state has, and the values that would
# agree.


def rounding_of(value: float) -> float:
    """Return half a unit of the last digit of a number as it is written; zero of a short one, which is exact."""
    written = Decimal(repr(float(value))).normalize()
    exponent = written.as_tuple().exponent
    rounded = len(written.as_tuple().digits) >= _DIGITS and isinstance(exponent, int)
    return float(Decimal("0.5").scaleb(int(exponent))) if rounded else 0.0


def contradiction(
    what: str, stated: Mapping[str, float], caller: Collection[str], follows: Follows, closing: Sequence[str]
) -> ContradictedState:
    """Return the error that names the fewest of some values that contradict each other, with what agrees.

    Parameters
    ----------
    what : "coordinate" or "rate"
    stated : mapping of str to float
        The values, rad and m (per second).
    caller : collection of str
        Those of them that the caller states; the others are the file's.
    follows : callable
        What follows from some of them.
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
        remedy = "state another value, or leave it out: what is not stated follows"
    else:
        values_text = listed([f"{name} = {stated[name]:.8g}" for name in members], _NAMED)
        text = f"the stated {what}s {values_text} contradict each other through {through}"
        remedy = "state fewer of them: what is not stated follows"
    either = " or ".join(f"{name} = {value:.10g}" for name, value in list(agreeing.items())[:_NAMED])
    expected = f"{either}, the others as stated" if len(members) > 1 and either else either
    error = ContradictedState(text, expected=expected, remedy=remedy)
    error.of_file = not any(name in caller for name in stated)
    return error


def _smallest(names: Sequence[str], follows: Follows) -> list[str]:
    """Return the fewest of some names that do not hold together: none of them can be left out."""
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
