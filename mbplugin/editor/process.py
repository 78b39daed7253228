"""The server's side of the process that lints: it is started, asked, and replaced if it does not answer in time."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
from collections.abc import Coroutine, Mapping
from typing import Any

from mbplugin.processes import isolated_command

#: Longest answer, bytes.
_LONGEST = 1 << 28
_MODULE = "mbplugin.editor.inspector"
#: Time in which the process must be ready for its first request, s.
_START = 30.0
#: Time in which a process that has closed its output ends, s.
_PATIENCE = 1.0


class NoAnswer(Exception):
    """A request that was not answered: the process ended, or took too long and was ended."""


class Refusal(Exception):
    """A request that was refused, with the reason."""


class Inspector:
    """A process that lints, and what it knows of the open documents.

    Parameters
    ----------
    seconds : float
        Time limit of one request, s.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._process: asyncio.subprocess.Process | None = None
        self._starting: asyncio.Future[asyncio.subprocess.Process] | None = None
        #: Versions of the documents that the process has, by path.
        self._sent: dict[str, tuple[str, int]] = {}
        self._number = 0
        self._turn = asyncio.Lock()
        self._ready = False
        self._closed = False

    async def start(self) -> None:
        """Start the process, if it does not run; it answers the first request when it is ready."""
        async with self._turn:
            await self._start()

    async def _start(self) -> None:
        if self._closed:
            raise NoAnswer("the session has ended")
        if self._process is None or self._process.returncode is not None:
            self._sent.clear()
            self._ready = False
            self._starting = asyncio.ensure_future(
                asyncio.create_subprocess_exec(
                    *isolated_command(_MODULE),
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    limit=_LONGEST,
                )
            )
            self._process = await asyncio.shield(self._starting)

    async def close(self) -> None:
        """End the process at once, and start no other one."""
        self._closed = True
        if self._starting is not None and not self._starting.done():
            self._process = await self._starting
        await self._end()

    async def _end(self) -> int:
        """End the process at once, and return its exit code."""
        process = self._process
        if process is None:
            return 0
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        # forgotten only when it has ended: whoever else ends it waits too, before the event loop is closed
        code = await process.wait()
        if self._process is process:
            self._process = None
        return code

    async def ask(self, do: str, path: str, documents: Mapping[str, Mapping[str, Any]], **more: Any) -> Any:
        """Return the answer to a request; see :class:`mbplugin.editor.answers.Answers`.

        Parameters
        ----------
        do, path : str
        documents : mapping of path to mapping
            All open documents: uri, version and text.
        **more
            What the request needs.

        Raises
        ------
        NoAnswer
            The process ended, or took too long.
        Refusal
            The request was refused.
        """
        # a client that is no longer interested must not cost the process, which answers the next request all the same
        exchange = asyncio.ensure_future(self._exchange(do, path, documents, more))
        exchange.add_done_callback(lambda done: done.cancelled() or done.exception())
        answer = json.loads(await asyncio.shield(exchange))
        if "refused" in answer:
            raise Refusal(answer["refused"])
        if "failed" in answer:
            raise NoAnswer(f"this is a bug in mbplugin: {answer['failed'].strip().splitlines()[-1]}")
        return answer["result"]

    async def _exchange(
        self, do: str, path: str, documents: Mapping[str, Mapping[str, Any]], more: Mapping[str, Any]
    ) -> bytes:
        """Send a request when it is its turn, and return the answer."""
        async with self._turn:
            await self._start()
            self._number += 1
            request = {
                "id": self._number,
                "do": do,
                "path": path,
                "documents": self._changed(documents),
                **more,
            }
            if not self._ready:
                await self._within(self._line(), _START, f"it did not start within {_START:g} s")
                self._ready = True
            return await self._within(
                self._answer(request), self.seconds, f"it was stopped after {self.seconds:g} s"
            )

    async def _within(self, line: Coroutine[Any, Any, bytes], seconds: float, late: str) -> bytes:
        """Return a line of the process, which is replaced if the line does not come in time."""
        try:
            came = await asyncio.wait_for(line, seconds)
        except asyncio.TimeoutError:
            await self._end()
            await self._start()
            raise NoAnswer(late) from None
        if not came:
            raise NoAnswer(_how_ended(await self._ended()))
        return came

    async def _answer(self, request: Mapping[str, Any]) -> bytes:
        process = self._process
        if process is None:
            return b""
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            await process.stdin.drain()
        except ConnectionError:
            return b""
        return await self._line()

    async def _line(self) -> bytes:
        """Return the next line of the process, empty if it has ended or its answer is longer than any."""
        process = self._process
        if process is None:
            return b""
        assert process.stdout is not None
        try:
            return await process.stdout.readline()
        except (ConnectionError, ValueError):
            return b""

    def _changed(self, documents: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Return the documents that the process does not have yet, and None for those that were closed."""
        now = {path: (str(stated["uri"]), int(stated["version"])) for path, stated in documents.items()}
        changed: dict[str, Any] = dict.fromkeys(self._sent.keys() - now.keys())
        changed |= {path: documents[path] for path, known in now.items() if self._sent.get(path) != known}
        self._sent = now
        return changed

    async def _ended(self) -> int:
        """Return the exit code of the process, which has closed its output or written too much."""
        if self._process is not None:
            with contextlib.suppress(asyncio.TimeoutError):
                # so that its own exit code is known, not that of being ended
                await asyncio.wait_for(self._process.wait(), _PATIENCE)
        return await self._end()


def _how_ended(code: int) -> str:
    if code < 0:
        return f"its process ended by signal {signal.Signals(-code).name}"
    return f"its process ended with exit code {code}"
