"""The pictures of docs/concepts.md: boxes, arrows and words, as SVG on a white card.

python docs/pictures/draw.py

White, so that they can be read on light and dark pages alike. Every picture has a title and a description
inside for screen readers.
"""

from html import escape
from pathlib import Path

HERE = Path(__file__).parent
BLUE, GREEN, ORANGE, RED, GREY, INK = "#0072B2", "#007A5A", "#B35900", "#B3261E", "#5F6368", "#1B1B1B"
PALE = {BLUE: "#E3F0F8", GREEN: "#E1F3EC", ORANGE: "#FBEBD9", RED: "#FBE4E2", GREY: "#F0F0F0"}


def text(x: float, y: float, words: str, colour: str = INK, size: int = 15, anchor: str = "middle") -> str:
    """Lines of words, the first on y."""
    style = f'fill="{colour}" font-size="{size}" text-anchor="{anchor}"'
    lines = "".join(
        f'<tspan x="{x}" dy="{0 if i == 0 else size * 1.3:.0f}">{escape(line)}</tspan>'
        for i, line in enumerate(words.split("\n"))
    )
    return f'<text x="{x}" y="{y}" {style}>{lines}</text>'


def box(x: float, y: float, w: float, h: float, words: str, colour: str = BLUE) -> str:
    """A rectangle with words in its middle."""
    paint = f'rx="8" fill="{PALE[colour]}" stroke="{colour}"'
    shape = f'<rect x="{x}" y="{y}" width="{w}" height="{h}" {paint}/>'
    return shape + text(x + w / 2, y + h / 2 + 5 - words.count("\n") * 9.75, words)


def circle(x: float, y: float, words: str, colour: str = BLUE, dashed: bool = False) -> str:
    """A node of a graphical model."""
    dash = ' stroke-dasharray="6 4"' if dashed else ""
    return f'<circle cx="{x}" cy="{y}" r="30" fill="{PALE[colour]}" stroke="{colour}"{dash}/>' + text(
        x, y + 6, words, size=18
    )


def arrow(x1: float, y1: float, x2: float, y2: float, colour: str = INK, dashed: bool = False) -> str:
    """From one point to another."""
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    line = f'x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour}" stroke-width="2"'
    return f'<line {line}{dash} marker-end="url(#tip)"/>'


def bar(x: float, y: float, w: float, colour: str, h: float = 24) -> str:
    """A filled bar."""
    return f'<rect x="{x}" y="{y}" width="{w}" height="{h}" fill="{colour}"/>'


def line(x1: float, y1: float, x2: float, y2: float, colour: str = GREY) -> str:
    """A thin line."""
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour}" stroke-width="1.2"/>'


def picture(name: str, w: int, h: int, title: str, told: str, *parts: str) -> None:
    """Write one picture."""
    tip = (
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="#1B1B1B"/></marker></defs>'
    )
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" '
        f'aria-labelledby="t d" font-family="system-ui, sans-serif"><title id="t">{escape(title)}</title>'
        f'<desc id="d">{escape(told)}</desc>{tip}<rect width="{w}" height="{h}" rx="10" fill="white"/>'
    )
    (HERE / f"{name}.svg").write_text("\n".join([head, *parts, "</svg>"]) + "\n", encoding="utf-8")


picture(
    "blackwell",
    720,
    250,
    "The Blackwell order",
    "The world makes the data, and the data are curated. Whoever has the data can do the curation "
    "himself, so every "
    "decision from curated data can be made from the data too, and its expected loss is at least as large.",
    box(20, 60, 130, 70, "the world\nθ", GREY),
    arrow(152, 95, 238, 95),
    box(240, 60, 130, 70, "data\nD", BLUE),
    arrow(372, 95, 518, 95),
    text(445, 84, "curation f", GREY, 14),
    box(520, 60, 180, 70, "curated data\nf(D)", ORANGE),
    arrow(305, 132, 305, 178),
    arrow(610, 132, 610, 178),
    text(305, 200, "best decision from D:\nloss L", BLUE),
    text(610, 200, "best decision from f(D):\nloss L or more", ORANGE),
    text(360, 32, "If f sees nothing but D, whoever has D can do everything that f(D) allows."),
)

picture(
    "features",
    720,
    300,
    "The graphical model of non-essential features",
    "The world θ and the essential features z decide the label y. The image or row shows z and also a"
    " non-essential "
    "attribute, such as the scanner, which has no arrow to the label.",
    circle(120, 80, "θ", GREY),
    text(120, 36, "the world", GREY),
    circle(320, 80, "y", GREEN),
    text(320, 36, "label", GREEN),
    circle(320, 220, "z", BLUE),
    text(320, 274, "essential features", BLUE),
    circle(540, 80, "a", ORANGE, dashed=True),
    text(540, 36, "attribute (scanner, colour)", ORANGE),
    circle(540, 220, "x", GREY),
    text(540, 274, "what a row shows", GREY),
    arrow(152, 80, 286, 80),
    arrow(320, 188, 320, 114),
    arrow(352, 220, 506, 220),
    arrow(540, 112, 540, 186),
    text(430, 74, "no arrow:\na says nothing of y\nonce z is known", RED, 14),
)

