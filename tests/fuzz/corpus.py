"""Where mutation starts: models as people have them, each a small folder of files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from places import BULLET_DATA

ROOT = Path(__file__).resolve().parents[2]
DATA = BULLET_DATA
#: A larger file costs more time than it shows.
LARGEST = 40_000
#: The thousand random URDFs differ in a mesh's name only.
ALIKE = ("random_urdfs",)


@dataclass(frozen=True)
class Seed:
    """A model to start from.

    Parameters
    ----------
    name : str
        For messages.
    main : str
        The file to lint.
    files : dict of file name to content
        What is mutated; all lie in one folder.
    folder : Path
        Where the files it names besides those are found.
    """

    name: str
    main: str
    files: dict[str, bytes]
    folder: Path

    @property
    def ending(self) -> str:
        """What its kind is called by."""
        return Path(self.main).suffix


def corpus() -> list[Seed]:
    """Return the seeds, always in one order: inputs are told by their number."""
    own = [
        *sorted((ROOT / "tests" / "fuzz" / "seeds").glob("*.urdf")),
        *sorted((ROOT / "tests" / "fuzz" / "seeds").glob("*.xml")),
        *sorted((ROOT / "tests" / "fuzz" / "seeds").glob("*.sdf")),
        *sorted((ROOT / "tests" / "fuzz" / "seeds").glob("*.toml")),
        *sorted((ROOT / "tests" / "oracles").glob("*.sdf")),
        *sorted((ROOT / "tests" / "cases").glob("*/*.*")),
        *sorted((ROOT / "assets").glob("*.*")),
    ]
    foreign = [file for ending in ("urdf", "sdf", "xml") for file in sorted(DATA.rglob(f"*.{ending}"))]
    foreign = [file for file in foreign if not set(ALIKE) & set(file.parts)]
    files = [file for file in (*own, *foreign) if file.stat().st_size <= LARGEST]
    return [_seed(file) for file in files]


def _seed(file: Path) -> Seed:
    """Return a file with those beside it that it names, and the extension that belongs to it."""
    text = file.read_text(errors="replace")
    together = [near for near in sorted(file.parent.glob("*.*")) if near.name in text or near == file]
    if (extension := file.with_suffix(".yaml")).is_file():
        together.append(extension)
    root = DATA if DATA in file.parents else ROOT
    content = {part.name: part.read_bytes() for part in together if part.stat().st_size <= LARGEST}
    return Seed(str(file.relative_to(root)), file.name, content, file.parent)
