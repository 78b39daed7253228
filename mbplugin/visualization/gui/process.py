"""A window in a process of its own: closing PyBullet's window ends its process with exit code 1.

The process tells on what was its standard output when the window is open and when it has ended by
itself; everything else that is printed there, by PyBullet, is kept for the case that it dies. It is not a child
of :mod:`mbplugin.processes.foreign`: it has no limits, and no answer follows its one request.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from mbplugin.errors import MbPluginError
from mbplugin.processes.isolation import isolated_command

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.model.mechanism.mechanism import Mechanism
    from mbplugin.model.scene import Scene
    from mbplugin.report.picture import Picture
    from mbplugin.visualization.recording import Replay

OPENED, ENDED = b"opened\n", b"ended\n"
CLOSED_SENTENCE = "The window was closed."
ENDED_SENTENCE = "The replay has reached its end."
#: Exit code of an exception, which PyBullet does not use.
BUG = 70
#: What Xlib prints when its window is taken away.
_GONE = (b"(explicit kill or server shutdown)", b"fatal IO error")
#: What to do without a window.
_WITHOUT = "use --picture or --film (picture=… or film=… in Python), which need no window"
#: How long PyBullet may take to close its window, s.
_PATIENCE = 20


@dataclass(frozen=True, eq=False)
class Window:
    """What a window is to show.

    Parameters
    ----------
    analysis : Analysis, optional
        Makes sliders that move the robot.
    replay : Replay, optional
        Moves it instead.
    loop : bool
        Whether a replay begins again.
    model : Scene or Mechanism, optional
        Whose reactions at rest are drawn at every pose of the sliders.
    """

    seen: Picture
    title: tuple[str, ...]
    analysis: Analysis | None = None
    replay: Replay | None = None
    loop: bool = True
    model: Scene | Mechanism | None = None


def in_window(window: Window) -> str:
    """Show a window until it is closed, and return in a sentence how it ended.

    Raises
    ------
    MbPluginError
        No window can be opened, or PyBullet has died.
    RuntimeError
        Any other exception in the process, with its traceback.
    """
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(
            isolated_command("mbplugin.visualization.gui.window"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=printed,
        )
        try:
            status_lines = _talk(process, pickle.dumps(window))
            _wait(process)
        except BaseException:
            # whoever interrupts us does not want the window either
            process.kill()
            process.wait()
            raise
        finally:
            if process.stdout is not None:
                process.stdout.close()
        return _sentence(status_lines, process.returncode, printed)


def _talk(process: subprocess.Popen[bytes], request: bytes) -> set[bytes]:
    """Hand over the request, and return the messages of the process after its last one."""
    assert process.stdin is not None and process.stdout is not None
    try:
        with process.stdin:
            process.stdin.write(request)
    except BrokenPipeError:
        return set()
    status_lines = set()
    for line in process.stdout:
        status_lines.add(line)
        if line == ENDED:
            break
    return status_lines


def _wait(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _sentence(status_lines: set[bytes], code: int, printed: IO[bytes]) -> str:
    """Return how the window ended, from the messages of the process and its exit code."""
    if code == BUG:
        text = _all_of(printed).decode(errors="replace")
        raise RuntimeError(f"in the process with the window:\n{text[text.rfind('Traceback') :]}")
    if ENDED in status_lines:
        return ENDED_SENTENCE
    if OPENED not in status_lines:
        raise MbPluginError(
            f"PyBullet cannot open a window{_on_display()}",
            expected="a display with OpenGL 3",
            remedy=_WITHOUT,
        )
    # closed by whoever looks at it, PyBullet's threads may still fall over each other on their way out
    if code < 0 and not any(words in _all_of(printed) for words in _GONE):
        raise MbPluginError(
            f"the process with the window ended by signal {signal.Signals(-code).name}",
            remedy=_WITHOUT,
        )
    return CLOSED_SENTENCE


def _on_display() -> str:
    if sys.platform in ("win32", "darwin"):
        return ""
    display = os.environ.get("DISPLAY")
    return f" on display {display}" if display else " since no display is set"


def _all_of(printed: IO[bytes]) -> bytes:
    printed.seek(0)
    return printed.read()