picture(
    "evidence",
    720,
    250,
    "PMI as better prediction",
    "Two bars: how probable the test labels are without the data, and with the data. The second bar "
    "is shorter. The "
    "difference is the pointwise mutual information.",
    text(360, 32, "How surprised is the model by the labels of the test set T?"),
    text(170, 85, "without D:  −log p(T)", INK, 15, "end"),
    bar(185, 67, 470, "#9AA0A6"),
    text(170, 135, "with D:  −log p(T | D)", INK, 15, "end"),
    bar(185, 117, 250, BLUE),
    bar(437, 117, 218, PALE[GREEN]),
    text(546, 135, "PMI", GREEN, 16),
    line(436, 60, 436, 160),
    line(655, 60, 655, 160),
    text(
        360,
        195,
        "PMI = log p(T | D) − log p(T) = log Z(D and T) − log Z(D) − log Z(T), in nats.\n"
        "Below zero: with the data the test labels are predicted worse than without any.",
        INK,
        14,
    ),
)

picture(
    "yardstick",
    720,
    290,
    "The yardstick",
    "The test set alone makes the yardstick: features, model, prior. It is frozen and hashed. Before,"
    " blind baselines and after "
    "are measured on it, and no arrow leads from them to the yardstick.",
    box(20, 100, 130, 70, "test set T", GREY),
    arrow(152, 135, 218, 135),
    text(185, 124, "fit", GREY, 14),
    box(220, 80, 200, 110, "yardstick\nfeatures, model, prior\nfrozen, with a hash", BLUE),
    *(arrow(422, 135, 538, y) for y in (60, 135, 210)),
    box(540, 30, 160, 60, "before", GREEN),
    box(540, 105, 160, 60, "blind baselines", GREY),
    box(540, 180, 160, 60, "after", ORANGE),
    text(
        360,
        270,
        "Nothing flows back: nobody's data can move the yardstick that they are measured on.",
        INK,
        14,
    ),
)

picture(
    "control",
    720,
    270,
    "What a gain is compared with",
    "Three bars of PMI: before, the best blind baseline, and after. The gain up to the baseline is blind, "
    "the gain beyond it is external.",
    text(360, 32, "A gain is split at what the best blind baseline reaches with as many rows."),
    text(170, 85, "before", INK, 15, "end"),
    bar(185, 67, 200, "#9AA0A6"),
    text(170, 135, "best blind baseline", INK, 15, "end"),
    bar(185, 117, 300, BLUE),
    text(170, 185, "after", INK, 15, "end"),
    bar(185, 167, 440, GREEN),
    line(385, 58, 385, 215),
    line(485, 108, 485, 215),
    line(625, 158, 625, 215),
    text(435, 234, "blind gain", BLUE, 14),
    text(555, 234, "external gain", GREEN, 14),
    text(185, 258, "PMI →", GREY, 13, "start"),
)

picture(
    "verdicts",
    720,
    420,
    "The plane of verdicts",
    "Change of information to the right, change of accuracy upwards. Right half: informative, "
    "improved, recycled, by what "
    "the blind baselines reach. Left half, information decreased: strategic where accuracy holds, harmful "
    "where more is lost than "
    "at random, costly otherwise. In the middle strip: inconclusive.",
    f'<rect x="40" y="40" width="280" height="160" fill="{PALE[ORANGE]}"/>',
    f'<rect x="40" y="200" width="280" height="160" fill="{PALE[RED]}"/>',
    f'<rect x="400" y="40" width="280" height="320" fill="{PALE[GREEN]}"/>',
    f'<rect x="320" y="40" width="80" height="320" fill="{PALE[GREY]}"/>',
    line(40, 200, 320, 200, INK),
    text(180, 95, "strategic", ORANGE, 19),
    text(180, 120, "accuracy holds, less is lost\nthan by random removal", INK, 14),
    text(180, 250, "harmful", RED, 19),
    text(180, 275, "loses more than random removal", INK, 14),
    text(180, 315, "costly", RED, 19),
    text(180, 340, "neither is shown", INK, 14),
    text(540, 95, "informative", GREEN, 19),
    text(540, 118, "beyond every blind baseline", INK, 14),
    text(540, 185, "improved", GREEN, 19),
    text(540, 208, "more test rows would tell", INK, 14),
    text(540, 285, "recycled", GREEN, 19),
    text(540, 308, "a blind baseline reaches it", INK, 14),
    text(360, 195, "incon-\nclusive", GREY, 15),
    text(360, 28, "accuracy rises ↑", GREY, 14),
    text(360, 382, "accuracy falls ↓", GREY, 14),
    text(40, 405, "← information falls", GREY, 14, "start"),
    text(680, 405, "information rises →", GREY, 14, "end"),
)

picture(
    "scope",
    720,
    250,
    "The scope of the guarantee",
    "Three conditions, each with the checks that look at it: no test rows in the data, a calibrated "
    "yardstick, and features "
    "that matter are seen. Only if all three hold does a fall of the score mean a loss of information.",
    box(20, 40, 210, 90, "no test rows in the data\ncopies are taken out\nDW003", BLUE),
    box(255, 40, 210, 90, "a calibrated yardstick\ndoubling gains nothing\nDW001, DW005, DW009", BLUE),
    box(490, 40, 210, 90, "what matters is seen\nattribute adds nothing\nDW012, DW013, DW014", BLUE),
    arrow(125, 132, 300, 178),
    arrow(360, 132, 360, 178),
    arrow(595, 132, 420, 178),
    box(
        140, 180, 440, 60, "then, on average, nothing that is made\nof the data alone raises the score", GREEN
    ),
)
