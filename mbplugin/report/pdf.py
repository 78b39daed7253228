"""An HTML page as PDF, printed by Chromium: the browser extra drives the one that is installed."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from html import escape
from importlib import import_module
from typing import Any

from mbplugin.errors import MissingDependency
from mbplugin.phrases import visible
from mbplugin.report.record import Record, time_of_report

#: Programs that print pages as Chromium does, in the order in which they are looked for.
BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
    "msedge",
)
#: Pages with a 3D view need WebGL, by software where there is no display.
_FLAGS = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")
_MARGIN = {"top": "18mm", "bottom": "18mm", "left": "15mm", "right": "15mm"}
#: Widths between the margins of A4, upright and across, in pixels of CSS.
_UPRIGHT, _ACROSS = 680, 1009
#: The smallest scale that the browser prints at.
_SMALLEST = 0.1
_SMALL = "font-size:7.5pt;font-family:sans-serif;color:#444;width:100%;margin:0 15mm"
_PRINT_PAGE = ", or print the page of --output-format html"
_OTHERWISE = f" and install Chromium{_PRINT_PAGE}"


def pdf_of_page(page: str, record: Record) -> bytes:
    """Return a page as PDF, A4, with robot, date and page numbers at the foot.

    What is wider than the paper turns it, and is made smaller: no column is cut off.

    Raises
    ------
    MissingDependency
        There is no playwright, no Chromium that starts, or no room for its temporary files.
    """
    # playwright refuses a thread with a running event loop, which every notebook has
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(_printed, page, record).result()


def _printed(page: str, record: Record) -> bytes:
    with _browser() as browser:
        tab = browser.new_page(java_script_enabled=True, offline=True)
        tab.emulate_media(media="print")
        tab.set_viewport_size({"width": _UPRIGHT, "height": _ACROSS})
        tab.set_content(page, wait_until="load")
        # paper cannot be unfolded; commands and notes on the drawing are for the screen
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
            # it prints by way of a temporary file, and says of a full folder only that reading failed
            raise MissingDependency(
                f"Chromium does not print the page ({str(error).splitlines()[0]})",
                remedy=f"free some space, also for temporary files (TMPDIR){_PRINT_PAGE}",
            ) from None
    # the date of the report in place of the present one, as long as it: offsets in the file stay
    made = time_of_report().strftime("D:%Y%m%d%H%M%S+00'00'").encode()
    return re.sub(
        rb"(/(?:CreationDate|ModDate) \()(D:[^)]*)(?=\))",
        lambda found: found[1] + (made if len(found[2]) == len(made) else found[2]),
        data,
    )


def _fit(tab: Any) -> tuple[bool, float]:
    """Return whether the paper is turned, and the scale at which the page is as wide as it."""
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
    """Return the module of playwright that drives a browser.

    Raises
    ------
    MissingDependency
        It is not installed.
    """
    try:
        return import_module("playwright.sync_api")
    except ImportError:
        raise MissingDependency.of("a .pdf", "playwright", "browser", otherwise=_OTHERWISE) from None


@contextmanager
def _browser() -> Iterator[Any]:
    """Give a Chromium that has no window.

    Raises
    ------
    MissingDependency
        There is none.
    """
    api = playwright_api()
    installed = next(filter(None, map(shutil.which, BROWSERS)), None)
    with api.sync_playwright() as driver:
        try:
            browser = driver.chromium.launch(executable_path=installed, args=list(_FLAGS))
        except api.Error as error:
            reason = str(error).splitlines()[0]
            raise MissingDependency(
                f"a .pdf needs Chromium, which does not start ({reason})",
                remedy=f"pip install 'mbplugin[browser]'{_OTHERWISE}",
            ) from None
        try:
            yield browser
        finally:
            browser.close()
