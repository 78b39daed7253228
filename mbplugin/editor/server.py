"""The language server: the messages of the protocol, from and to a session."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, BinaryIO, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.uris import to_fs_path

from mbplugin.editor.process import NoAnswer, Refusal
from mbplugin.editor.session import Document, Session
from mbplugin.version import __version__

#: Error codes of the protocol for a request on a text that has changed since, and for one that was refused.
_CHANGED, _REFUSED = -32801, -32803
_PUBLISH = types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS
_QUICK, _ALL = types.CodeActionKind.QuickFix, "source.fixAll.mbplugin"
#: Time in which a session ends when the editor is gone, s.
_PATIENCE = 10.0
#: Most fixes that are proved at once for a client that does not ask for the edit of one later.
_MOST_PROVED = 5


def serve(seconds: float) -> int:
    """Serve an editor on stdin and stdout until it ends the session, and return the exit code.

    Parameters
    ----------
    seconds : float
        Time limit of one lint, s.
    """
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_no_refusal)
    server = MbpluginServer(seconds)
    server.start_io(cast(BinaryIO, Input(sys.stdin.buffer, server.end_session)))
    return 0 if server.was_shut_down else 1


class Input:
    """What the editor writes; its end is handed on when the session has ended.

    At the end of the input the event loop cancels all tasks and waits for them. A start of a process that is cancelled
    would wait for ever, since asyncio expects the end of pipes that are not connected yet.
    """

    def __init__(self, stream: BinaryIO, at_end: Callable[[], None]) -> None:
        self._stream, self._at_end = stream, at_end

    def readline(self) -> bytes:
        """Return the next line, empty at the end."""
        return self._handed(self._stream.readline())

    def read(self, size: int = -1) -> bytes:
        """Return bytes, fewer than ``size`` at the end."""
        return self._handed(self._stream.read(size))

    def _handed(self, data: bytes) -> bytes:
        if not data:
            self._at_end()
        return data


class PlainDiagnostics(LanguageServerProtocol):
    """The protocol, with diagnostics that are sent as they are: to make objects of them takes longer than a lint."""

    def notify(self, method: str, params: Any | None = None) -> None:
        """Send a notification to the editor."""
        if method == _PUBLISH:
            self._send_data({"jsonrpc": self.VERSION, "method": method, "params": params})
        else:
            super().notify(method, params)


class MbpluginServer(LanguageServer):
    """The server of one editor.

    Parameters
    ----------
    seconds : float
        Time limit of one lint, s.
    """

    def __init__(self, seconds: float) -> None:
        # whole texts: positions of edits would have to be counted as each client counts the ends of lines
        super().__init__(
            "mbplugin", __version__, types.TextDocumentSyncKind.Full, protocol_cls=PlainDiagnostics
        )
        self.was_shut_down = False
        self._seconds = seconds
        self._session: Session | None = None
        for method, handler in (
            (types.INITIALIZED, self._on_initialized),
            (types.SHUTDOWN, self._on_shutdown),
            (types.TEXT_DOCUMENT_DID_OPEN, self._on_open),
            (types.TEXT_DOCUMENT_DID_CHANGE, self._on_change),
            (types.TEXT_DOCUMENT_DID_CLOSE, self._on_close),
            (types.TEXT_DOCUMENT_DID_SAVE, self._on_files),
            (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, self._on_files),
            (types.TEXT_DOCUMENT_HOVER, self._on_hover),
            (types.CODE_ACTION_RESOLVE, self._on_resolve),
        ):
            # pygls writes attributes on a handler, which methods do not take
            self.feature(method)(partial(handler))
        kinds = [_QUICK, _ALL]
        offers = types.CodeActionOptions(code_action_kinds=kinds, resolve_provider=True)
        self.feature(types.TEXT_DOCUMENT_CODE_ACTION, offers)(partial(self._on_code_action))

    @property
    def session(self) -> Session:
        """The session, which begins with the first document or when the client is initialized."""
        if self._session is None:
            encoding = str(
                getattr(self.workspace.position_encoding, "value", self.workspace.position_encoding)
            )
            self._session = Session(self._send, self._seconds, encoding)
            self._loop = asyncio.get_running_loop()
            self._starting = asyncio.ensure_future(self._session.start())
        return self._session

    def end_session(self) -> None:
        """End the session from another thread, and wait for that."""
        if self._session is not None and not self.was_shut_down:
            with contextlib.suppress(TimeoutError, concurrent.futures.TimeoutError):
                asyncio.run_coroutine_threadsafe(self._session.end(), self._loop).result(_PATIENCE)

    def _on_initialized(self, params: types.InitializedParams) -> None:
        assert self.session

    async def _on_shutdown(self, params: None) -> None:
        self.was_shut_down = True
        if self._session is not None:
            await self._session.end()

    # Documents.

    def _on_open(self, params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        self._put(document.uri, document.version, document.text)

    def _on_change(self, params: types.DidChangeTextDocumentParams) -> None:
        document = self.workspace.get_text_document(params.text_document.uri)
        self._put(params.text_document.uri, params.text_document.version, document.source)

    def _put(self, uri: str, version: int, text: str) -> None:
        path = to_fs_path(uri)
        # a document that is no file has no folder in which what it names could be looked for
        if path:
            self.session.put(uri, path, version, text)

    def _on_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self.session.remove(params.text_document.uri)

    def _on_files(self, params: object) -> None:
        self.session.mark_all()

    def _send(self, uri: str, version: int | None, diagnostics: list[Mapping[str, Any]]) -> None:
        stated = {"uri": uri, "diagnostics": diagnostics}
        self.protocol.notify(_PUBLISH, stated if version is None else {**stated, "version": version})

    # Hovers and actions.

    async def _on_hover(self, params: types.HoverParams) -> types.Hover | None:
        document = self.session.document(params.text_document.uri)
        if document is None:
            return None
        try:
            answer = await self.session.ask(
                self.session.first, "hover", document, position=_plain(params.position)
            )
        except NoAnswer:
            # its diagnostic says why there is no model
            return None
        return answer and self.protocol._converter.structure(answer, types.Hover)

    async def _on_code_action(self, params: types.CodeActionParams) -> list[types.CodeAction] | None:
        document = self.session.document(params.text_document.uri)
        if document is None:
            return None
        span = {"start": _plain(params.range.start), "end": _plain(params.range.end)}
        inspector = self.session.second if document.apart else self.session.first
        try:
            answer = await self.session.ask(inspector, "offer", document, range=span)
        except NoAnswer:
            return None
        wanted = params.context.only
        found: list[types.CodeAction] = []
        if _is_wanted(wanted, _QUICK):
            found += [self._quick_fix(document, fix, params.context) for fix in answer["fixes"]]
        if answer["safe"] and _is_wanted(wanted, _ALL):
            data = {"uri": document.uri, "serial": document.serial, "key": None}
            found.append(types.CodeAction("mbplugin: all safe fixes", kind=_ALL, data=data))
        return found if self._resolves() else await self._proved(found)

    def _quick_fix(
        self, document: Document, fix: Mapping[str, Any], context: types.CodeActionContext
    ) -> types.CodeAction:
        at = self.protocol._converter.structure(fix["at"], types.Range)
        return types.CodeAction(
            fix["title"],
            kind=_QUICK,
            diagnostics=[one for one in context.diagnostics if one.code == fix["of"] and one.range == at],
            is_preferred=fix["isPreferred"],
            data={"uri": document.uri, "serial": document.serial, "key": fix["key"]},
        )

    async def _proved(self, actions: list[types.CodeAction]) -> list[types.CodeAction]:
        """Return the actions that hold, with their edits, for a client that does not ask for them later."""
        found = []
        for action in actions[:_MOST_PROVED]:
            try:
                found.append(await self._on_resolve(action))
            except JsonRpcException:
                continue
        return found

    async def _on_resolve(self, action: types.CodeAction) -> types.CodeAction:
        data: Any = action.data
        document = self.session.document(data["uri"])
        if document is None or document.serial != data["serial"]:
            raise JsonRpcException("the text has changed since the fix was offered", _CHANGED)
        more = {"do": "fix", "key": data["key"]} if data["key"] else {"do": "fix-all"}
        try:
            edits = await self.session.ask(self.session.second, document=document, **more)
        except (Refusal, NoAnswer) as error:
            raise JsonRpcException(f"the fix is not made: {error}", _REFUSED) from None
        if document.serial != data["serial"]:
            raise JsonRpcException("the text has changed while the fix was proved", _CHANGED)
        action.edit = self._workspace_edit(edits)
        return action

    def _workspace_edit(self, edits: Mapping[str, Any]) -> types.WorkspaceEdit:
        structure = self.protocol._converter.structure
        texts = {uri: structure(listed, list[types.TextEdit]) for uri, listed in edits.items()}
        workspace = self.client_capabilities.workspace
        capability = workspace.workspace_edit if workspace else None
        if capability is None or not capability.document_changes:
            return types.WorkspaceEdit(changes=texts)
        changes = []
        for uri, listed in texts.items():
            known = self.session.document(uri)
            identifier = types.OptionalVersionedTextDocumentIdentifier(
                uri=uri, version=known.version if known else None
            )
            changes.append(types.TextDocumentEdit(text_document=identifier, edits=listed))
        return types.WorkspaceEdit(document_changes=changes)

    def _resolves(self) -> bool:
        """Return True if the client asks for the edit of an action when it is chosen."""
        document = self.client_capabilities.text_document
        capability = document.code_action if document else None
        support = capability.resolve_support if capability else None
        return support is not None and "edit" in support.properties


def _is_no_refusal(record: logging.LogRecord) -> bool:
    """Return False for the log of a request that was refused, of which the client was told."""
    return not (record.exc_info and isinstance(record.exc_info[1], JsonRpcException))


def _is_wanted(wanted: Any, kind: str) -> bool:
    """Return True if a client that names some kinds of actions wants this one, or one above it."""
    kinds = [str(getattr(one, "value", one)) for one in wanted or ()]
    own = str(getattr(kind, "value", kind))
    return not kinds or any(one in ("", own) or own.startswith(f"{one}.") for one in kinds)


def _plain(position: types.Position) -> dict[str, int]:
    return {"line": position.line, "character": position.character}
