"""The text of a finding in an annotation: what is the matter and what to do, in at most 300 characters."""

from __future__ import annotations

from mbplugin.linter.finding import LONGEST, Finding
from mbplugin.phrases import shortened
from mbplugin.visible import visible


def annotation(finding: Finding) -> str:
    """Return the message and, on a line of its own, the sentence of the help where there is room for it.

    Lines to paste are in the text and in the JSON of the lint.
    """
    message = shortened(visible(finding.message), LONGEST)
    sentence = visible(next(iter(finding.help.splitlines()), "")).removesuffix(":")
    if not sentence or sentence in message:
        return message
    both = f"{message}\n{sentence}"
    return both if len(both) <= LONGEST else message
