"""What a word leads to: the name that is meant by an unknown one, found in the texts that describe the known names.

A word of another program, or of the field, is compared with the names of one namespace (the commands, the options of a
command, the parameters of a function, the attributes of a result) and with their own descriptions. Nothing is listed
by hand but the synonyms of the field and the subjects that are absent here, so that a new option is found by its help
text as soon as it has one. The texts are read when a wrong call is answered, never before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module, resources
from math import log
from typing import Any, NamedTuple

from mbplugin.phrases import only_near
from mbplugin.synonyms import ABSENT, DOUBLING, ENDINGS, FILLERS, MAKERS, MODIFIERS, SETTERS, SYNONYMS

#: How well a word is matched by the same word, and by another one of its meaning.
_SAME, _ALIKE = 1.0, 0.85
#: How much a match counts in the name, in the first text of it and in the later ones; matches in several add up.
_IN_NAME, _IN_SUMMARY, _IN_REST = 0.8, 0.7, 0.4
#: A name is proposed from this score on, further ones if they are nearly as good, three in all.
_ENOUGH, _NEARLY, _MOST = 0.55, 0.9, 3
#: Score of a name from which it is proposed although more than so many are as good.
_SURE = 0.6
#: Longest word that is looked up, characters, and the fewest letters of a part of a compound.
_LONGEST, _PART = 60, 3


class Described(NamedTuple):
    """A known name with the texts that describe it.

    Parameters
    ----------
    name : str
        What is proposed, such as ``--duration`` or ``mass_matrix``.
    summary : str
        Its first sentence, or the whole help of an option.
    rest : str
        Further texts, such as the descriptions of its parameters.
    literal : bool
        True if only its own words lead to it, no synonyms of them.
    """

    name: str
    summary: str = ""
    rest: str = ""
    literal: bool = False


def leads_to(word: str, known: Iterable[Described], is_named: bool = False) -> tuple[str, ...]:
    """Return the names that an unknown word means, the best first; none where the texts decide nothing.

    Parameters
    ----------
    word : str
        A name as somebody wrote it, in any case and with any separators.
    known : iterable of Described
        The names of the namespace in which it is unknown.
    is_named : bool
        True if a text does not suffice: the name itself has to have the word, or one that means the same.

    Returns
    -------
    tuple of str
        At most three names.
    """
    indexed = [_indexed(one) for one in known]
    terms = list(_terms(word[:_LONGEST], {stem for one in indexed for stem in one.stems} - _compounds()))
    if not terms or not indexed:
        return ()
    matches = {term: [_match(term, one) for one in indexed] for term in terms}
    emphasis = dict.fromkeys(terms, 1.0)
    if any(matches[terms[-1]]):
        emphasis[terms[-1]] = _HEAD
    emphasis |= {term: _LITTLE for term in terms if term.form in _modifiers()}
    weights = {term: _weight(found) * emphasis[term] for term, found in matches.items()}
    total = sum(weights.values())
    # a class is written with a capital, unless its first word is a verb as in CalcMassMatrix
    of_class = len(word) > 1 and word[0].isupper() and _snake(word).partition("_")[0] not in FILLERS
    scored = []
    for place, one in enumerate(indexed):
        score = sum(weights[term] * matches[term][place] for term in terms) / total
        alike = _TIE * _covered(one, terms) + _KIND * (one.name[:1].isupper() == of_class)
        scored.append((score + alike, score, one.name))
    scored.sort(key=lambda item: -item[0])
    best = scored[0][0]
    if scored[0][1] < _ENOUGH:
        return ()
    found = [name for ranked, score, name in scored if score >= _ENOUGH and ranked >= _NEARLY * best]
    if is_named or all(term.form in _modifiers() for term in terms):
        covered = {one.name for one in indexed if _covered(one, terms) > (_WHOLE if is_named else 0.0)}
        found = [name for name in found if name in covered]
    return tuple(found[:_MOST]) if len(found) <= _MOST or scored[0][1] >= _SURE else ()


def meant(word: str, known: Sequence[Described], elsewhere: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names that are meant by an unknown one: a word of elsewhere, a misspelt name, or one by its texts.

    Parameters
    ----------
    word : str
    known : sequence of Described
        The names of the namespace in which the word is unknown.
    elsewhere : mapping of str to str
        Words of other programs whose texts lead to nothing or to another name, and what they mean.

    Returns
    -------
    tuple of str
        At most three names, the best first.
    """
    return misspelt(word, known, elsewhere) or leads_to(word, known)


