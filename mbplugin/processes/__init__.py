"""Separate processes: isolated Python, third-party engines with limits, supervised commands.

Here is what every process of the package begins with: it imports nothing from the working folder, whose files are not
trusted. This file imports only modules that every interpreter has already loaded, since it may run before the search
path is cleaned.
"""

import os
import sys

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
#: The folder of Python's library.
LIBRARY = os.path.dirname(os.path.abspath(os.__file__))

#: Code that a child runs; its arguments are a module, the folder of this package, and the search path.
_BEGIN = """
import sys
name, package, *sys.path[:] = sys.argv[1:]
del sys.argv[1:]
import importlib.util, runpy
spec = importlib.util.spec_from_file_location(
    "mbplugin", package + "/__init__.py", submodule_search_locations=[package]
)
sys.modules["mbplugin"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["mbplugin"])
runpy.run_module(name, run_name="__main__", alter_sys=True)
"""


def isolated_command(module: str) -> list[str]:
    """Return the command that runs a module of this package in a process of its own.

    The child finds this very package and what the parent's search path holds, but nothing in the
    working folder, whatever ``PYTHONPATH`` and the other variables of Python say.
    """
    path = [entry for entry in sys.path if os.path.isabs(entry)]
    return [sys.executable, "-I", "-c", _BEGIN, module, _PACKAGE, *path]


def forget_working_folder() -> None:
    """Remove the working folder from the search path, unless ``PYTHONPATH`` names it.

    ``python -m`` puts it there, and so does an empty entry, as in ``PYTHONPATH=/some/folder:``.
    Folders of the installation stay, and so does a checkout of this package if it is the working folder.
    """
    try:
        here = os.getcwd()
    except FileNotFoundError:
        # the working folder was removed: nothing can be imported from it
        return
    named = os.path.dirname(_PACKAGE) == here or any(
        part and os.path.abspath(part) == here for part in python_path()
    )
    first = sys.path.index(LIBRARY) if LIBRARY in sys.path else len(sys.path)
    before = [entry for entry in sys.path[:first] if os.path.isabs(entry) and (named or entry != here)]
    sys.path[:first] = before


def python_path() -> list[str]:
    """Return the entries of ``PYTHONPATH``."""
    return os.environ.get("PYTHONPATH", "").split(os.pathsep)
