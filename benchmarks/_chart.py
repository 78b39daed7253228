"""Error against time as a small SVG: one panel for each model, logarithmic on both axes."""

from __future__ import annotations

from math import ceil, floor, log10

WIDTH, HEIGHT, LEFT, TOP, GAP = 330, 230, 58, 30, 70
COLOURS = ("#1f6feb", "#0b3d91", "#d9480f", "#7a4fbf", "#b08800", "#2b8a3e", "#c2255c", "#495057", "#0c8599")
#: Errors below this are rounding, and stand on the lower edge.
LEAST = 1e-15

Curves = dict[tuple[str, str], list[tuple[float, float]]]


def chart(curves: Curves) -> str:
    """Return a picture of curves, by (model, tool): points of (s, rad)."""
    models = list(dict.fromkeys(model for model, _ in curves))
    tools = list(dict.fromkeys(tool for _, tool in curves))
    colour = {tool: COLOURS[k % len(COLOURS)] for k, tool in enumerate(tools)}
    rows = -(-len(models) // 2)
    width, height = 2 * (WIDTH + GAP) + 10, rows * (HEIGHT + GAP) + 18 * (-(-len(tools) // 3)) + 24
    parts = []
    for k, model in enumerate(models):
        x, y = LEFT + (k % 2) * (WIDTH + GAP), TOP + (k // 2) * (HEIGHT + GAP)
        own = {tool: points for (of, tool), points in curves.items() if of == model}
        parts.append(f'<g transform="translate({x},{y})">{_panel(model, own, colour)}</g>')
    for k, tool in enumerate(tools):
        x, y = LEFT + (k % 3) * 250, rows * (HEIGHT + GAP) + 18 * (k // 3) + 14
        parts.append(f'<circle cx="{x}" cy="{y - 4}" r="4" fill="{colour[tool]}"/>')
        parts.append(f'<text x="{x + 10}" y="{y}">{tool}</text>')
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    style = ' font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>'
    return head + style + "".join(parts) + "</svg>\n"


def _panel(title: str, own: dict[str, list[tuple[float, float]]], colour: dict[str, str]) -> str:
    """Return the axes and the curves of one model."""
    times = [log10(s) for points in own.values() for s, _ in points]
    errors = [log10(max(e, LEAST)) for points in own.values() for _, e in points]
    x0, x1, y0, y1 = floor(min(times)), ceil(max(times)), floor(min(errors)), ceil(max(errors))
    out = [f'<text x="{WIDTH / 2}" y="-10" text-anchor="middle" font-weight="bold">{title}</text>']

    def at(x: float, y: float) -> tuple[float, float]:
        return WIDTH * (x - x0) / (x1 - x0), HEIGHT * (y1 - y) / (y1 - y0)

    for x in range(x0, x1 + 1):
        a, _ = at(x, y0)
        out.append(f'<path d="M{a:.1f} 0V{HEIGHT}" stroke="#ddd"/>')
        out.append(f'<text x="{a:.1f}" y="{HEIGHT + 16}" text-anchor="middle">1e{x}</text>')
    for y in range(y0, y1 + 1, max(1, (y1 - y0) // 5)):
        _, b = at(x0, y)
        out.append(f'<path d="M0 {b:.1f}H{WIDTH}" stroke="#ddd"/>')
        out.append(f'<text x="-6" y="{b + 4:.1f}" text-anchor="end">1e{y}</text>')
    for tool, points in own.items():
        places = [at(log10(s), log10(max(e, LEAST))) for s, e in sorted(points)]
        line = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour[tool]}" stroke-width="1.5"/>')
        out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3.5" fill="{colour[tool]}"/>' for a, b in places]
    out.append(f'<rect width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#666"/>')
    out.append(f'<text x="{WIDTH / 2}" y="{HEIGHT + 32}" text-anchor="middle">time, s</text>')
    out.append(
        f'<text transform="translate(-44,{HEIGHT / 2}) rotate(-90)" text-anchor="middle">error, rad</text>'
    )
    return "".join(out)