def misspelt(word: str, known: Sequence[Described], elsewhere: Mapping[str, str]) -> tuple[str, ...]:
    """Return the name that a word of elsewhere stands for, or that a word is another spelling of; else none.

    Arguments as for :func:`meant`: ``word``, ``known`` and ``elsewhere``.
    """
    from difflib import get_close_matches

    names = {one.name: one for one in known}
    parts = [part for part in _snake(word).split("_") if part not in FILLERS]
    # the number of redundant constraints is a number too, as a total or maximal one
    narrowed = [part for part in parts if part not in MODIFIERS]
    spellings = dict.fromkeys((word, word.lower(), _snake(word), "_".join(parts), "_".join(narrowed)))
    if written := next((elsewhere[one] for one in spellings if elsewhere.get(one) in names), None):
        return (written,)
    if same := next((one for one in spellings if one in names), None):
        return (same,)
    if all(one in _meanings() for one in _words(word)):
        # a word of the field is not misspelt: another form of it is meant, or another word
        names = {name: one for name, one in names.items() if _words(name) == _words(word)}
    if near := only_near(_snake(word), names):
        return (near,)
    return tuple(get_close_matches(_snake(word), names, n=1, cutoff=_MISSPELT)) if len(word) > _PART else ()


def told(word: str, known: Sequence[Described]) -> str:
    """Return the remedy for a word of a subject that is absent here; empty if a known name is nearer to it.

    Parameters
    ----------
    word : str
    known : sequence of Described
        The names of the namespace in which the word is unknown.
    """
    sentences = {name: sentence for name, _, sentence in ABSENT}
    found = leads_to(word, (*known, *(Described(name, text, literal=True) for name, text, _ in ABSENT)))
    if not found or found[0] not in sentences:
        return ""
    own = next(text for name, text, _ in ABSENT if name == found[0])
    # only its own words: no corrected, completed or divided one
    words = _words(word)
    is_own = {*_forms(words)} & {*_words(own), *(_joined(term) for term in found[0].split())}
    return sentences[found[0]] if is_own else ""


def remedy_for_function(word: str, elsewhere: Mapping[str, str]) -> str:
    """Return the remedy for an unknown name of the package: a name, where a value is stated, or what is absent.

    Parameters
    ----------
    word : str
        A name as somebody wrote it, such as ``setGravity``.
    elsewhere : mapping of str to str
        Words of other programs, and the public names that they mean.

    Returns
    -------
    str
        A question or a clause; empty where the word leads to nothing.
    """
    known = public()
    if found := misspelt(word, known, elsewhere):
        return proposal(found)
    verb, _, thing = _snake(word).partition("_")
    if verb in (*SETTERS, *MAKERS) and thing and (stated := _stated(thing, verb in SETTERS)):
        return stated
    return told(word, known) or proposal(leads_to(word, known)) or _of_model(word)


#: Functions whose arguments are searched for what other programs set by a call, the first that has it.
_TAKING = ("simulate", "estop", "load", "lint")


def _stated(thing: str, is_set: bool) -> str:
    """Return the argument or the scene key that states a thing which other programs set or make by a call."""
    package: Any = import_module("mbplugin")
    described = import_module("mbplugin.arguments").described_arguments
    for name in _TAKING if is_set else ():
        if found := meant(thing, described(getattr(package, name)), {}):
            return f"nothing is set beforehand: give {found[0]}=… to mb.{name}(…)"
    fields = import_module("mbplugin.readers.scene_file").SceneFile.fields()
    tables = [Described(name, field.description) for name, field in fields.items()]
    if not (found := meant(thing, tables, {})):
        return ""
    verb = "set" if is_set else "made"
    return f"nothing is {verb} by a call: state {found[0]!r} in a scene file ('mbplugin schema scene' lists its keys)"


def _of_model(word: str) -> str:
    """Return the expression for a property of a model that another program has a function for; empty if unknown."""
    expressions = import_module("mbplugin.rendering").COMPUTED
    written = import_module("mbplugin.errors").meant_by(word, expressions)
    return f"write {written}, after scene = mb.load(FILE)" if written else ""


def public() -> list[Described]:
    """Return the public functions and classes of the package with their docstrings."""
    places: dict[str, str] = import_module("mbplugin.api").PUBLIC
    return [described_function(name, text) for name, text in docstrings(places).items()]


def remedy_for_key(key: str, texts: Mapping[str, str], misspelt: str) -> str:
    """Return the remedy for an unknown key of a file: the known one that is meant, else all that there are.

    Parameters
    ----------
    key : str
    texts : mapping of str to str
        The known keys, and the description of each in the schema.
    misspelt : str
        The remedy by the spelling alone, which counts if it proposes a key.
    """
    if misspelt.startswith("did you mean"):
        return misspelt
    return proposal(leads_to(key, [Described(name, text) for name, text in texts.items()])) or misspelt


