"""The process that lints: it says when it is ready, and answers requests on its standard input, one line of JSON each.

It is apart from the process that talks to the editor, so that a model that takes too long, or ends the process, costs
the editor nothing: the process is replaced.
"""

from __future__ import annotations

import gc
import json
import os
import queue
import signal
import sys
import threading
from typing import IO, Any

from mbplugin.processes.supervised import confine, ignore_local_settings, memory_limited

#: Address space for one request in addition to that in use, bytes.
_MEMORY = 6 << 30
#: A loop and a wrong axis: a lint of it imports what most models need.
_WARM = (
    "<robot name='warm'><link name='a'/><link name='b'><inertial><mass value='1'/>"
    "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
    "<joint name='j' type='revolute'><parent link='a'/><child link='b'/><axis xyz='0 0 2'/>"
    "<limit lower='-1' upper='1' effort='1' velocity='1'/></joint>"
    "<loop_joint name='l' type='revolute'><link1 link='a'/><link2 link='b'/></loop_joint></robot>"
)


def main() -> None:
    """Answer requests until the standard input ends."""
    # what libraries print must not stand between the answers
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # Ctrl-C in a terminal reaches the whole group, and the server ends this process itself
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ignore_local_settings()
    confine()
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(sys.stdin.buffer, requests), daemon=True).start()
    from mbplugin.editor.answers import Answers

    handler = Answers()
    handler.warm(_WARM)
    # what is imported stays: collecting it again and again takes a tenth of the time of a lint
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000)
    # from now on a request has its own time limit
    answers.write(b"ready\n")
    answers.flush()
    while True:
        request: dict[str, Any] = json.loads(requests.get())
        with memory_limited(_MEMORY):
            answer = handler.answer(request)
        answers.write(json.dumps({"id": request["id"], **answer}).encode() + b"\n")
        answers.flush()


def _receive(stream: IO[bytes], requests: queue.SimpleQueue[bytes]) -> None:
    """Pass the requests on; end the process with the server, also in the middle of a lint."""
    for line in stream:
        requests.put(line)
    os._exit(0)


if __name__ == "__main__":
    main()
