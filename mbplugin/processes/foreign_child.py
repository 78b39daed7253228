"""The process in which a foreign engine reads files: it answers :mod:`mbplugin.processes.foreign`."""

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
from mbplugin.processes.foreign import LAST, PARENT, EngineFailed, Limits, fields_of, received, send
from mbplugin.processes.isolation import LIBRARY
from mbplugin.processes.local_settings import ignore_local_settings
from mbplugin.processes.supervised import addresses, set_soft
from mbplugin.processes.walls import Raised, Walls, raise_walls

#: The walls around this process, once a call has raised them.
_raised: Raised | None = None


def main() -> None:
    """Answer calls on standard input until it ends."""
    ignore_local_settings()
    answers = os.fdopen(os.dup(1), "wb")
    # what an engine prints must not get between
    os.dup2(2, 1)
    # an interrupt is the parent's business
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    PARENT.questions, PARENT.answers = answers, sys.stdin.buffer
    while (call := received(sys.stdin.buffer)) is not None:
        answer = _answer(call)
        send(answers, pickle.dumps(answer))
        if answer[0] in LAST:
            # an engine in this state may hang where it tidies up
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
        # who asks for walls is told which ones there are
        return "value", _raised if function is Raised else function(*args)
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
    """Import modules where they are installed, away from any model: MuJoCo starts a Python where it stands."""
    if all(name in sys.modules for name in names):
        return
    os.chdir(LIBRARY)
    for name in names:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def _stand_in(folder: str) -> None:
    """Make a folder the working folder; without a name, one that is empty for ever, because it is removed."""
    if folder:
        os.chdir(folder)
        return
    os.chdir(Path(sys.executable).anchor)
    # where nothing can be made, that root is as good: nothing will be opened
    with contextlib.suppress(OSError):
        made = tempfile.mkdtemp()
        os.chdir(made)
        Path(made).rmdir()


def _raise(walls: Walls, limits: Limits) -> None:
    """Raise walls around this process; those of a process that is kept are the same for each call."""
    global _raised
    if _raised is None:
        _raised = raise_walls(walls, limits.written, limits.cpu, limits.memory)


def _limit(limits: Limits) -> None:
    """Limit this process for a call: what passes a limit is ended by the system."""
    # on Windows the parent's clock is all there is
    if sys.platform == "win32":
        return
    import resource

    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    set_soft(resource.RLIMIT_CPU, math.ceil(used) + limits.cpu)
    set_soft(resource.RLIMIT_AS, addresses() + limits.memory)
    set_soft(resource.RLIMIT_FSIZE, limits.written)
    # who waits for a lock uses no processor; should the parent be gone, nobody else ends this process
    signal.alarm(math.ceil(limits.seconds) + 5)


def _unlimit() -> None:
    if sys.platform == "win32":
        return
    import resource

    signal.alarm(0)
    set_soft(resource.RLIMIT_AS, resource.RLIM_INFINITY)


if __name__ == "__main__":
    main()
