"""A model as text of another format, how it is held there, and what that format has no place for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mbplugin.files import replacing
from mbplugin.phrases import counted, one_line


@dataclass(frozen=True)
class Written:
    """The result of a writer.

    Parameters
    ----------
    format : str
        ``mjcf`` or ``scene``.
    text : str
        The file.
    held : tuple of str
        What is written in another way than in the model, one clause each; the motion is the same.
    left_out : tuple of str
        What the format has no place for, one clause each.
    """

    format: str
    text: str
    held: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def __repr__(self) -> str:
        facts = (
            counted(len(self.text.splitlines()), "line"),
            counted(len(self.left_out), "part") + " left out",
        )
        return one_line(self, self.format, facts)

    def save(self, path: str | Path) -> None:
        """Write the text to a file, whole or not at all.

        Raises
        ------
        BadUsage
            The file cannot be written.
        """
        with replacing(Path(path)) as temporary:
            temporary.write_text(self.text, encoding="utf-8")
