"""A model as text of another format, how it is held there, and what that format has no place for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mbplugin.errors import BadUsage
from mbplugin.files import replacing
from mbplugin.phrases import counted, one_line

#: The ending of the files of each format.
ENDINGS = {"mjcf": ".xml", "sdf": ".sdf", "urdf": ".urdf", "usd": ".usda", "scene": ".scene.toml"}


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
            The ending of another format, or a file that cannot be written.
        """
        ending = ENDINGS[self.format]
        if not Path(path).name.endswith(ending):
            raise BadUsage(
                f"the model is written as {self.format}, and the file is {str(path)!r}",
                expected=f"a file with the ending {ending}",
            )
        with replacing(Path(path)) as temporary:
            self.write(temporary)

    def write(self, path: Path) -> None:
        """Write the text to a file of any name."""
        path.write_text(self.text, encoding="utf-8")
