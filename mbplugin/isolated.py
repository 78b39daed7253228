"""The command of a fresh interpreter that runs a module of ours, and nothing out of the working folder.

``python -m`` puts the working folder before everything else, so a ``numpy.py`` that lies there would run.
Here the interpreter starts with ``-I``: no environment variables, no working folder. This package is
imported from where it lies, and the other packages from where this process finds them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent

_START = """
import importlib.util, sys
sys.path += [path for path in {paths!r} if path not in sys.path]
spec = importlib.util.spec_from_file_location("mbplugin", {init!r}, submodule_search_locations=[{folder!r}])
package = sys.modules["mbplugin"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(package)
importlib.import_module({module!r}).main()
"""


def isolated_command(module: str) -> list[str]:
    """Return the command line that runs ``main()`` of a module of this package.

    Parameters
    ----------
    module : str
        Such as ``mbplugin.foreign``.
    """
    code = _START.format(
        paths=_paths(), init=str(_PACKAGE / "__init__.py"), folder=str(_PACKAGE), module=module
    )
    return [sys.executable, "-I", "-c", code]


def _paths() -> list[str]:
    """Return where this process finds packages, without the working folder."""
    here = os.path.realpath(os.curdir)
    return [path for path in sys.path if Path(path).is_absolute() and os.path.realpath(path) != here]
