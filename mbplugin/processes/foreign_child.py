"""The process in which a foreign engine reads files: it answers :mod:`mbplugin.processes.foreign`."""

from __future__ import annotations

import contextlib
import math
import os
import pickle
import signal
import sys
import traceback
from typing import Any

from mbplugin.errors import BrokenModel, MbPluginError
from mbplugin.processes.foreign import LAST, EngineFailed, Limits, received, send

_FIELDS = ("what", "where", "expected", "remedy", "code")


def main() -> None:
    """Answer calls on standard input until it ends."""
    answers = os.fdopen(os.dup(1), "wb")
    # what an engine prints must not get between
    os.dup2(2, 1)
    # an interrupt is the parent's business
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while (call := received(sys.stdin.buffer)) is not None:
        answer = _answer(call)
        send(answers, pickle.dumps(answer))
        if answer[0] in LAST:
            # an engine in this state may hang where it tidies up
            os._exit(0)


def _answer(call: bytes) -> tuple[str, Any]:
    try:
        limits, folder, environment, function, args = pickle.loads(call)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        _limit(limits)
        return "value", function(*args)
    except EngineFailed as error:
        return "failed", (BrokenModel, _fields(error))
    except MbPluginError as error:
        return "error", (type(error), _fields(error))
    except MemoryError:
        return "memory", None
    except Exception:
        return "bug", traceback.format_exc()
    finally:
        _unlimit()


def _fields(error: MbPluginError) -> dict[str, str]:
    return {name: getattr(error, name) for name in _FIELDS}


def _limit(limits: Limits) -> None:
    """Limit this process for a call: what passes a limit is ended by the system."""
    try:
        import resource
    except ImportError:  # Windows: the parent's clock is all there is
        return
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    _set_soft(resource.RLIMIT_CPU, math.ceil(used) + limits.cpu)
    _set_soft(resource.RLIMIT_AS, _addresses() + limits.memory)
    _set_soft(resource.RLIMIT_FSIZE, limits.written)
    # who waits for a lock uses no processor; should the parent be gone, nobody else ends this process
    signal.alarm(math.ceil(limits.seconds) + 5)


def _unlimit() -> None:
    with contextlib.suppress(ImportError):
        import resource

        signal.alarm(0)
        _set_soft(resource.RLIMIT_AS, resource.RLIM_INFINITY)


def _set_soft(kind: int, value: int) -> None:
    import resource

    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY and (value == resource.RLIM_INFINITY or value > hard):
        value = hard
    # some systems refuse limits of addresses
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(kind, (value, hard))


def _addresses() -> int:
    """Return the bytes of addresses that this process has."""
    import resource

    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123
            return int(file.read().split()[0]) * resource.getpagesize()
    except (OSError, ValueError):
        return 1 << 30


if __name__ == "__main__":
    main()
