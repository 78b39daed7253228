"""A rule failed, or cannot be loaded.

What it does
------------
Runs every rule by itself. One that raises, or that yields what is no finding of its own, is reported with
its code, its name and the reason; the traceback is in the evidence. So is one of a plug-in that takes
longer than ``--rule-seconds`` (60 s) for a file or needs more than 4 GiB. The same for an entry point of the
group ``mbplugin.rules`` that cannot be imported or breaks the rule contract.

Why it matters
--------------
The other rules have run, but what this one would have found is missing: a lint that passed would say too
much, so the exit code is 2.

Example
-------
A rule ``ACME101`` of your own that reads ``analysis.rank`` where the analysis is None.

Remedy
------
Report the traceback in the JSON to who maintains the rule; until it is mended, ``--ignore`` its code.

References
----------
The rule contract in the documentation of ``mbplugin.linter.rule.Rule``.
"""

from __future__ import annotations

from mbplugin.linter.finding import Severity
from mbplugin.linter.unusable import check

SEVERITY: Severity = "error"

__all__ = ["SEVERITY", "check"]
