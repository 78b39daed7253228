"""Self-contained HTML pages: verdict and key numbers first, then a 3D view, tables, curves and all assumptions."""

from mbplugin.report.html.chapters import Chapter
from mbplugin.report.html.page import html_page

__all__ = ["Chapter", "html_page"]
