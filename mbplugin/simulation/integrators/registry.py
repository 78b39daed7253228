"""Which integrators exist: one module per integrator in ``integrators/methods``.

A module there has the name by which its integrator is chosen, a docstring whose first line says what it is,
and ``INTEGRATOR``, an :class:`mbplugin.simulation.integrators.contract.Integrator`. Names are read from the
folder, so that the command line can list them without importing any numerics.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache
from typing import TYPE_CHECKING

from mbplugin.errors import UnknownName, suggestion
from mbplugin.simulation.integrators import methods

if TYPE_CHECKING:
    from mbplugin.simulation.integrators.contract import Integrator

#: The integrator of a motion for which none is chosen.
DEFAULT_INTEGRATOR = "dop853"


def integrator_names() -> tuple[str, ...]:
    """Return the names of all integrators, sorted."""
    return _names_below(tuple(methods.__path__))


@lru_cache(maxsize=8)
def _names_below(folders: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names in some folders, which every motion asks for several times."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(folders)))


def integrator_choices() -> str:
    """Return the names as a phrase: ``"a, b or c"``."""
    *others, last = integrator_names()
    return f"{', '.join(others)} or {last}"


def find_integrator(name: str) -> Integrator:
    """Return the integrator of a name.

    Raises
    ------
    UnknownName
        No integrator has this name.
    """
    names = integrator_names()
    if name not in names:
        raise UnknownName(f"there is no integrator {name!r}", remedy=suggestion(name, names))
    found: Integrator = importlib.import_module(f"{methods.__name__}.{name}").INTEGRATOR
    return found
