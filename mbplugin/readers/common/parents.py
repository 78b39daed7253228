"""In which elements of a format an element is read, for one that stands in another."""

from __future__ import annotations

from collections import deque
from functools import cached_property

from mbplugin.readers.common.vocabulary import Read, Vocabulary

#: How many elements a hint names.
_NAMED = 4


class Parents:
    """In which elements the elements of a format are read."""

    def __init__(self, vocabulary: Vocabulary, key: str) -> None:
        self._vocabulary, self._key = vocabulary, key

    @cached_property
    def _of(self) -> dict[str, dict[str, int]]:
        """The parents of each tag that is read, with their depth; only for documents with a misplaced tag."""
        found: dict[str, dict[str, int]] = {}
        todo, seen = deque([(self._key, self._key, 0)]), {self._key}
        while todo:
            key, tag, depth = todo.popleft()
            for child, use in self._vocabulary[key].children.items():
                if isinstance(use, str | Read):
                    found.setdefault(child, {}).setdefault(tag, depth)
                if isinstance(use, str) and use not in seen:
                    seen.add(use)
                    todo.append((use, child, depth + 1))
        return found

    def hint(self, tag: str) -> str:
        """Return where an element belongs; empty where the format has none of this tag."""
        depths = self._of.get(tag, {})
        # deeper ones are those of extensions
        near = [f"<{name}>" for name, depth in depths.items() if depth <= min(depths.values()) + 1]
        if not near:
            return ""
        *others, last = near[:_NAMED]
        return f"<{tag}> belongs in {', '.join(others) + ' or ' if others else ''}{last}"
