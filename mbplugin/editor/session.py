"""A session with an editor: its documents, and when they are linted and what is published.

A change marks the document, and those that include it, as due. As soon as the process that lints is free, the document
that was changed last is linted; what became due again meanwhile is not published. A document whose complete lint takes
much longer than one without remedies has two answers: the first one at once, the complete one from a second process
when nothing was typed for a moment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from mbplugin.editor.process import Inspector, NoAnswer
from mbplugin.readers.paths import real_path

#: Time in which changes that come together are collected, and after which a complete lint of a large model begins, s.
COLLECTED, IDLE = 0.001, 0.1
#: Time from which the lint of a model with redundant loops is done in two steps, s.
_APART = 0.06
#: Diagnostics as JSON, by URI.
Diagnostics = Mapping[str, Sequence[Mapping[str, Any]]]
#: Sends the diagnostics of a file: its URI, the version of its document if it is open, and a list.
Publish = Callable[[str, int | None, list[Mapping[str, Any]]], None]


@dataclass(eq=False)
class Document:
    """An open document.

    Parameters
    ----------
    uri, path : str
    version : int
        That of the client.
    serial : int
        Number of its last change, unique in the session.
    text : str
    files : set of str
        Real paths of the files that its lint depends on.
    due : int
        Number of times that it became due.
    apart : bool or None
        Whether it is linted in two steps; None if that is not known yet.
    diagnostics : mapping
        What was published for it, by URI.
    complete : mapping
        The diagnostics of its last complete lint, and the text that they are for.
    """

    uri: str
    path: str
    version: int
    serial: int
    text: str
    files: set[str] = field(default_factory=set)
    due: int = 0
    apart: bool | None = None
    diagnostics: Diagnostics = field(default_factory=dict)
    complete: Diagnostics = field(default_factory=dict)
    complete_text: str = ""


class Session:
    """The open documents of an editor.

    Parameters
    ----------
    publish : callable
        Sends the diagnostics of a file.
    seconds : float
        Time limit of one lint, s.
    encoding : "utf-8", "utf-16" or "utf-32"
        Encoding whose units the client counts.
    """

    def __init__(self, publish: Publish, seconds: float, encoding: str) -> None:
        self.encoding = encoding
        self.first, self.second = Inspector(seconds), Inspector(seconds)
        self._publish = publish
        self._documents: dict[str, Document] = {}
        self._serials = count(1)
        self._due: dict[str, None] = {}
        self._late: dict[str, None] = {}
        self._wake, self._wake_late = asyncio.Event(), asyncio.Event()
        #: Version and diagnostics, as texts, that were published last, by URI.
        self._published: dict[str, tuple[int | str | None, ...]] = {}
        #: Files whose diagnostics are published with the next ones, by URI.
        self._held: set[str] = set()
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Start the process that lints, and the work on what becomes due."""
        self._tasks = [asyncio.create_task(self._work()), asyncio.create_task(self._work_late())]
        await self.first.start()

    async def end(self) -> None:
        """End both processes and the work."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.first.close()
        await self.second.close()

    # What the editor says.

    def document(self, uri: str) -> Document | None:
        """Return an open document."""
        return next((one for one in self._documents.values() if one.uri == uri), None)

    def put(self, uri: str, path: str, version: int, text: str) -> None:
        """Open a document, or change its text."""
        own = str(real_path(path))
        document = self._documents.get(own)
        if document is None:
            document = self._documents[own] = Document(uri, path, version, next(self._serials), text)
        else:
            document.uri, document.version, document.text = uri, version, text
            document.serial = next(self._serials)
        self._mark_changed(own)

    def remove(self, uri: str) -> None:
        """Close a document: its file counts again."""
        document = self.document(uri)
        if document is None:
            return
        own = str(real_path(document.path))
        del self._documents[own]
        self._due.pop(own, None)
        self._replace(document, {})
        self._mark_changed(own)

    def mark_all(self) -> None:
        """Lint all documents again, since files outside of the editor have changed."""
        for document in self._documents.values():
            document.serial = next(self._serials)
        for own in self._documents:
            self._mark(own)

    def texts(self) -> dict[str, dict[str, Any]]:
        """Return all documents as the processes take them."""
        return {
            one.path: {"uri": one.uri, "version": one.serial, "text": one.text}
            for one in self._documents.values()
        }

    async def ask(self, inspector: Inspector, do: str, document: Document, **more: Any) -> Any:
        """Return the answer of a process to a request about a document.

        Raises
        ------
        NoAnswer
            The process ended, or took too long.
        Refusal
            The request was refused.
        """
        return await inspector.ask(do, document.path, self.texts(), encoding=self.encoding, **more)

    # What becomes due.

    def _mark_changed(self, changed: str) -> None:
        """Mark a document, and those whose lint read its file; it comes first, because it is being looked at."""
        for own, document in self._documents.items():
            if own != changed and changed in document.files:
                self._mark(own)
        if changed in self._documents:
            self._mark(changed)

    def _mark(self, own: str) -> None:
        self._documents[own].due += 1
        self._due.pop(own, None)
        self._due[own] = None
        self._wake.set()

    async def _work(self) -> None:
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                while self._due:
                    await asyncio.sleep(COLLECTED)
                    if self._due:
                        own, _ = self._due.popitem()
                        await self._lint(own, self._documents[own])
        finally:
            # also if the loop ends, because the editor is gone
            await self.first.close()
            await self.second.close()

    async def _lint(self, own: str, document: Document) -> None:
        """Lint a document, in one step or in two."""
        due = document.due
        if document.apart is not False:
            answer = await self._answer(self.first, document, complete=False)
            if document.due != due:
                return
            self._show(document, answer)
            if document.apart:
                self._late[own] = None
                self._wake_late.set()
                return
        answer = await self._answer(self.first, document, complete=True)
        document.apart = _is_apart(document, answer)
        if document.due == due:
            self._show(document, answer)

    async def _work_late(self) -> None:
        while True:
            await self._wake_late.wait()
            self._wake_late.clear()
            while self._late:
                own, _ = self._late.popitem()
                if document := self._documents.get(own):
                    await self._lint_late(document)

    async def _lint_late(self, document: Document) -> None:
        due = document.due
        await asyncio.sleep(IDLE)
        if document.due != due:
            # the lint of what was typed meanwhile asks for this one again
            return
        answer = await self._answer(self.second, document, complete=True)
        document.apart = _is_apart(document, answer)
        if document.due == due and self.document(document.uri) is document:
            self._show(document, answer)

    async def _answer(self, inspector: Inspector, document: Document, *, complete: bool) -> Any:
        try:
            return await self.ask(inspector, "inspect", document, complete=complete)
        except NoAnswer as error:
            return _unanswered(document, str(error))

    # What is published.

    def _show(self, document: Document, answer: Mapping[str, Any]) -> None:
        """Publish the answer for a document that is still open."""
        if self.document(document.uri) is not document:
            return
        document.files |= set(answer["files"])
        diagnostics = answer["diagnostics"]
        if not answer["left_out"]:
            document.complete, document.complete_text = diagnostics, document.text
            document.files = set(answer["files"]) | {str(real_path(document.path))}
        else:
            diagnostics = _with_known(document, diagnostics, set(answer["left_out"]))
        self._replace(document, diagnostics)

    def _replace(self, document: Document, diagnostics: Diagnostics) -> None:
        before, document.diagnostics = document.diagnostics, diagnostics
        concerned = dict.fromkeys((document.uri, *before, *diagnostics, *self._held))
        self._held.clear()
        for uri in concerned:
            known = self.document(uri)
            if known and self._is_awaited(str(real_path(known.path))):
                # what other documents say about this one is about an earlier text
                self._held.add(uri)
                continue
            merged: dict[str, Mapping[str, Any]] = {}
            for one in (*self._documents.values(), document):
                for diagnostic in one.diagnostics.get(uri, ()):
                    merged.setdefault(repr(diagnostic), diagnostic)
            version = known.version if known else None
            if self._published.get(uri) != (version, *merged):
                self._published[uri] = (version, *merged)
                self._publish(uri, version, list(merged.values()))

    def _is_awaited(self, own: str) -> bool:
        """Return True if a document that reads a file is still to be linted."""
        return any(own in self._documents[due].files for due in self._due)


def _is_apart(document: Document, answer: Mapping[str, Any]) -> bool | None:
    """Return True if the next lints of a document are worth two steps, by its complete lint.

    A number that is being typed often leaves the loops open: without an analysis, what was known before stays.
    """
    return (
        document.apart if answer["redundant"] is None else answer["redundant"] and answer["seconds"] > _APART
    )


def _unanswered(document: Document, reason: str) -> dict[str, Any]:
    """Return an answer with one diagnostic for a document that could not be linted."""
    origin = {"line": 0, "character": 0}
    late = "stopped after" in reason
    diagnostic = {
        "range": {"start": origin, "end": origin},
        "severity": 1,
        "code": "MB915" if late else "MB912",
        "source": "mbplugin",
        "message": f"the model was not linted: {reason}",
    }
    return {
        "diagnostics": {document.uri: [diagnostic]},
        "files": [],
        "left_out": [],
        "redundant": None,
        "seconds": 0.0,
    }


def _with_known(document: Document, diagnostics: Diagnostics, left_out: set[str]) -> Diagnostics:
    """Return diagnostics with those of the rules that were left out, from the last complete lint.

    In the document itself, those that begin before the changed lines stay, and those that begin behind them move with
    their lines; those between are dropped. Otherwise underlines would vanish and appear again with every key.
    """
    old, new = document.complete_text.split("\n"), document.text.split("\n")
    shared = min(len(old), len(new))
    same = next((k for k in range(shared) if old[k] != new[k]), shared)
    behind = next((k for k in range(shared - same) if old[-1 - k] != new[-1 - k]), shared - same)
    found = {uri: list(listed) for uri, listed in diagnostics.items()}
    for uri, listed in document.complete.items():
        for known in listed:
            if known["code"] not in left_out:
                continue
            first, last = known["range"]["start"]["line"], known["range"]["end"]["line"]
            if uri != document.uri or last < same:
                found.setdefault(uri, []).append(known)
            elif first >= len(old) - behind:
                moved = {
                    which: {
                        **known["range"][which],
                        "line": known["range"][which]["line"] + len(new) - len(old),
                    }
                    for which in ("start", "end")
                }
                found.setdefault(uri, []).append({**known, "range": moved})
    return found
