"""A browser, and pages that it visits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser_pages import FLAGS, Visit, chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        yield opened
        opened.close()


@pytest.fixture
def visit(browser: Any, tmp_path: Path) -> Iterator[Any]:
    contexts = []

    def go(page: str, script: str = "", *, width: int = 1200, **context: Any) -> Visit:
        file = tmp_path / "page.html"
        file.write_text(page, encoding="utf-8")
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, **context))
        made = Visit(contexts[-1].new_page())
        made.page.on("console", lambda message: made.complaints.append(f"{message.type}: {message.text}"))
        made.page.on("pageerror", lambda error: made.complaints.append(str(error)))
        made.page.on("request", lambda request: made.requests.append(request.url))
        if script:
            made.page.add_init_script(script)
        made.page.goto(file.as_uri())
        made.settle()
        return made

    yield go
    for context in contexts:
        context.close()
