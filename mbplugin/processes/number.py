"""How many processes a command may start."""

from __future__ import annotations

from mbplugin.errors import BadUsage

#: More than any one machine has cores for; each costs memory for its imports.
MOST = 1024
#: Numbers from here on are not printed in full.
_LONGEST = 10**12


def require_possible(number: int) -> int:
    """Return a number of processes, or −1 for all cores.

    Raises
    ------
    BadUsage
        No number of processes that can be started.
    """
    if number == 0 or not -1 <= number <= MOST:
        count = str(number) if abs(number) < _LONGEST else f"{str(number)[:4]}…"
        raise BadUsage(f"{count} processes were requested", expected=f"1 to {MOST}, or -1 for all cores")
    return number
