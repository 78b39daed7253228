"""The child process in which a third-party engine reads files, called by :mod:`mbplugin.processes.foreign`."""

from __future__ import annotations

import contextlib
import importlib
import math
import os
import pickle
import signal
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

from mbplugin.errors import BrokenModel, MbPluginError
from mbplugin.files import Reads, recording_reads
from mbplugin.processes import LIBRARY
from mbplugin.processes.foreign import LAST, PARENT, EngineFailed, Limits, fields_of, received, send
from mbplugin.processes.supervised import addresses, ignore_local_settings, set_soft
from mbplugin.processes.walls import Raised, Walls, raise_walls

#: The sandbox of this process, once a call has set it up.
_raised: Raised | None = None


def main() -> None:
    """Answer calls from standard input until it ends."""
    ignore_local_settings()
    answers = os.fdopen(os.dup(1), "wb")
    # printed output of an engine must not mix with the answers
    os.dup2(2, 1)
    # the parent handles interrupts
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    PARENT.questions, PARENT.answers = answers, sys.stdin.buffer
    while (call := received(sys.stdin.buffer)) is not None:
        answer = _answer(call)
        send(answers, pickle.dumps(answer))
        if answer[0] in LAST:
            # in this state, the clean-up of an engine may hang
            os._exit(0)


def _answer(call: bytes) -> tuple[str, Any]:
    try:
        limits, folder, environment, walls, imports, function, args = pickle.loads(call)
        _import(imports)
        _stand_in(folder)
        os.environ.clear()
        os.environ.update(environment)
        _limit(limits)
        if walls is not None:
            _raise(walls, limits)
        # the function ``Raised`` requests the state of the sandbox
        if function is Raised:
            return "value", (_raised, Reads())
        with recording_reads() as reads:
            return "value", (function(*args), reads)
    except EngineFailed as error:
        return "failed", (BrokenModel, fields_of(error))
    except MbPluginError as error:
        return "error", (type(error), fields_of(error))
    except MemoryError:
        return "memory", None
    except Exception:
        return "bug", traceback.format_exc()
    finally:
        _unlimit()


def _import(names: tuple[str, ...]) -> None:
    """Import modules in the folder of Python's library, since MuJoCo starts a Python in the current folder."""
    if all(name in sys.modules for name in names):
        return
    os.chdir(LIBRARY)
    for name in names:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def _stand_in(folder: str) -> None:
    """Change the working folder; without a name, to a removed folder, which stays empty."""
    if folder:
        os.chdir(folder)
        return
    os.chdir(Path(sys.executable).anchor)
    # if no folder can be created, the root serves as well: no file will be opened
    with contextlib.suppress(OSError):
        made = tempfile.mkdtemp()
        os.chdir(made)
        Path(made).rmdir()


def _raise(walls: Walls, limits: Limits) -> None:
    """Set up the sandbox of this process at its first call; a reused process keeps the same one."""
    global _raised
    if _raised is None:
        _raised = raise_walls(walls, limits.written, limits.cpu, limits.memory)


def _limit(limits: Limits) -> None:
    """Set the resource limits of this process for a call; the system enforces them."""
    # on Windows, there is only the timer of the parent
    if sys.platform == "win32":
        return
    import resource

    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    set_soft(resource.RLIMIT_CPU, math.ceil(used) + limits.cpu)
    set_soft(resource.RLIMIT_AS, addresses() + limits.memory)
    set_soft(resource.RLIMIT_FSIZE, limits.written)
    # a process that waits for a lock uses no CPU time; if the parent is gone, only this alarm ends it
    signal.alarm(math.ceil(limits.seconds) + 5)


def _unlimit() -> None:
    if sys.platform == "win32":
        return
    import resource

    signal.alarm(0)
    set_soft(resource.RLIMIT_AS, resource.RLIM_INFINITY)


if __name__ == "__main__":
    main()
