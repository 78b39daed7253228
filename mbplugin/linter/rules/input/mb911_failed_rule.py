"""A rule failed, or cannot be loaded.

What it does
------------
Runs every rule separately. A rule that raises an exception, or yields anything but findings of its own, is
reported with its code, its name and the reason; the traceback is in the evidence. The same holds for a plug-in
rule that takes longer than ``--rule-seconds`` (60 s) for a file or needs more than 4 GiB, and for an entry point
of the group ``mbplugin.rules`` that cannot be imported or violates the rule contract.

Why it matters
--------------
The other rules have run, but the findings of this one are missing: the lint is not
complete, so the exit code is 2.

Example
-------
A rule ``ACME101`` of your own that reads ``analysis.rank`` where the analysis is None.

Remedy
------
Report the traceback in the JSON to the maintainer of the rule; until it is fixed, ``--ignore`` its code.

References
----------
The rule contract in the documentation of ``mbplugin.linter.rule.Rule``.
"""

from __future__ import annotations

from mbplugin.linter.finding import Severity
from mbplugin.linter.unusable import check

SEVERITY: Severity = "error"

__all__ = ["SEVERITY", "check"]
