"""The available integrators: one module per integrator in ``methods``.

The name of a module is that of its integrator. The first line of its docstring describes the integrator, and
``INTEGRATOR`` is an :class:`mbplugin.simulation.integrators.contract.Integrator`. Names are read from the folder, so
that the command line can list them without importing numerical code.
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


#: The integrator used by default.
DEFAULT_INTEGRATOR = "dop853"


def integrator_names() -> tuple[str, ...]:
    """Return the names of all integrators, sorted."""
    return _names_below(tuple(methods.__path__))


@lru_cache(maxsize=8)
def _names_below(folders: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names in some folders; cached, as every motion needs them several times."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(folders)))


def integrator_choices() -> str:
    """Return the names as a phrase: ``"a, b or c"``."""
    *others, last = integrator_names()
    return f"{', '.join(others)} or {last}"


def find_integrator(name: str) -> Integrator:
    """Return the integrator with a given name.

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
