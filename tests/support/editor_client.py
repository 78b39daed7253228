"""A client of the language server over its stdin and stdout, which does with edits what an editor does."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

SERVER = (sys.executable, "-P", "-m", "mbplugin", "server")
#: Longest time for an answer on a machine that does much else, s.
PATIENCE = 60.0
LEVELS = {1: "error", 2: "warning", 3: "note"}


@dataclass
class Editor:
    """An editor: its open texts, and what the server has published.

    ``published`` is in order: time, URI, version, diagnostics.
    """

    client: LanguageClient
    encoding: str
    texts: dict[str, str] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    published: list[tuple[float, str, int | None, list[types.Diagnostic]]] = field(default_factory=list)
    log: list[dict[str, Any]] = field(default_factory=list)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    def notify(self, method: str, params: Any) -> None:
        self.log.append({"to": "server", "method": method, "params": params})
        self.client.protocol.notify(method, params)

    async def request(self, method: str, params: Any) -> Any:
        self.log.append({"to": "server", "method": method, "params": params})
        answer = await asyncio.wait_for(self.client.protocol.send_request_async(method, params), PATIENCE)
        self.log.append({"to": "client", "method": method, "result": answer})
        return answer

    def open(self, path: Path, text: str | None = None, language: str = "xml") -> str:
        """Open a file as an editor does: decoded, without its byte order mark."""
        shown = path.read_bytes().decode("utf-8-sig") if text is None else text
        uri = path.as_uri()
        self.texts[uri], self.versions[uri] = shown, 1
        item = types.TextDocumentItem(uri, language, 1, shown)
        self.notify("textDocument/didOpen", types.DidOpenTextDocumentParams(item))
        return uri

    def type(self, uri: str, text: str) -> int:
        """Replace the text of a document, and return its new version."""
        self.versions[uri] += 1
        self.texts[uri] = text
        identifier = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        whole = types.TextDocumentContentChangeWholeDocument(text)
        self.notify("textDocument/didChange", types.DidChangeTextDocumentParams(identifier, [whole]))
        return self.versions[uri]

    def close(self, uri: str) -> None:
        self.notify(
            "textDocument/didClose", types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri))
        )

    async def until(
        self, holds: Callable[[list[types.Diagnostic]], bool], uri: str, version: int | None = None
    ) -> list[types.Diagnostic]:
        """Return the first diagnostics of a document, of a version if one is named, for which something holds."""
        end = time.monotonic() + PATIENCE
        while True:
            self.arrived.clear()
            for _, there, known, diagnostics in self.published:
                if there == uri and version in (None, known) and holds(diagnostics):
                    return diagnostics
            left = end - time.monotonic()
            assert left > 0, [(u, v, codes(d)) for _, u, v, d in self.published]
            try:
                await asyncio.wait_for(self.arrived.wait(), left)
            except asyncio.TimeoutError:
                continue

    async def diagnostics(self, uri: str, version: int = 1) -> list[types.Diagnostic]:
        """Return the diagnostics of a version when no more come for a second."""
        await self.until(lambda found: True, uri, version)
        number = -1
        while number != len(self.published):
            number = len(self.published)
            await asyncio.sleep(1.0)
        return self.last(uri)

    def last(self, uri: str) -> list[types.Diagnostic]:
        """Return what was published last for a file; nothing if nothing was."""
        return next((found for _, there, _, found in reversed(self.published) if there == uri), [])

    async def hover(self, uri: str, line: int, character: int) -> str:
        """Return the text of a hover, empty if there is none."""
        where = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
        answer = await self.request("textDocument/hover", where)
        return answer.contents.value if answer else ""

    async def actions(
        self, uri: str, span: types.Range, only: Sequence[str] | None = None
    ) -> list[types.CodeAction]:
        """Return the code actions at a range, without their edits."""
        context = types.CodeActionContext(self.last(uri), only)  # type: ignore[arg-type]
        identifier = types.TextDocumentIdentifier(uri)
        params = types.CodeActionParams(identifier, span, context)
        return await self.request("textDocument/codeAction", params) or []

    async def resolved(self, action: types.CodeAction) -> types.CodeAction:
        return await self.request("codeAction/resolve", action)

    def applied(self, edit: types.WorkspaceEdit) -> dict[str, str]:
        """Return the texts after an edit, by URI, as a client computes them; files that are not open are read."""
        by_uri: dict[str, Sequence[Any]] = dict(edit.changes or {})
        for change in edit.document_changes or ():
            assert isinstance(change, types.TextDocumentEdit)
            assert change.text_document.version == self.versions.get(change.text_document.uri)
            by_uri[change.text_document.uri] = change.edits
        return {uri: self._edited(uri, edits) for uri, edits in by_uri.items()}

    def _edited(self, uri: str, edits: Sequence[Any]) -> str:
        text = self.texts[uri] if uri in self.texts else path_of(uri).read_bytes().decode("utf-8-sig")
        spans = [(self.index(text, e.range.start), self.index(text, e.range.end), e.new_text) for e in edits]
        for (_, end, _), (start, _, _) in zip(sorted(spans), sorted(spans)[1:], strict=False):
            assert end <= start, "the edits overlap"
        for start, end, new in sorted(spans, reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def index(self, text: str, position: types.Position) -> int:
        """Return the character at a position, counted as another program would: on the encoded bytes."""
        size = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[self.encoding]
        lines = text.split("\n")
        before = "".join(f"{line}\n" for line in lines[: position.line])
        codec = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}[self.encoding]
        data = (
            lines[position.line].encode(codec)[: position.character * size]
            if position.line < len(lines)
            else b""
        )
        return len(before) + len(data.decode(codec))


def codes(diagnostics: Sequence[types.Diagnostic]) -> list[str]:
    """Return the codes of diagnostics, sorted."""
    return sorted(str(one.code) for one in diagnostics)


def path_of(uri: str) -> Path:
    from pygls.uris import to_fs_path

    return Path(to_fs_path(uri) or "")


@asynccontextmanager
async def editor(
    root: Path,
    *,
    encoding: str = "utf-16",
    resolves: bool = True,
    command: Sequence[str] = SERVER,
    environment: Mapping[str, str] | None = None,
) -> AsyncIterator[Editor]:
    """Start a server and an editor, and end both at the end of the block, where the server must end cleanly."""
    client = LanguageClient("test", "1")
    own = Editor(client, encoding)

    @client.feature("textDocument/publishDiagnostics")  # type: ignore[untyped-decorator]
    def publish(params: types.PublishDiagnosticsParams) -> None:
        own.published.append((time.perf_counter(), params.uri, params.version, list(params.diagnostics)))
        own.log.append({"to": "client", "method": "textDocument/publishDiagnostics", "params": params})
        own.arrived.set()

    await client.start_io(*command, env=environment, limit=1 << 26)
    resolve = types.ClientCodeActionResolveOptions(properties=["edit"]) if resolves else None
    capabilities = types.ClientCapabilities(
        general=types.GeneralClientCapabilities(position_encodings=[types.PositionEncodingKind(encoding)]),
        workspace=types.WorkspaceClientCapabilities(
            workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=resolves)
        ),
        text_document=types.TextDocumentClientCapabilities(
            code_action=types.CodeActionClientCapabilities(resolve_support=resolve)
        ),
    )
    answer = await own.request("initialize", types.InitializeParams(capabilities, root_uri=root.as_uri()))
    assert answer.capabilities.position_encoding == encoding
    own.notify("initialized", types.InitializedParams())
    process = client._server
    assert process is not None
    try:
        yield own
        await own.request("shutdown", None)
        own.notify("exit", None)
        assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
        assert process.stderr is not None
        printed = (await process.stderr.read()).decode()
        assert not printed, printed
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def plain(value: Any, client: LanguageClient) -> Any:
    """Return a message as JSON."""
    return json.loads(json.dumps(value, default=client.protocol._serialize_message))


def play(scene: Coroutine[Any, Any, None]) -> None:
    """Run a session to its end."""
    asyncio.run(scene)
