"""What every command line must do: end with an exit code that means something, and say what it means."""

from __future__ import annotations

import contextlib
import io
import json
import re
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from unittest import mock

import jsonschema

from .case import Case
from .reports import damage

#: Exit codes of all commands, and of those that find something.
CODES, FINDING = (0, 2), ("lint", "crosscheck", "engines", "close", "diff")
#: Characters of a JSON that is validated in part, and how many entries of a list then count, at each end.
_LONG, _ENDS = 3_000_000, 200
#: What lint reports where a rule of ours or a whole run failed.
_BUGS = ("MB911", "MB912")
#: A number that is none, and neither a quoted text of a file nor a name before its type in parentheses.
_NO_NUMBER = re.compile(r"(?<![\w'\"=./-])nan(?![\w'\"./]| \()")


@dataclass(frozen=True)
class Outcome:
    """Exit code, stdout, stderr, and what Python warned of."""

    code: object
    out: str
    err: str
    warned: tuple[str, ...] = ()


def outcome(arguments: tuple[str, ...], stdin: bytes = b"") -> Outcome:
    """Run a command line in this process, in the working folder."""
    from mbplugin.cli.app import run

    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)]
    given = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    with (
        warnings.catch_warnings(record=True) as caught,
        mock.patch("sys.stdin", given),
        contextlib.redirect_stdout(streams[0]),
        contextlib.redirect_stderr(streams[1]),
    ):
        warnings.simplefilter("always")
        code: object = run(arguments)
    out, err = (stream.buffer.getvalue().decode("utf-8", "replace") for stream in streams)  # type: ignore[attr-defined]
    # of other libraries, Python itself hides what concerns their authors only
    told = [one for one in caught if not issubclass(one.category, (DeprecationWarning, ResourceWarning))]
    return Outcome(
        code,
        out,
        err,
        tuple(f"{one.category.__name__}: {one.message} at {one.filename}:{one.lineno}" for one in told),
    )


def failure_of(case: Case, folder: Path) -> str:
    """Return what a case does that must not happen, or nothing."""
    stdin = next((content for name, content in case.files.items() if name.startswith("model.")), b"")
    if case.before:
        first = replace(case, arguments=case.before, before=())
        if failure := failure_of(first, folder):
            return failure
        damage(folder, case.damage)
    before = _written(case, folder)
    try:
        with _in(folder):
            found = outcome(case.arguments, stdin)
    except BaseException:
        return traceback.format_exc()
    after = _written(case, folder)
    # a run that was refused has written nothing: the report of an earlier one is still there
    return next(_failures(case, found, after if after != before else None), "")


def _written(case: Case, folder: Path) -> tuple[int, str] | None:
    """Return the file of ``--output`` as it is, with the time at which it was written; None where there is none."""
    arguments = case.arguments
    if "--output" in arguments[:-1]:
        # a name may be longer than any folder takes
        with contextlib.suppress(OSError, ValueError):
            file = folder / arguments[arguments.index("--output") + 1]
            if file.is_file() and file.name not in case.files:
                return file.stat().st_mtime_ns, file.read_text(errors="replace")
    return None


@contextlib.contextmanager
def _in(folder: Path) -> Iterator[None]:
    import os

    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _failures(case: Case, found: Outcome, written: tuple[int, str] | None) -> Iterator[str]:
    command = case.arguments[0]
    if "Traceback" in found.err or "bug in mbplugin" in found.err:
        yield found.err.split("\nmbplugin: this is a bug")[0]
    if found.code not in CODES and not (found.code == 1 and command in FINDING):
        yield f"{command} ended with exit code {found.code!r}"
    if found.code == 2 and not found.err.strip() and not found.out.strip():
        yield f"{command} ended with exit code 2 without a word"
    for line in found.err.splitlines():
        if line.strip() and not line.startswith(("mbplugin", "Usage:")):
            yield f"{command} has a line on stderr that is not a sentence of ours: {line[:150]!r}"
    for warning in found.warned:
        yield f"{command} warns: {warning}"
    if command == "lint":
        # SARIF lists all rules
        reported = {code for code in _BUGS if code in found.out.replace(f'"id": "{code}"', "")}
        yield from (f"lint reports {code}: {_evidence(found.out, code)}" for code in sorted(reported))
    yield from _bad_document(case, found, written)


def _evidence(out: str, code: str) -> str:
    """Return the traceback that a finding about ourselves has, or the line that tells it."""
    with contextlib.suppress(ValueError, KeyError, TypeError):
        document = json.loads(out)
        for run in document.get("runs", [document]):
            for finding in run["findings"]:
                if finding["code"] == code:
                    return str(finding["evidence"].get("traceback", finding["message"]))
    lines = out.splitlines()
    return next((" ".join(lines[k : k + 4])[:300] for k, line in enumerate(lines) if code in line), "")


def _bad_document(case: Case, found: Outcome, written: tuple[int, str] | None) -> Iterator[str]:
    command, arguments = case.arguments[0], case.arguments
    kind, text = _format(arguments), found.out
    if "--output" in arguments[:-1]:
        text = written[1] if written else ""
    if not text or command == "schema":
        return
    if kind in ("json", "sarif"):
        try:
            document = json.loads(text, parse_constant=_refuse)
        except (ValueError, AssertionError) as error:
            yield f"{command} prints no JSON: {error}"
            return
        if kind == "json":
            # of thousands of samples, which are all alike, the validator looks at some: it is slower than the commands
            yield from _unlike_schema(command, _shortened(document) if len(text) > _LONG else document)
    # a comparison quotes what an earlier report holds, which may be the text nan
    elif (
        command not in ("lint", "config", "rule")
        and kind != "html"
        and (place := _NO_NUMBER.search(text := re.sub(r"nan → |(gone|new) nan\b", "→ ", text)))
    ):
        yield f"{command} prints nan: {text[max(0, place.start() - 80) : place.end() + 20]!r}"


def _format(arguments: tuple[str, ...]) -> str:
    """Return the format that a command line asks for, or that the ending of its file has."""
    if "--output-format" in arguments[:-1]:
        return arguments[arguments.index("--output-format") + 1]
    file = arguments[arguments.index("--output") + 1] if "--output" in arguments[:-1] else ""
    return {".json": "json", ".html": "html", ".htm": "html"}.get(Path(file).suffix.lower(), "text")


def _refuse(text: str) -> float:
    raise AssertionError(f"{text} in it")


def _shortened(document: object) -> object:
    """Return a document whose lists have their first and last entries only."""
    if isinstance(document, dict):
        return {key: _shortened(value) for key, value in document.items()}
    if isinstance(document, list):
        kept = document if len(document) <= 2 * _ENDS else [*document[:_ENDS], *document[-_ENDS:]]
        return [_shortened(value) for value in kept]
    return document


def _unlike_schema(command: str, document: object) -> Iterator[str]:
    try:
        _validator(command).validate(document)
    except jsonschema.ValidationError as error:
        yield f"{command} prints JSON that its schema forbids: {error.json_path}: {error.message[:120]}"


@cache
def _validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads(outcome(("schema", name)).out))
