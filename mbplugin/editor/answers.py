"""The requests that the process that lints answers: inspections, hovers and actions, from its copies of documents."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from typing import Any

from mbplugin.editor import actions
from mbplugin.editor.diagnostics import Inspection, inspected
from mbplugin.editor.documents import Documents, OpenDocument
from mbplugin.editor.hovers import hover
from mbplugin.linter.run import lint


class Answers:
    """The open documents, their last inspections, and the answers to requests about them."""

    def __init__(self) -> None:
        self._documents = Documents()
        #: Number of changes so far; a change of any document may concern those that include it.
        self._changes = 0
        self._last: dict[str, tuple[int, Inspection]] = {}

    def warm(self, text: str) -> None:
        """Lint a text, so that what a lint imports is there when the first request comes."""
        lint("warm.urdf", text=text)

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``{"result": …}``, ``{"refused": reason}`` or ``{"failed": traceback}``.

        Parameters
        ----------
        request : mapping
            ``do``, one of inspect, hover, offer, fix and fix-all, ``path``, the changed ``documents`` and what the
            request needs.
        """
        try:
            self._take(request)
            return {"result": self._result(str(request["do"]), str(request["path"]), request)}
        except actions.Refused as reason:
            return {"refused": str(reason)}
        # a bug: the editor goes on
        except Exception:
            return {"failed": traceback.format_exc()}

    def _take(self, request: Mapping[str, Any]) -> None:
        self._documents.encoding = request.get("encoding", self._documents.encoding)
        self._documents.forget_positions()
        for path, stated in request.get("documents", {}).items():
            self._changes += 1
            if stated is None:
                self._documents.remove(path)
                self._last.pop(path, None)
            else:
                self._documents.put(OpenDocument(path=path, **stated))

    def _result(self, do: str, path: str, request: Mapping[str, Any]) -> Any:
        if do == "inspect":
            made = inspected(self._documents, path, complete=bool(request["complete"]))
            self._last[path] = (self._changes, made)
            return {
                "version": made.version,
                "diagnostics": made.diagnostics,
                "files": made.files,
                "left_out": made.left_out,
                "redundant": made.is_redundant,
                "seconds": made.seconds,
            }
        if do == "fix":
            return actions.proved_fix(self._documents, path, actions.FixKey(**request["key"]))
        if do == "fix-all":
            return actions.all_safe_fixes(self._documents, path)
        if do == "hover":
            return hover(self._documents, self._inspection(path, complete=False), request["position"])
        assert do == "offer", do
        inspection = self._inspection(path, complete=True)
        return {
            "fixes": actions.offered(self._documents, inspection, request["range"]),
            "safe": actions.has_safe_fixes(inspection),
        }

    def _inspection(self, path: str, *, complete: bool) -> Inspection:
        """Return an inspection of the present texts: the last one, unless a text has changed since."""
        changes, last = self._last.get(path, (-1, None))
        if last is None or changes != self._changes or (complete and not last.complete):
            last = inspected(self._documents, path, complete=complete)
            self._last[path] = (self._changes, last)
        return last
