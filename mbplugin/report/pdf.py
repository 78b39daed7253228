"""HTML pages as PDF, printed by Chromium: playwright (extra ``browser``) drives an installed browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from html import escape
from importlib import import_module
from typing import Any

from mbplugin.errors import MissingDependency
from mbplugin.installation import installed_browser
from mbplugin.phrases import visible
from mbplugin.report.record import Record, time_of_report

#: Pages with a 3D view need WebGL; without a display it is rendered in software.
_FLAGS = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")
_MARGIN = {"top": "18mm", "bottom": "18mm", "left": "15mm", "right": "15mm"}
#: Widths of A4 between the margins, portrait and landscape, CSS pixels.
_UPRIGHT, _ACROSS = 680, 1009
#: The smallest scale at which the browser prints.
_SMALLEST = 0.1
_SMALL = "font-size:7.5pt;font-family:sans-serif;color:#444;width:100%;margin:0 15mm"
_PRINT_PAGE = ", or print the page of --output-format html"
_OTHERWISE = f" and install Chromium{_PRINT_PAGE}"


def pdf_of_page(page: str, record: Record) -> bytes:
    """Return a page as A4 PDF, with robot, date and page numbers in the footer.

    A page wider than the paper is printed in landscape and scaled down, so that no column is cut off.

    Raises
    ------
    MissingDependency
        playwright is not installed, Chromium does not start, or it cannot print, as without space for its
        temporary files.
    """
    # playwright's synchronous API refuses a thread with a running event loop, as in every notebook
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(_printed, page, record).result()


def _printed(page: str, record: Record) -> bytes:
    with _browser() as browser:
        tab = browser.new_page(java_script_enabled=True, offline=True)
        tab.emulate_media(media="print")
        tab.set_viewport_size({"width": _UPRIGHT, "height": _ACROSS})
        tab.set_content(page, wait_until="load")
        # unfold all details for print, except commands and notes on the drawing, which are for the screen
        tab.evaluate(
            "document.querySelectorAll('details:not(.again):not(.drawn)').forEach((part) => (part.open = true))"
        )
        landscape, scale = _fit(tab)
        try:
            data: bytes = tab.pdf(
                format="A4",
                landscape=landscape,
                scale=scale,
                print_background=True,
                display_header_footer=True,
                header_template="<span></span>",
                footer_template=_foot(record),
                margin=_MARGIN,
            )
        except playwright_api().Error as error:
            # Chromium prints through a temporary file; if the folder is full, it only reports a failed read
            raise MissingDependency(
                f"Chromium does not print the page ({str(error).splitlines()[0]})",
                remedy=f"free some space, also for temporary files (TMPDIR){_PRINT_PAGE}",
            ) from None
    # replace the current date by that of the report, only at equal length, so that file offsets stay valid
    made = time_of_report().strftime("D:%Y%m%d%H%M%S+00'00'").encode()
    return re.sub(
        rb"(/(?:CreationDate|ModDate) \()(D:[^)]*)(?=\))",
        lambda found: found[1] + (made if len(found[2]) == len(made) else found[2]),
        data,
    )


def _fit(tab: Any) -> tuple[bool, float]:
    """Return True for landscape, and the scale at which the page fits the width of the paper."""
    if _width(tab) <= _UPRIGHT:
        return False, 1.0
    tab.set_viewport_size({"width": _ACROSS, "height": _UPRIGHT})
    return True, max(_SMALLEST, min(1.0, _ACROSS / _width(tab)))


def _width(tab: Any) -> float:
    return float(tab.evaluate("document.documentElement.scrollWidth"))


def _foot(record: Record) -> str:
    made = escape(visible(f"{record.robot} – {record.date} – mbplugin {record.version}"))
    pages = 'page <span class="pageNumber"></span> of <span class="totalPages"></span>'
    style = f"{_SMALL};display:flex;justify-content:space-between"
    return f'<div style="{style}"><span>{made}</span><span>{pages}</span></div>'


def playwright_api() -> Any:
    """Import and return playwright's synchronous API.

    Raises
    ------
    MissingDependency
        playwright is not installed.
    """
    try:
        return import_module("playwright.sync_api")
    except ImportError:
        raise MissingDependency.of("a .pdf", "playwright", "browser", otherwise=_OTHERWISE) from None


@contextmanager
def _browser() -> Iterator[Any]:
    """Provide a headless Chromium.

    Raises
    ------
    MissingDependency
        Chromium does not start.
    """
    api = playwright_api()
    installed = installed_browser()
    with api.sync_playwright() as driver:
        try:
            browser = driver.chromium.launch(executable_path=installed, args=list(_FLAGS))
        except api.Error as error:
            reason = str(error).splitlines()[0]
            raise MissingDependency(
                f"a .pdf needs Chromium, which does not start ({reason})",
                remedy=f"python -m playwright install chromium{_PRINT_PAGE}",
            ) from None
        try:
            yield browser
        finally:
            browser.close()
