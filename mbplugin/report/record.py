"""The record of a report: when, by which version and command, and from which files it was made."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone

from mbplugin.errors import BadUsage
from mbplugin.readers.hashed import Source
from mbplugin.version import __version__


@dataclass(frozen=True)
class Record:
    """What a reader needs to make a report again.

    Parameters
    ----------
    date : str
        ISO 8601, UTC, to the second.
    version : str
        Of mbplugin.
    command : str
        The command line, quoted for a shell.
    robot : str
        Name of the model; empty where a report has none.
    files : tuple of Source
        What was read, each with its SHA-256.
    standard : str, optional
        The edition of the standard whose form the report follows.
    """

    date: str
    version: str
    command: str
    robot: str
    files: tuple[Source, ...]
    standard: str | None = None


def record_of(command: str, robot: str, files: Iterable[Source], standard: str | None = None) -> Record:
    """Return the record of a report that is made now.

    Raises
    ------
    BadUsage
        ``SOURCE_DATE_EPOCH`` is set, and is no time.
    """
    return Record(
        time_of_report().strftime("%Y-%m-%dT%H:%M:%SZ"),
        __version__,
        command,
        robot,
        tuple(dict.fromkeys(files)),
        standard,
    )


def record_facts(record: Record) -> Iterator[str]:
    """Yield what a record says, a line each."""
    yield f"date: {record.date}"
    yield f"mbplugin: {record.version}"
    yield f"command: {record.command}"
    yield f"robot: {record.robot}"
    yield from (f"file: {one}" for one in record.files)
    if record.standard is not None:
        yield f"form: {record.standard}"


def time_of_report() -> datetime:
    """Return the time of ``SOURCE_DATE_EPOCH``, else the present one, in UTC; files that have a date have this one.

    Raises
    ------
    BadUsage
        ``SOURCE_DATE_EPOCH`` is set, and is no time.
    """
    stated = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        return datetime.now(timezone.utc) if not stated else datetime.fromtimestamp(int(stated), timezone.utc)
    except (ValueError, OverflowError, OSError):
        raise BadUsage(
            f"SOURCE_DATE_EPOCH is {stated!r}", expected="whole seconds since 1970, or no such variable"
        ) from None
