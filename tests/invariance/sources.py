"""The robots of the tests, and random mechanisms with loops: what the transformations begin with."""

from __future__ import annotations

import importlib.metadata
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

import mbplugin as mb
from closed_mechanisms import dyads
from mbplugin.analysis import Analysis
from mbplugin.errors import MbPluginError
from places import BULLET_DATA
from random_mechanisms import loop_mechanism

from .on_mechanism import Posed
from .urdf_file import Urdf, at_random, read
from .verdict import SAMPLES, Changed

TESTS = Path(__file__).resolve().parents[1]
DATA = BULLET_DATA
#: How many random mechanisms of either kind.
RANDOM = 40


class Unusable(Exception):
    """A file that is not a mechanism; other tests say what is said about it."""


@dataclass
class Source:
    """A model to begin with; seeds are made of its name.

    Parameters
    ----------
    name : str
        A file, from its collection on, or a random mechanism.
    file : Path, optional
    folder : Path
        Where transformed files are written.
    """

    name: str
    file: Path | None
    folder: Path

    @property
    def seed(self) -> int:
        """The same for everybody: no hash of Python."""
        return zlib.crc32(self.name.encode())

    @cached_property
    def urdf(self) -> Urdf | None:
        """The file with loops added at a random pose, where it is a URDF that can be rewritten."""
        robot = read(self.file) if self.file is not None and self.file.suffix == ".urdf" else None
        if robot is None:
            return None
        rng = np.random.default_rng(self.seed)
        grounded = any(link.get("name") == "world" for link in robot.findall("link"))
        try:
            return at_random(
                robot, None if grounded else str(rng.choice(["fixed", "free"])), self.folder, rng
            )
        except MbPluginError as error:
            raise Unusable(str(error)) from error

    @cached_property
    def analysis(self) -> Analysis:
        """The verdict before anything is transformed."""
        try:
            if self.urdf is not None:
                return Changed(self.urdf.load(self.folder), self.urdf.q).analysis()
            if self.file is not None:
                scene = mb.load(self.file)
                return mb.analyze(scene.mechanism, scene.state.q, samples=SAMPLES)
            mech, q = self._random()
            return mb.analyze(mech, q, samples=SAMPLES)
        except MbPluginError as error:
            raise Unusable(str(error)) from error

    @cached_property
    def posed(self) -> Posed:
        """The mechanism at its closed pose."""
        return Posed(self.analysis.mechanism, self.analysis.q)

    def _random(self):
        family, number = self.name.split()[1:]
        if family == "dyads":
            rng = np.random.default_rng(int(number))
            return dyads(
                int(number), [str(rng.choice(["RRR", "RPR", "RRP"])) for _ in range(1 + int(number) % 3)]
            )
        return loop_mechanism(int(number), 1 + int(number) % 5, family)


def files() -> Iterator[tuple[str, Path]]:
    """Yield every robot of the tests: name and file."""
    for pattern in ("oracles/*.sdf", "cases/*/*.*", "fuzz/seeds/*.*", "../assets/*.*"):
        for file in sorted(TESTS.glob(pattern)):
            if file.suffix in (".urdf", ".sdf", ".xml", ".toml"):
                yield str(file.resolve().relative_to(TESTS.parent)), file
    for ending in ("urdf", "sdf", "xml"):
        for file in sorted(DATA.rglob(f"*.{ending}")):
            # a thousand that differ in a mesh only
            if "random_urdfs" not in file.parts:
                yield f"pybullet_data/{file.relative_to(DATA)}", file


def robots() -> Iterator[tuple[str, Path]]:
    """Yield the robots of example-robot-data, where they are installed."""
    try:
        found = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        return
    for file in sorted(Path(str(f.locate())) for f in found if f.suffix == ".urdf"):
        yield f"example-robot-data/{file.parent.name}/{file.name}", file


def sources(folder: Path) -> list[Source]:
    """Return all sources, in one order: files, then random mechanisms."""
    named = [*files(), *robots()]
    families = ("planar", "spherical", "generic", "dyads")
    random = [f"random {family} {k}" for k in range(RANDOM) for family in families]
    return [Source(name, file, folder) for name, file in named] + [Source(n, None, folder) for n in random]
