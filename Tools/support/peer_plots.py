"""Plots of a comparison, as SVG: a bar for each row, with a line from the least to the most of its rounds."""

from xml.sax.saxutils import escape

COLOURS = {"Strata": "#1f6feb", "before": "#93b8ee", "limit": "#c9a227"}
PEER = "#8c959f"
INK = "#1f2328"
LABELS, BARS, FIGURES = 210, 400, 130
ROW, GAP = 24, 44
FONT = "font-family='Helvetica, Arial, sans-serif'"


def plot(group, text_of, ratio_of):
    """A plot of a group: its panels one below the other, each with its own scale from zero."""
    width = LABELS + BARS + FIGURES
    parts, top = [], 48
    for panel in group["panels"]:
        parts.append(text(12, top, f"{panel['title']} ({panel['unit']}"
                          + (", less is better)" if panel["unit"] == "bytes" else ")"), 13, "bold"))
        top += 12
        scale = BARS / max(row["most"] for row in panel["rows"])
        for row in panel["rows"]:
            parts += bar(row, top, scale, f"{text_of(row['median'], panel['unit'])}  ({ratio_of(row['ratio'])} ×)")
            top += ROW
        parts.append(f"<line x1='{LABELS}' y1='{top - ROW * len(panel['rows'])}' x2='{LABELS}' y2='{top}' "
                     f"stroke='{INK}' stroke-width='1'/>")
        top += GAP
    height = top - GAP + 16
    title = text(12, 24, group["title"], 15, "bold")
    return (f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' "
            f"viewBox='0 0 {width} {height}' role='img' aria-label='{escape(group['title'])}'>\n"
            f"<rect width='{width}' height='{height}' fill='white'/>\n" + "\n".join([title, *parts]) + "\n</svg>\n")


def bar(row, top, scale, figure):
    """The label, the bar, the line of its rounds, and the figure of one row."""
    middle = top + ROW / 2
    end, least, most = (LABELS + row[key] * scale for key in ("median", "least", "most"))
    colour = COLOURS.get(row["library"], PEER)
    weight = "bold" if row["library"] == "Strata" else "normal"
    return [
        text(LABELS - 8, middle + 4, row["name"], 12, weight, "end"),
        f"<rect x='{LABELS}' y='{top + 4}' width='{end - LABELS:.1f}' height='{ROW - 8}' fill='{colour}'/>",
        f"<line x1='{least:.1f}' y1='{middle}' x2='{most:.1f}' y2='{middle}' stroke='{INK}' stroke-width='1.5'/>",
        text(max(end, most) + 6, middle + 4, figure, 12, weight),
    ]


def text(x, y, words, size, weight="normal", anchor="start"):
    return (f"<text x='{x:.1f}' y='{y:.1f}' {FONT} font-size='{size}' font-weight='{weight}' text-anchor='{anchor}' "
            f"fill='{INK}'>{escape(words)}</text>")
