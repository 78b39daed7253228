"""What the site has beside the pages of this folder: rule pages, help, links; and the text of glossary and gallery.

MkDocs calls the ``on_…`` functions while it builds. ``python -P docs/site_hooks.py`` writes glossary and gallery anew.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from markdown.extensions.toc import slugify
from mkdocs.structure.files import File, Files
from site_links import linked
from site_maths import put_in, taken_out

ROOT = Path(__file__).resolve().parent.parent
#: A code in the first column of the table of rules.
RULE_ROW = re.compile(r"^\| (MB\d{3}) \|", re.MULTILINE)
GUIDES, RULES = "Guides", "Rules"
#: Pages of names and definitions, in which terms are not links.
PLAIN = ("glossary.md", "commands.md", "scene.md", "api.md")
FIRST_DOCSTRING = re.compile(r'"""(.*?)(?:\n\n|""")', re.DOTALL)
#: What users import besides the public names.
FURTHER = (
    "mbplugin.testing.assert_lints",
    "mbplugin.linter.rule.Rule",
    "mbplugin.linter.rule.Finding",
    "mbplugin.model.spatial.Spring",
    "mbplugin.model.spatial.JointSpring",
    "mbplugin.simulation.options.UserEvent",
    "mbplugin.report.html.html_page",
    "mbplugin.report.html.chapters.Chapter",
)


def on_config(config: Any) -> Any:
    """Add to the navigation the guides that it does not name, and one page for each rule."""
    from mbplugin.linter.rule import built_in_rules

    named = set(_files_of(config.nav))
    guides = sorted(path.name for path in Path(config.docs_dir).glob("*.md") if path.name not in named)
    section(config.nav, GUIDES).extend(guides)
    section(config.nav, RULES).extend(f"rules/{rule.code}.md" for rule in built_in_rules())
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages and pictures that are not files of this folder."""
    from mbplugin.linter.rule import built_in_rules

    for rule in built_in_rules():
        files.append(File.generated(config, f"rules/{rule.code}.md", content=rule_page(rule)))
    files.append(File.generated(config, "commands.md", content=commands_page()))
    files.append(File.generated(config, "api.md", content=api_page()))
    files.append(File.generated(config, "scene.md", content=scene_page()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Link the table of rules to their pages, and take the formulas out."""
    if page.file.src_uri == "rules.md":
        markdown = RULE_ROW.sub(r"| [\1](rules/\1.md) |", markdown)
    markdown, page.meta["formulas"] = taken_out(markdown)
    return markdown


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """Link the codes of rules to their pages, and the first of each term to the glossary; put the formulas in."""
    html = linked(html, page.url, terms=page.file.src_uri not in PLAIN)
    return put_in(html, page.meta["formulas"])


def section(nav: list[dict[str, Any]], title: str) -> list[Any]:
    """Return the list of pages of a section of the navigation, to be added to."""
    (pages,) = [entry[title] for entry in nav if title in entry]
    assert isinstance(pages, list)
    return pages


#: A tag of a file format, which Markdown would take for one of its own.
TAG = re.compile(r"(<[^<>]+>)")


def _files_of(nav: Any) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    entries = nav.values() if isinstance(nav, dict) else nav
    return [file for entry in entries for file in _files_of(entry)]


def rule_page(rule: Any) -> str:
    """Return the page of a rule: what ``mbplugin rule CODE`` prints; its underlined titles are Markdown."""
    summary, _, rest = rule.documentation.partition("\n\n")
    severity = f"Usual severity: **{rule.severity}**. On the command line: `mbplugin rule {rule.code}`."
    from mbplugin.linter.fixes.proposals import fix_of

    parts = (
        f"# {rule.code} {rule.name}",
        summary,
        severity,
        rest,
        "## Fix",
        TAG.sub(r"`\1`", fix_of(rule.code)),
    )
    return "\n\n".join((*parts, "[All rules](../rules.md)\n"))


def api_page() -> str:
    """Return the page of the public names; their docstrings are put in by mkdocstrings."""
    import mbplugin as mb

    intro = """# Python

    import mbplugin as mb

is quick: numpy and the rest are imported with the first name that is used. All numbers are in SI units and
radians, quaternions are xyzw. What cannot be used raises `MbPluginError`, which says what is wrong, where,
what was expected, and what to do.
"""
    functions = [name for name in mb.__all__ if name.islower()]
    values = [name for name in mb.__all__ if name not in functions]
    parts = [intro, *map(_entry, functions), "\n## What they take and return\n", *map(_entry, values)]
    return "".join([*parts, *map(_entry, FURTHER)])


def _entry(name: str) -> str:
    full = name if "." in name else f"mb.{name}"
    level = "###" if name[0].isupper() else "##"
    return f"\n{level} {full}\n\n::: {_home(name)}\n"


def _home(name: str) -> str:
    """Return where a public name is defined."""
    import mbplugin as mb
    from mbplugin.api import PUBLIC

    if "." in name:
        return name
    value = getattr(mb, name)
    if isinstance(value, str):
        return f"{PUBLIC[name]}.{name}"
    return f"{value.__module__}.{value.__qualname__}"


def scene_page() -> str:
    """Return the page of the tables of a scene file, from the schema."""
    import json

    schema = json.loads((ROOT / "docs" / "scene.schema.json").read_text(encoding="utf-8"))
    intro = """# Scene file

A `.scene.toml` file describes models, bodies and what joins them and acts on them; how to write one is in
[Write a mechanism](mechanism.md), with a model file in the [tutorial](tutorial.md). All numbers are in SI units and
radians. A key that is not listed here is an error. **Bold** keys are required.
"""
    parts = [intro]
    for name, key in schema["properties"].items():
        table = key.get("items", key).get("$ref", "").rpartition("/")[2]
        if not table:
            parts.append(f"\n## {name}\n\n`{name} = …`: {key['description']}\n")
            continue
        brackets = f"[[{name}]]" if "items" in key else f"[{name}]"
        parts.append(f"\n## {brackets}\n\n{_keys_of(schema['$defs'], table)}")
    return "".join(parts)


def _keys_of(tables: dict[str, Any], name: str) -> str:
    """Return what a table is, and its keys; of a table in it, too."""
    table = tables[name]
    text = re.sub(r"^``.*?``: ", "", table["description"]).replace("``", "`")
    rows, inner = ["| key | |", "|---|---|"], []
    for key, value in table["properties"].items():
        shown = f"**`{key}`**" if key in table.get("required", ()) else f"`{key}`"
        choices = _choices(value, tables)
        meaning = value.get("description", "") + (f" (one of {choices})" if choices else "")
        rows.append(f"| {shown} | {meaning.replace('|', '/')} |")
        inner += [ref for ref in re.findall(r"#/\$defs/(\w+Table)", str(value)) if ref != name]
    more = "".join(f"\n### {n.removesuffix('Table')}\n\n{_keys_of(tables, n)}" for n in dict.fromkeys(inner))
    return f"{text[:1].upper()}{text[1:]}\n\n" + "\n".join(rows) + "\n" + more


def _choices(value: dict[str, Any], tables: dict[str, Any]) -> str:
    """Return the words that a key may have."""
    options = [value, *value.get("anyOf", ())]
    words = [word for option in options for word in option.get("enum", ())]
    return ", ".join(f"`{word}`" for word in words)


def glossary_page() -> str:
    """Return the page of the terms of the output, by name."""
    from mbplugin.report.record import TERMS

    intro = """# Glossary

The terms of texts, pages and JSON documents. What the numbers mean, and what they do not mean, is in
[What the numbers mean](numbers.md).
"""
    parts = [intro]
    for term in sorted(TERMS, key=lambda term: term.name.lower()):
        also = f"\n\n*Also:* {', '.join(term.forms)}." if term.forms else ""
        own = "" if slugify(term.name, "-") == term.anchor else f" {{ #{term.anchor} }}"
        parts.append(f"\n## {term.name}{own}\n\n{term.meaning}{also}\n")
    return "".join(parts)


def gallery_page() -> str:
    """Return the page of all examples, each with its picture where it draws one."""
    intro = """# Gallery

Every example is a script of a page or two: `python examples/NAME.py`; the notebook opens with `jupyter lab`. What they
print and draw is computed, not copied.
"""
    entries = "".join(_entry_of(path) for path in examples())
    return f'{intro}\n<div class="gallery" markdown>\n{entries}</div>\n'


def examples() -> list[Path]:
    """Return the scripts and notebooks that a user reads."""
    return sorted(path for path in (ROOT / "examples").iterdir() if path.suffix in (".py", ".ipynb"))


def _entry_of(example: Path) -> str:
    picture, title = _picture_of(example), _title_of(example)
    # the picture leads to itself, full size
    shown = f"[![{title}](pictures/{picture})](pictures/{picture})\n\n" if picture else ""
    return f"<div markdown>\n{shown}**{title}**\n\n`examples/{example.name}`\n</div>\n"


def _title_of(example: Path) -> str:
    text = example.read_text(encoding="utf-8")
    if example.suffix == ".ipynb":
        import json

        first = json.loads(text)["cells"][0]["source"]
        return "".join(first).splitlines()[0].lstrip("# ")
    found = FIRST_DOCSTRING.search(text)
    return re.split(r"(?<=[.?]) ", found[1].splitlines()[0])[0] if found else example.stem


def _picture_of(example: Path) -> str:
    found = (
        re.findall(r'"([\w-]+\.png)"', example.read_text(encoding="utf-8")) if example.suffix == ".py" else []
    )
    return found[0] if found else ""


def commands_page() -> str:
    """Return the page with the help of every command."""
    from mbplugin.cli.help import COMMANDS

    intro = "# Commands\n\nWhat `mbplugin COMMAND --help` prints; exit codes are in [Formats](formats.md).\n"
    return intro + "".join(f"\n## {name}\n\n```text\n{_help(name)}```\n" for name in sorted(COMMANDS))


def _help(command: str) -> str:
    from typer.testing import CliRunner

    from mbplugin.cli.app import application

    done = CliRunner().invoke(
        application([command]), [command, "--help"], prog_name="mbplugin", env={"COLUMNS": "100"}
    )
    return "".join(f"{line.rstrip()}\n" for line in done.output.splitlines())


if __name__ == "__main__":
    # both can be read in the repository as well
    (ROOT / "docs" / "glossary.md").write_text(glossary_page(), encoding="utf-8")
    (ROOT / "docs" / "gallery.md").write_text(gallery_page(), encoding="utf-8")
