"""How long does it take from a key in an editor to the underlines?

    python benchmarks/editor_latency.py [FILE…] [--keys N] [--pause S]

A client speaks with ``mbplugin server`` over stdin and stdout, as an editor does. A key is a digit that is typed into
a number of the file. The time runs from the change that the client sends to the diagnostics of that version that it
receives: to the first ones, and to the complete ones, which differ where a model is linted in two steps. The last
columns have the processor time of a key in the server and the process that gives the first answer, one after the other,
that of a plain lint in one warm process, and the load of the machine. On an idle machine the first answer takes its
processor time and about five milliseconds; other programs lengthen the waiting, and processor time much less.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import statistics
import sys
import time
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from _models import table
from lsprotocol import types
from pygls.lsp.client import LanguageClient

from mbplugin.linter.batch import lint_one_of_many
from mbplugin.linter.targets import settings_for, target_of

ASSETS = Path(__file__).resolve().parent.parent / "assets"
ROBOTS = "share/example-robot-data/robots"
#: A number in a text, of which a key changes the last digit.
_NUMBER = re.compile(r"(?<=[\"\s=])\d+\.\d+(?=[\"\s,\]])")
#: Time after which no more diagnostics of a version are expected, s: the longest at first, and later at least the
#: shortest and this many times the longest time so far from the first to the complete ones.
_LONGEST, _SHORTEST, _TIMES = 1.0, 0.25, 2.5
#: Keys that are typed before the measurement begins, with the longest waiting.
_FIRST_KEYS = 3
COLUMNS = [
    "file",
    "links",
    "first p50",
    "first p95",
    "complete p50",
    "complete p95",
    "processor p50",
    "processor p95",
    "lint",
    "load",
]


@dataclass
class Arrivals:
    """The diagnostics that have come: time, URI and version."""

    times: list[tuple[float, str, int | None]] = field(default_factory=list)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)


def models() -> list[Path]:
    """Return the models of the table that are installed."""
    found = [ASSETS / "four_bar.urdf", ASSETS / "minitaur.scene.toml"]
    if spec := find_spec("pybullet_data"):
        folder = Path((spec.submodule_search_locations or [""])[0])
        found += [folder / "quadruped" / "minitaur.urdf", folder / "humanoid" / "humanoid.urdf"]
    # example-robot-data is a package of cmeel, whose files lie beside the Python packages
    for entry in map(Path, sys.path):
        if (robots := entry / "cmeel.prefix" / ROBOTS).is_dir():
            found += [
                robots / "ur_description" / "urdf" / "ur5_robot.urdf",
                robots / "panda_description" / "urdf" / "panda.urdf",
                robots / "simple_humanoid_description" / "urdf" / "simple_humanoid.urdf",
                robots / "talos_data" / "robots" / "talos_full_v2.urdf",
            ]
    return [file for file in found if file.exists()]


def processor_time(server: int) -> float:
    """Return the processor time of a server and of the first process that it has started, s; 0 if it is not known."""
    proc = Path("/proc")
    try:
        children = (proc / f"{server}/task/{server}/children").read_text(encoding="ascii").split()
        parts = [
            (proc / name / "schedstat").read_text(encoding="ascii") for name in (str(server), *children[:1])
        ]
    except OSError:
        return 0.0
    return sum(int(part.split()[0]) for part in parts) * 1e-9


async def latencies(file: Path, keys: int, pause: float) -> tuple[list[float], list[float], list[float]]:
    """Return the times to the first and to the complete diagnostics of each key, and its processor time, s."""
    client, arrivals = LanguageClient("benchmark", "1"), Arrivals()

    @client.feature("textDocument/publishDiagnostics")  # type: ignore[untyped-decorator]
    def publish(params: types.PublishDiagnosticsParams) -> None:
        arrivals.times.append((time.perf_counter(), params.uri, params.version))
        arrivals.arrived.set()

    await client.start_io(sys.executable, "-P", "-m", "mbplugin", "server", limit=1 << 26)
    request: Any = types.InitializeParams(types.ClientCapabilities(), root_uri=file.parent.as_uri())
    await client.protocol.send_request_async("initialize", request)
    client.protocol.notify("initialized", types.InitializedParams())
    text, uri = file.read_text(encoding="utf-8"), file.as_uri()
    document = types.TextDocumentItem(uri, "xml", 0, text)
    client.protocol.notify("textDocument/didOpen", types.DidOpenTextDocumentParams(document))
    await until(arrivals, uri, 0, _LONGEST)
    numbers = list(_NUMBER.finditer(text))
    first, complete, used, apart = [], [], [], 0.0
    assert client._server is not None
    server = client._server.pid
    for version in range(1, _FIRST_KEYS + keys + 1):
        measured = version > _FIRST_KEYS
        # a key changes one digit, far from the last one
        number = numbers[version * 7 % len(numbers)]
        typed = text[: number.end() - 1] + str(version % 10) + text[number.end() :]
        whole = types.TextDocumentContentChangeWholeDocument(typed)
        change = types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(version, uri), [whole]
        )
        before, begin = processor_time(server), time.perf_counter()
        client.protocol.notify("textDocument/didChange", change)
        times = await until(arrivals, uri, version, max(_SHORTEST, _TIMES * apart) if measured else _LONGEST)
        apart = max(apart, times[-1] - times[0])
        if measured:
            first.append(times[0] - begin)
            complete.append(times[-1] - begin)
            used.append(processor_time(server) - before)
        await asyncio.sleep(pause)
    await client.protocol.send_request_async("shutdown", None)
    client.protocol.notify("exit", None)
    await client.stop()
    return first, complete, used


async def until(arrivals: Arrivals, uri: str, version: int, quiet: float) -> list[float]:
    """Return the times at which diagnostics of a version came, when no more have come for ``quiet`` seconds."""
    limit = 60.0
    while True:
        arrivals.arrived.clear()
        times = [when for when, there, known in arrivals.times if (there, known) == (uri, version)]
        if times:
            limit = quiet
        try:
            await asyncio.wait_for(arrivals.arrived.wait(), limit)
        except asyncio.TimeoutError:
            if times:
                return times
            raise


def lint_time(file: Path) -> tuple[int, float]:
    """Return the number of links of a model, and the median processor time of a lint in this process, s."""
    target = target_of(str(file), settings_for(file))
    times, links = [], 0
    for _ in range(9):
        begin = time.process_time()
        report = lint_one_of_many(target, {})
        times.append(time.process_time() - begin)
        links = len(report.scene.mechanism.bodies) if report.scene else 0
    return links, statistics.median(times[2:])


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the diagnostics of the language server.")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--keys", type=int, default=10, help="keys typed into each file")
    parser.add_argument("--pause", type=float, default=0.1, help="time between two keys, s")
    arguments = parser.parse_args()
    rows = []
    for file in [file.absolute() for file in arguments.files] or models():
        first, complete, used = asyncio.run(latencies(file, arguments.keys, arguments.pause))
        links, plain = lint_time(file)
        shown = [f"{1000 * value:.0f}" for values in (first, complete, used) for value in quantiles(values)]
        load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
        rows.append([file.name, str(links), *shown, f"{1000 * plain:.0f}", load])
    table("From a key to the underlines, ms", COLUMNS, rows)


def quantiles(values: list[float]) -> tuple[float, float]:
    """Return the median and the 95th percentile."""
    ordered = sorted(values)
    return statistics.median(ordered), ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))]


if __name__ == "__main__":
    main()
