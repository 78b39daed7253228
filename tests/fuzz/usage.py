"""What a process and its children take: processor time and memory, as the system counts them."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def family(pid: int) -> list[int]:
    """Return a process and those that descend from it."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _fields(int(entry.name))):
            parents[int(entry.name)] = int(fields[1])
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def processor_time(pids: list[int]) -> float:
    """Return the processor time of processes and of their children that have ended, s."""
    ticks = 0
    for pid in pids:
        if fields := _fields(pid):
            ticks += sum(map(int, fields[11:15]))
    return ticks / _TICKS


def memory(pids: list[int], what: str = "VmRSS") -> int:
    """Return the memory of processes, bytes: now, or the most since it was forgotten (``VmHWM``)."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            found = re.search(rf"^{what}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
            total += 1024 * int(found.group(1)) if found else 0
    return total


def forget_peaks(pids: list[int]) -> None:
    """Let the most memory of processes be what they have now."""
    for pid in pids:
        with contextlib.suppress(OSError):
            Path(f"/proc/{pid}/clear_refs").write_text("5")


def addresses() -> int:
    """Return the bytes of addresses that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def _fields(pid: int) -> list[str]:
    """Return the fields of a process behind its name, which may hold anything; empty: it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
