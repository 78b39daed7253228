"""The site shows the frozen dataclasses that share their methods as those of the standard library."""

from __future__ import annotations

from typing import Any

import griffe


class SharedDataclasses(griffe.Extension):
    """Names the decorator of :mod:`mbplugin.phrases` as the standard one, which type checkers see in its place."""

    def on_class_instance(self, *, cls: griffe.Class, **more: Any) -> None:
        """Change the name in the decorators of a class."""
        for decorator in cls.decorators:
            value = decorator.value
            name = value.function if isinstance(value, griffe.ExprCall) else value
            if isinstance(name, griffe.ExprName) and name.canonical_path == "mbplugin.phrases.dataclass":
                name.name, name.parent = "dataclasses.dataclass", None
