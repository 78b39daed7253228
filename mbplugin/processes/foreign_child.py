"""The process in which a foreign engine reads files: it answers :mod:`mbplugin.processes.foreign`."""

from __future__ import annotations

import math
import os
import pickle
import signal
import sys
import traceback
from typing import Any

from mbplugin.errors import BrokenModel, MbPluginError
from mbplugin.processes.foreign import LAST, EngineFailed, Limits, received, send
from mbplugin.processes.local_settings import ignore_local_settings
from mbplugin.processes.rlimits import addresses, set_soft

_FIELDS = ("what", "where", "expected", "remedy", "code")


def main() -> None:
    """Answer calls on standard input until it ends."""
    ignore_local_settings()
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