def docstrings(places: Mapping[str, str]) -> dict[str, str]:
    """Read the docstrings of functions and classes from the sources of their modules, without importing them.

    Parameters
    ----------
    places : mapping of str to str
        The module of each name, such as ``{"lint": "mbplugin.linter.run"}``.

    Returns
    -------
    dict of str to str
        The docstring of each name; empty where its module has no source or the name has no docstring.
    """
    return {name: _docstring(_source(module), name) for name, module in places.items()}


def described_function(name: str, docstring: str) -> Described:
    """Return a function or class with its first sentence as the summary and the rest of its docstring."""
    summary, _, rest = docstring.partition("\n\n")
    return Described(name, summary, re.split(r"\n *Raises\n *-{3,}", rest)[0])


def described_entries(docstring: str) -> dict[str, str]:
    """Return the descriptions of the parameters or attributes in a numpydoc docstring, by name.

    Names that are documented together, such as ``q, qd : mapping``, have the same description.
    """
    entries: dict[str, str] = {}
    names: list[str] = []
    for line in docstring.split("\n"):
        head = re.fullmatch(r"(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: : .*)?", line)
        if head and not re.fullmatch(r"Parameters|Attributes|Returns|Raises|Yields|Notes|Examples", line):
            names = [name.strip(" *") for name in head[1].split(",")]
            entries.update(dict.fromkeys(names, line.partition(" : ")[2]))
        elif line.startswith("    ") and names:
            for name in names:
                entries[name] += f" {line.strip()}"
        elif line.strip():
            names = []
    return entries


def proposal(names: Sequence[str]) -> str:
    """Return ``did you mean 'a', 'b' or 'c'?`` for the names that a word leads to; empty without one."""
    if not names:
        return ""
    *others, last = map(repr, names)
    return f"did you mean {', '.join(others)}{' or ' * bool(others)}{last}?"


# Words: what is compared.


def _snake(name: str) -> str:
    """Return ``forward_kinematics`` for ``forwardKinematics`` and ``forward-kinematics``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()


class _Indexed(NamedTuple):
    """A known name and the weights of the stems and terms in its texts."""

    name: str
    own: frozenset[str]
    stems: Mapping[str, float]
    meanings: Mapping[int, float]


#: Weight of a word that narrows another one, and of one that is found nowhere.
_LITTLE, _UNKNOWN = 0.3, 0.6
#: Weight of the last word, which says what a compound is: a tool speed is a speed.
_HEAD = 1.4
#: What the share of the words of a name that are matched adds, to decide between equal scores.
_TIE = 0.2
#: Share of the words of a name from which it is named as a whole.
_WHOLE = 0.6
#: What it adds that both are written as classes, or neither.
_KIND = 0.15


@cache
def _indexed(one: Described) -> _Indexed:
    stems: dict[str, float] = {}
    meanings: dict[int, float] = {}
    for text, weight in ((one.name, _IN_NAME), (one.summary, _IN_SUMMARY), (one.rest, _IN_REST)):
        # the letters of an equation have no meaning of their own
        words = [word for word in _words(text) if len(word) > 1 or weight == _IN_NAME]
        # the words of a compound are no names of an absent subject
        is_listed = one.literal and weight == _IN_NAME
        forms = {_joined(term) for term in text.split()} if is_listed else {*_forms(words)}
        for stem in forms:
            stems[stem] = _both(weight, stems.get(stem, 0.0))
        for meaning in {
            meaning for stem in forms for meaning in _meanings().get(stem, ()) if not one.literal
        }:
            meanings[meaning] = _both(weight, meanings.get(meaning, 0.0))
    return _Indexed(one.name, frozenset(_words(one.name)), stems, meanings)


def _both(first: float, second: float) -> float:
    """Return the weight of a match in two texts, which is more than that in each and less than one."""
    return 1.0 - (1.0 - first) * (1.0 - second)


class _Term(NamedTuple):
    """A word of the question, or several that are one term, with the stems that it consists of."""

    form: str
    parts: tuple[str, ...]


def _terms(text: str, known: set[str]) -> Iterator[_Term]:
    """Yield the terms of a name, the longest first; unknown words are divided, completed or corrected."""
    words = [part for word in _words(text) for part in _readable(word, known)]
    while words:
        length = next((n for n in (3, 2) if len(words) >= n and "".join(words[:n]) in _meanings()), 1)
        yield _Term("".join(words[:length]), tuple(words[:length]))
        words = words[length:]


def _readable(word: str, known: set[str]) -> tuple[str, ...]:
    """Return the stems of a word that is known, or of two known words that it joins, or of one that it is near."""
    meanings = _meanings()
    if word in known or word in meanings or len(word) < _PART + 1:
        return (word,)
    for length in range(len(word) - _PART, _PART - 1, -1):
        first, second = _stem(word[:length]), word[length:]
        if (first in known or first in meanings) and (second in known or second in meanings):
            return tuple(one for one in (first, second) if one not in FILLERS)
    whole = [*known, *(one for one in meanings if one in _single())]
    begun = [one for one in whole if one.startswith(word)]
    if begun:
        return (min(begun, key=len),)
    from difflib import get_close_matches

    near = get_close_matches(word, whole, n=1, cutoff=_SPELT) if len(word) > _PART + 1 else ()
    return tuple(near) or (word,)


#: Similarity from which a word counts as a misspelt one, and a whole name.
_SPELT, _MISSPELT = 0.84, 0.86


def _match(term: _Term, one: _Indexed) -> float:
    """Return the degree, from 0 to 1, to which a term describes a name."""
    whole = _match_of(term.form, one)
    if len(term.parts) == 1:
        return whole
    return max(whole, sum(_match_of(part, one) for part in term.parts) / len(term.parts))


def _match_of(form: str, one: _Indexed) -> float:
    alike = max((one.meanings.get(meaning, 0.0) for meaning in _meanings().get(form, ())), default=0.0)
    return max(_SAME * one.stems.get(form, 0.0), _ALIKE * alike)


def _weight(found: Sequence[float]) -> float:
    """Return the weight of a term: a word that describes everything decides nothing, an unknown one little."""
    return log(1.0 + len(found) / sum(found)) if any(found) else _UNKNOWN * log(1.0 + len(found))


def _covered(one: _Indexed, terms: Sequence[_Term]) -> float:
    """Return the share of the words of a name that the terms contain, or mean."""
    if not one.own:
        return 0.0
    forms = {form for term in terms for form in (term.form, *term.parts)}
    meant = {meaning for form in forms for meaning in _meanings().get(form, ())}
    same = [1.0 if word in forms else 0.7 * bool(meant & {*_meanings().get(word, ())}) for word in one.own]
    return sum(same) / len(same)


def _words(text: str) -> list[str]:
    """Return the stems of the words of a text or a name, without fillers."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text)
    apart = re.sub(r"(?<=[a-z])2(?=[a-z])", " to ", apart)
    found = re.findall(r"[^\W\d_]+\d*|\d+[^\W\d_]+", apart.lower())
    return [_stem(word) for word in found if word not in FILLERS]


