"""One self-contained page: verdict and numbers first, a 3D view, tables, curves and all assumptions."""

from mbplugin.report.html.chapters import Chapter
from mbplugin.report.html.page import html_page

__all__ = ["Chapter", "html_page"]
