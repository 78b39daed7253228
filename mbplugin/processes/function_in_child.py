"""A function run in a process of its own: files can end PyBullet, and PyBullet ends its process.

``multiprocessing`` would import the user's own script once more. Here a fresh interpreter,
isolated from the working folder, runs this module: the call arrives pickled on its standard input, the
answer leaves it pickled on what was its standard output, and whatever else is printed there is lost.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from mbplugin.errors import MbPluginError
from mbplugin.processes.isolation import isolated_command

P = ParamSpec("P")
T = TypeVar("T")


def in_child(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what a function returns in a process of its own.

    Parameters
    ----------
    function : callable
        Of a module that can be imported; it, its arguments and its answer can be pickled.

    Raises
    ------
    MbPluginError
        What the function raised, or that PyBullet ended the process.
    RuntimeError
        Any other exception in the function, with its traceback.
    """
    call = pickle.dumps((function, args, kwargs))
    done = subprocess.run(
        isolated_command("mbplugin.processes.function_in_child"), input=call, capture_output=True, check=False
    )
    if done.returncode != 0 or not done.stdout:
        raise MbPluginError(
            f"the process with PyBullet ended by {_end(done.returncode)}",
            remedy="simplify the model until it stays alive, or report it to PyBullet",
        )
    kind, value = pickle.loads(done.stdout)
    if kind == "error":
        error_type, fields = value
        raise error_type(fields.pop("what"), **fields)
    if kind == "bug":
        raise RuntimeError(f"in the process with PyBullet:\n{value}")
    answer: T = value
    return answer


def _end(code: int) -> str:
    """Return how a process ended, by its exit code."""
    if code < 0:
        return f"signal {signal.Signals(-code).name}"
    return f"exit code {code} without an answer"


def _answer(call: bytes) -> tuple[str, Any]:
    try:
        function, args, kwargs = pickle.loads(call)
        return "value", function(*args, **kwargs)
    except MbPluginError as error:
        fields = ("what", "where", "expected", "remedy", "code")
        return "error", (type(error), {name: getattr(error, name) for name in fields})
    except Exception:
        return "bug", traceback.format_exc()


def main() -> None:
    """Answer the call on standard input."""
    answers = os.dup(1)
    # what the function or PyBullet prints must not get between
    os.dup2(2, 1)
    answer = _answer(sys.stdin.buffer.read())
    with os.fdopen(answers, "wb") as stream:
        stream.write(pickle.dumps(answer))


if __name__ == "__main__":
    main()