def _forms(words: Sequence[str]) -> Iterator[str]:
    """Yield the words, and the terms that two or three of them form."""
    yield from words
    for length in (2, 3):
        for place in range(len(words) - length + 1):
            joined = "".join(words[place : place + length])
            if joined in _meanings():
                yield joined


@cache
def _stem(word: str) -> str:
    """Return a word without its ending: ``stopping`` and ``stops`` are ``stop``."""
    if len(word) <= _PART or not word.isalpha():
        return word
    for ending, least in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            word = word.removesuffix(ending)
            if len(word) > _PART and word[-1] == word[-2] and ending in DOUBLING:
                word = word[:-1]
            break
    return word


@cache
def _modifiers() -> frozenset[str]:
    return frozenset(map(_stem, MODIFIERS))


@cache
def _single() -> frozenset[str]:
    """Return the synonyms that are one word."""
    return frozenset(_stem(term) for term in SYNONYMS.split() if "_" not in term)


@cache
def _meanings() -> dict[str, tuple[int, ...]]:
    """Return the lines of the synonyms in which each term stands."""
    found: dict[str, tuple[int, ...]] = {}
    for number, line in enumerate(SYNONYMS.replace("\\\n", "").strip().split("\n")):
        for term in line.split():
            found[_joined(term)] = (*found.get(_joined(term), ()), number)
    for term in " ".join(name for name, _, _ in ABSENT).split():
        found.setdefault(_joined(term), ())
    return found


@cache
def _compounds() -> frozenset[str]:
    """Return the names of absent subjects that have several words: a word of theirs alone is not completed to them."""
    return frozenset(_joined(term) for name, _, _ in ABSENT for term in name.split() if "_" in term)


def _joined(term: str) -> str:
    """Return the form of a term of several words: their stems, one behind the other."""
    words = term.split("_")
    return "".join(_stem(word) for word in words if word not in FILLERS or len(words) == 1)


# Sources: where the docstrings stand.


@cache
def _source(module: str) -> str:
    """Return the source of a module, without importing it; empty where it is not installed."""
    package, _, path = module.partition(".")
    folder, path = resources.files(package), path.replace(".", "/")
    for file in (folder.joinpath(f"{path}/__init__.py"), folder.joinpath(f"{path}.py")):
        if file.is_file():
            return file.read_text(encoding="utf-8")
    return ""


def _docstring(source: str, name: str) -> str:
    """Return the docstring of a function or a class at the top level of a source, without its indentation."""
    found = re.search(rf'^(?:def|class) {name}\b.*?\n    r?"""(.*?)"""', source, re.MULTILINE | re.DOTALL)
    return "" if found is None else re.sub(r"^    ", "", found[1], flags=re.MULTILINE).strip()
