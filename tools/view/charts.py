# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts as SVG, for a page without scripts. All have the same width, in which text is readable on a phone, too; the page
stretches them. The colours are those of Okabe and Ito (https://jfly.uni-koeln.de/color/), which colour-blind people can tell
apart, and for maps those of cividis (Nunez, Anderton and Renslow, PLoS ONE 13(7), 2018)."""

import html
import math

WIDTH, HEIGHT = 400, 220
LEFT, RIGHT, TOP, BOTTOM = 62, 10, 12, 28  # around the drawing: numbers on the left, times below
BLUE, ORANGE, GREEN, RED, SKY, PURPLE, GREY, FREE = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#8c8c8c", "#eef0f2"
INK, PALE = "#222", "#5a6068"
CIVIDIS = ((0, 34, 78), (60, 77, 110), (124, 123, 120), (187, 173, 108), (254, 232, 56))


def text(x, y, words, anchor="start", colour=PALE, size=12):
    return words and f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-size="{size}">{html.escape(words)}</text>'


def rect(x, y, width, height, colour, title=""):
    shape = f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"'
    return f"{shape}><title>{html.escape(title)}</title></rect>" if title else shape + "/>"


def svg(label, parts, height=HEIGHT):
    return (f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{html.escape(label)}" xmlns="http://www.w3.org/2000/svg">'
            + "".join(parts) + "</svg>")


def key(names):
    """What the colours mean: (name, colour), as HTML below a chart."""
    return '<p class="key">' + " ".join(f'<span><i style="background:{colour}"></i>{html.escape(name)}</span>' for name, colour in names) + "</p>"


def ceiling(most, binary=False):
    """A round number above, for the top of an axis."""
    if most <= 0:
        return 1
    base = 1024 ** math.floor(math.log(most, 1024)) if binary and most >= 1024 else 1
    power = 10 ** math.floor(math.log10(most / base))
    return base * next(step * power for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10, 15) if step * power * base >= most * 0.9999)


def _axis(top, write, begin, end):
    """Three lines across, and what stands beside and below them."""
    parts, low = [], HEIGHT - BOTTOM
    for share in (0, 0.5, 1):
        y = low - share * (low - TOP)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#d5d9dd" stroke-width="1"/>')
        parts.append(text(LEFT - 6, y + 4, write(top * share) if share else "0", "end"))
    return [*parts, text(LEFT, HEIGHT - 8, begin), text(WIDTH - RIGHT, HEIGHT - 8, end, "end")]


def curves(label, series, write, seconds, binary=False):
    """Lines over time. series: (name, colour, values at equal distances, of which None is a gap)."""
    most = max((value for _, _, values in series for value in values if value is not None), default=0)
    top = ceiling(most, binary)
    parts = _axis(top, write, "0 s", f"{seconds:.0f} s")
    for _, colour, values in series:
        step = (WIDTH - LEFT - RIGHT) / max(1, len(values) - 1)
        points, pen = [], "M"
        for n, value in enumerate(values):
            if value is None:
                pen = "M"
                continue
            points.append(f"{pen}{LEFT + n * step:.1f} {HEIGHT - BOTTOM - value / top * (HEIGHT - BOTTOM - TOP):.1f}")
            pen = "L"
        if points:
            parts.append(f'<path d="{"".join(points)}" fill="none" stroke="{colour}" stroke-width="2" stroke-linejoin="round" stroke-linecap="round"/>')
    return svg(label, parts) + (key([(name, colour) for name, colour, _ in series]) if len(series) > 1 else "")


def stacked(label, series, write, seconds):
    """Areas over time, one on the other; values that are not known are left out of the sums."""
    sums = [sum(values[n] or 0 for _, _, values in series) for n in range(len(series[0][2]))]
    top = ceiling(max(sums, default=0))
    step = (WIDTH - LEFT - RIGHT) / max(1, len(sums) - 1)
    parts, below = [], [0.0] * len(sums)
    for _, colour, values in series:
        above = [low + (value or 0) for low, value in zip(below, values)]

        def points(heights):
            return [f"{LEFT + n * step:.1f} {HEIGHT - BOTTOM - h / top * (HEIGHT - BOTTOM - TOP):.1f}" for n, h in enumerate(heights)]

        parts.append(f'<path d="M{"L".join(points(above) + points(below)[::-1])}Z" fill="{colour}"/>')
        below = above
    return svg(label, parts + _axis(top, write, "0 s", f"{seconds:.0f} s")) + key([(name, colour) for name, colour, _ in series])


def bars(label, series, names, write, binary=False):
    """Bars beside each other, in groups of one for each of the series. series: (name, colour, values); names of the groups
    stand below where they find room."""
    count = len(names)
    most = max((value for _, _, values in series for value in values), default=0)
    top = ceiling(most, binary)
    parts = _axis(top, write, "", "")
    step = (WIDTH - LEFT - RIGHT) / max(1, count)
    each = step * 0.84 / len(series)
    for place, (name, colour, values) in enumerate(series):
        for n, value in enumerate(values):
            height = max(1.5, value / top * (HEIGHT - BOTTOM - TOP)) if value else 0
            if height:
                tip = f"{names[n]}: {write(value)}" + (f" ({name})" if len(series) > 1 else "")
                parts.append(rect(LEFT + n * step + step * 0.08 + place * each, HEIGHT - BOTTOM - height, each, height, colour, tip))
    widest = max((len(name) for name in names), default=1) * 6.6 + 6
    every = max(1, math.ceil(widest / step))
    for n in range(every // 2 if every > 2 else 0, count, every):
        parts.append(text(LEFT + (n + 0.5) * step, HEIGHT - 8, names[n], "middle"))
    return svg(label, parts) + (key([(name, colour) for name, colour, _ in series]) if len(series) > 1 else "")


def shares(label, rows, write):
    """A bar that is a whole, and a line for each part: (name, colour, value)."""
    whole = sum(value for _, _, value in rows) or 1
    parts, x = [], 0.0
    for name, colour, value in rows:
        width = value / whole * WIDTH
        parts.append(rect(x, 4, max(0, width - 1), 30, colour, f"{name}: {write(value)}"))
        x += width
    for n, (name, colour, value) in enumerate(rows):
        y = 60 + n * 24
        parts += [rect(0, y - 12, 14, 14, colour), text(22, y, name, colour=INK, size=14),
                  text(WIDTH, y, f"{write(value)}, {100 * value / whole:.0f} %", "end", INK, 14)]
    return svg(label, parts, 60 + len(rows) * 24)


# maps

MERGED = 30  # cells in a row, more than which have no gaps between them


def ramp(share):
    """A colour of cividis, of a share from 0 to 1."""
    at = min(max(share, 0.0), 1.0) * (len(CIVIDIS) - 1)
    n = min(int(at), len(CIVIDIS) - 2)
    mixed = (a + (b - a) * (at - n) for a, b in zip(CIVIDIS[n], CIVIDIS[n + 1]))
    return "#" + "".join(f"{round(c):02x}" for c in mixed)


def grid(label, colours, titles=None):
    """A square of cells in rows, each a colour. Where there are many without titles, neighbours of one colour are one shape."""
    across = max(1, math.ceil(math.sqrt(len(colours))))
    gap = 0.08 if across <= MERGED else 0
    side = WIDTH / across
    rows = math.ceil(len(colours) / across)
    parts, n = [], 0
    while n < len(colours):
        end = n + 1
        while not (titles or gap) and end < len(colours) and end % across and colours[end] == colours[n]:
            end += 1
        x, y = n % across * side, n // across * side
        parts.append(rect(x, y, (end - n - gap) * side, side * (1 - gap), colours[n], titles[n] if titles else ""))
        n = end
    return svg(label, parts, math.ceil(rows * side))


def ramp_key(least, most):
    stops = "".join(f'<stop offset="{n / 8}" stop-color="{ramp(n / 8)}"/>' for n in range(9))
    return (f'<p class="key ramp"><span>{html.escape(least)}</span><svg viewBox="0 0 120 12" width="120" height="12" aria-hidden="true"><defs><linearGradient id="ramp">{stops}'
            f'</linearGradient></defs><rect width="120" height="12" fill="url(#ramp)"/></svg><span>{html.escape(most)}</span>'
            f'<span><i style="background:{FREE}"></i>nothing there</span></p>')
