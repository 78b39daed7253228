"""The glossary: every term has one meaning and occurs in outputs, and the pages lead to it."""

from __future__ import annotations

import pytest

from command_line import ASSETS, FOUR_BAR, ROOT, call
from html_pages import page_of, parsed
from mbplugin.report.record import TERMS, term_of

ARM = str(ASSETS / "arm_6r.scene.toml")
CRANK = str(ASSETS / "crank_rocker.scene.toml")
MIMIC = str(ROOT / "tests" / "cases" / "ok" / "mb128.urdf")
#: Commands whose outputs, texts and pages together, use every term.
COMMANDS = (
    ("lint", FOUR_BAR, "-v", "--group", "j0,j3"),
    ("reactions", FOUR_BAR),
    ("estop", ARM, "--payload", "5"),
    ("stop-table", ARM, "--category", "0"),
    ("simulate", CRANK, "--duration", "0.2", "--lock", "O1@0.1"),
    ("crosscheck", CRANK, "--duration", "0.1"),
)


def test_every_form_belongs_to_one_term() -> None:
    forms = [form.lower() for term in TERMS for form in term.words]
    assert len(forms) == len(set(forms))
    assert len({term.anchor for term in TERMS}) == len(TERMS)
    for term in TERMS:
        assert term.meaning[0].isupper() or term.meaning.startswith("IEC")
        assert term.meaning.endswith(".") and "``" not in term.meaning
    assert term_of("Redundant Constraints") is term_of("overconstrained")
    assert term_of("robot") is None


@pytest.mark.long_after(1)
@pytest.mark.parametrize("arguments", COMMANDS[:3], ids=lambda arguments: arguments[0])
def test_heads_that_are_terms_lead_to_them(arguments: tuple[str, ...]) -> None:
    page = parsed(page_of(*arguments))
    meanings = {one.get("id"): one for one in page.xpath("//dl[@class='terms']/div")}
    links = page.xpath("//a[@class='term']")
    assert len(links) >= 2
    assert {link.get("href")[1:] for link in links} == set(meanings)
    for link in links:
        term = term_of(link.text)
        assert term is not None
        assert meanings[f"term-{term.anchor}"].xpath("dd/text()") == [term.meaning]
    heads = [head.text_content() for head in page.xpath("//th[not(a)] | //dt[not(a) and not(dfn)]")]
    assert [head for head in heads if term_of(head)] == []


@pytest.mark.long
def test_every_term_occurs_in_an_output() -> None:
    """In texts, on pages before their list of terms, or as a key of a document."""
    seen = []
    for arguments in (*COMMANDS, ("lint", MIMIC)):
        seen.append(call(*arguments).out)
        seen.append(call(*arguments, "--output-format", "html").out.split('class="terms"')[0])
        seen.append(call(*arguments, "--output-format", "json").out.replace("_", " "))
    text = "".join(seen).lower()
    unseen = [term.name for term in TERMS if not any(form.lower() in text for form in term.words)]
    assert unseen == []
