"""The documents that are open in an editor, and the texts and places of those and other files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mbplugin.editor.positions import Positions, encoded
from mbplugin.errors import UnreadableFile
from mbplugin.files import read_bounded
from mbplugin.linter.fixes.edits import SourceText
from mbplugin.phrases import one_line_repr
from mbplugin.readers.paths import real_path

#: Places in longer files are not looked for, bytes.
_LONGEST = 20_000_000


@one_line_repr
@dataclass(frozen=True)
class OpenDocument:
    """A document as its client has it.

    Parameters
    ----------
    uri : str
        As the client writes it.
    path : str
    version : int
    text : str
    """

    uri: str
    path: str
    version: int
    text: str

    @cached_property
    def content(self) -> bytes:
        """The bytes that readers see in place of those of the file."""
        return encoded(self.text)


class Documents:
    """All open documents, by the real path of their files.

    Parameters
    ----------
    encoding : "utf-8", "utf-16" or "utf-32"
        Encoding whose units the client counts.
    """

    def __init__(self, encoding: str = "utf-16") -> None:
        self.encoding = encoding
        self._open: dict[str, OpenDocument] = {}
        self._positions: dict[str, Positions | None] = {}

    def put(self, document: OpenDocument) -> None:
        """Add a document, or replace its text."""
        self._open[str(real_path(document.path))] = document

    def remove(self, path: str) -> None:
        """Forget a document, so that the content of its file counts again."""
        self._open.pop(str(real_path(path)), None)

    def get(self, path: str) -> OpenDocument | None:
        """Return the open document of a file; None if it is not open."""
        return self._open.get(str(real_path(path)))

    @property
    def contents(self) -> dict[str, bytes]:
        """The contents of the open documents by real path, as readers look them up."""
        return {path: document.content for path, document in self._open.items()}

    def uri(self, path: str) -> str:
        """Return the URI of a file: that of the client if the file is open."""
        document = self.get(path)
        return document.uri if document else Path(path).absolute().as_uri()

    def forget_positions(self) -> None:
        """Forget the places in files, which may change from one request to the next."""
        self._positions.clear()

    def positions(self, path: str) -> Positions | None:
        """Return the places in a file as its document or the disk has it; None if it cannot be read."""
        if path not in self._positions:
            self._positions[path] = self._read(path)
        return self._positions[path]

    def _read(self, path: str) -> Positions | None:
        if document := self.get(path):
            return Positions(document.text, self.encoding)
        try:
            source = SourceText(path, read_bounded(Path(path), _LONGEST))
        except UnreadableFile:
            return None
        return Positions(source.data.decode(source.encoding).removeprefix("\ufeff"), self.encoding)
