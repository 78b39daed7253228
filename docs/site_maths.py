"""Formulas of the pages as MathML, which browsers show from disk, without a script and without a network.

Pages write them between dollars, as code hosts do. They are taken out before Markdown reads the page, because it would
take their underscores for emphasis, and put in afterwards.
"""

from __future__ import annotations

import re

from latex2mathml.converter import convert

#: Code, which stays as it is, then formulas of their own line, then those in a sentence.
_PARTS = re.compile(
    r"^```.*?^```|`[^`\n]+`|\$\$(?P<display>.+?)\$\$|\$(?P<inline>[^\s$](?:[^$]*?[^\s$])?)\$",
    re.DOTALL | re.MULTILINE,
)
_PLACE = re.compile(r"formula(\d+)place")


def taken_out(markdown: str) -> tuple[str, list[str]]:
    """Return a page with places for its formulas, and these in MathML."""
    formulas: list[str] = []

    def replaced(found: re.Match[str]) -> str:
        for kind in ("display", "inline"):
            if text := found[kind]:
                made = convert(text.strip(), display="block" if kind == "display" else "inline")
                # what is too wide for a narrow screen scrolls
                formulas.append(f'<span class="formula">{made}</span>' if kind == "display" else made)
                return f"formula{len(formulas) - 1}place"
        return found[0]

    return _PARTS.sub(replaced, markdown), formulas


def put_in(html: str, formulas: list[str]) -> str:
    """Return the content of a page with its formulas in their places."""
    return _PLACE.sub(lambda found: formulas[int(found[1])], html)
