"""The JSON documents of ``mbplugin doctor`` and ``init`` (contract: keys may be added, never renamed)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from mbplugin.report.documents.part import Count, Document, Part, key

if TYPE_CHECKING:
    from mbplugin.initialization import NewFile, Survey
    from mbplugin.installation import Installation


class _Package(Part):
    name: str = key("what pip installs")
    extras: list[str] = key("the extras that need it; empty of the core, and of what no extra has")
    installed: bool
    version: str = key("empty if it is not installed, or states none")
    works: bool = key("whether it can be imported, and passes its trial")
    reason: str = key("why it does not work; empty where it does")


class _Extra(Part):
    name: str
    works: bool
    lacks: list[str] = key("its packages that are not installed, or do not work")
    install: str = key("the command that installs them; empty if nothing is missing")


class _Cache(Part):
    content: str
    folder: str
    exists: bool
    size: Count = key("bytes")
    used: bool
    reason: str = key("why it is not used; empty where it is")


class _Facility(Part):
    works: bool
    what: str = key("version or location; the reason if it does not work")


class DoctorOutput(Document):
    """What of an installation works here."""

    version: str = key("of mbplugin")
    python: str = key("version")
    system: str = key("operating system and processor")
    works: bool = key("whether the core works; the exit code is 1 otherwise")
    core: list[_Package]
    optional: list[_Package]
    extras: list[_Extra]
    caches: list[_Cache] = key("empty where this user has no folder for them")
    git: _Facility
    display: _Facility
    browser: _Facility = key("the program that prints a PDF")


def doctor_document(found: Installation) -> dict[str, Any]:
    """Return the JSON document of ``mbplugin doctor``."""
    return DoctorOutput.of(
        found,
        extras=[_Extra.of(one, works=not one.lacks) for one in found.extras],
        caches=[_Cache.of(one, used=not one.reason) for one in found.caches],
    )


class _Reasoned(Part):
    file: str
    reason: str


class _Exclusion(Part):
    file: str
    pattern: str = key("as it stands in the configuration")
    reason: str


class _NewFile(Part):
    name: str = key("relative to the root")
    text: str
    exists: bool = key("whether there is one already, which is left alone")
    addition: str = key("lines to add to the existing file; empty if it has all")


class InitOutput(Document):
    """What a repository holds, and the files that it got."""

    root: str
    in_git: bool
    host: Literal["github", "gitlab", "other"] = key("by the names of the remotes")
    dry_run: bool = key("whether nothing was written")
    robots: list[str] = key("files that are linted")
    excluded: list[_Exclusion]
    skipped: list[_Reasoned] = key("files that a lint skips by itself")
    findings: Count = key("that no baseline stated before has")
    lasting: Count = key("of these, those that fail and that no baseline can hold")
    files: list[_NewFile]


def init_document(found: Survey, files: Sequence[NewFile], dry_run: bool) -> dict[str, Any]:
    """Return the JSON document of ``mbplugin init``."""
    return InitOutput.of(
        found,
        root=str(found.root),
        dry_run=dry_run,
        robots=[report.source for report in found.reports],
        skipped=[_Reasoned.of(one) for one in found.skipped],
        findings=len(found.findings),
        lasting=len(found.lasting),
        files=files,
    )
