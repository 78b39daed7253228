"""What works in an installation as text: at most one screen of 80 columns and 25 lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mbplugin.errors import command_for
from mbplugin.report.text import PLAIN_WIDTH, Line, wrapped

if TYPE_CHECKING:
    from mbplugin.installation import Cache, Facility, Installation, Package

#: Width of the names of what is listed.
_NAMES = 12


def installation_lines(found: Installation, width: int = PLAIN_WIDTH) -> Iterator[Line]:
    """Yield the verdict, the working parts with their versions, and the install command of each incomplete extra."""
    verdict = "WORKS" if found.works else "IS BROKEN"
    title = f"mbplugin {found.version} {verdict}: Python {found.python}, {found.system}"
    yield from (Line(text, "bold") for text in wrapped(title, width, "", "  "))
    yield from _listed("core", ", ".join(map(_named, filter(_works, found.core))), width)
    if working := ", ".join(map(_named, filter(_works, found.optional))):
        yield from _listed("optional", working, width)
    if complete := ", ".join(one.name for one in found.extras if not one.lacks):
        yield from _listed("extras", complete, width)
    yield from _listed("git", f"{_said(found.git)}; display: {_said(found.display)}", width)
    yield from _listed("browser", _said(found.browser), width)
    yield from _listed("caches", _kept(found.caches), width)
    for package in (*found.core, *found.optional):
        # what is only not installed is listed with the command for it
        if package.installed and not package.works:
            yield from _listed("broken", f"{package.name} {package.reason}", width)
    for name, command in _wanted(found):
        # a command stays on one line, to be copied
        yield Line(f"  {f'no {name}':<{_NAMES}} {command}", "yellow", 2 + _NAMES)


def _wanted(found: Installation) -> Iterator[tuple[str, str]]:
    """Yield the missing parts, and the command that installs them."""
    if broken := tuple(package.name for package in found.core if not package.works):
        yield "core", command_for(broken)
    for extra in found.extras:
        if extra.lacks:
            yield extra.name, extra.install
    for package in found.optional:
        if not package.works and not package.extras:
            yield package.name, command_for((package.name,))


def _listed(name: str, text: str, width: int) -> Iterator[Line]:
    yield from map(Line, wrapped(text, width, f"  {name:<{_NAMES}} ", " " * (_NAMES + 3)))


def _works(package: Package) -> bool:
    return package.works


def _named(package: Package) -> str:
    return f"{package.name} {package.version}".strip()


def _said(one: Facility) -> str:
    return one.what if one.works else f"no, {one.what}"


def _kept(caches: Sequence[Cache]) -> str:
    if not caches:
        return "no folder for them"
    sizes = [f"{one.content} {_state(one)}" for one in caches]
    return f"{min((one.folder for one in caches), key=len)}: {', '.join(sizes)}"


def _state(cache: Cache) -> str:
    if cache.reason:
        return f"not used, since {cache.folder} {cache.reason}"
    return f"{cache.size / 1e6:.1f} MB" if cache.exists else "none yet"
