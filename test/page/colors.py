# SPDX-License-Identifier: Apache-2.0
"""Can all readers tell the page's colours apart, and read its text? usage: colors.py PALETTE_CSS PAGE_CSS

Colours of the palette that one picture may have must differ by 10 (CIE 1976) at least, as everybody sees them and as those do who
lack one kind of cones (Machado, Oliveira and Fernandes 2009, complete). Text must have a contrast of 4.5 (WCAG 2) with what it
stands on, light, dark and printed.
"""
import itertools
import math
import re
import sys

SIGHTS = {
    "everybody": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
LEAST = 10


def linear(color):
    parts = (int(color[i:i + 2], 16) / 255 for i in (1, 3, 5))
    return [part / 12.92 if part <= .04045 else ((part + .055) / 1.055) ** 2.4 for part in parts]


def seen(color, sight):
    """CIE L*a*b* of what is seen of it."""
    red, green, blue = (max(0, sum(a * b for a, b in zip(row, linear(color)))) for row in sight)
    white = (.4124 * red + .3576 * green + .1805 * blue) / .9505, .2126 * red + .7152 * green + .0722 * blue, \
        (.0193 * red + .1192 * green + .9505 * blue) / 1.089
    x, y, z = (part ** (1 / 3) if part > .008856 else 7.787 * part + 16 / 116 for part in white)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def contrast(a, b):
    bright, dark = sorted((sum(share * part for share, part in zip((.2126, .7152, .0722), linear(each))) for each in (a, b)), reverse=True)
    return (bright + .05) / (dark + .05)


def variables(css):
    """The last value counts, as in a style sheet. Short colours (#fff) become long ones."""
    found = re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6}|#[0-9a-f]{3});", css)
    return {name: color if len(color) == 7 else "#" + "".join(2 * digit for digit in color[1:]) for name, color in found}


def check_apart(title, colors):
    wrong = 0
    for name, sight in SIGHTS.items():
        for (a, first), (b, second) in itertools.combinations(colors.items(), 2):
            apart = math.dist(seen(first, sight), seen(second, sight))
            if apart < LEAST:
                print("%s: %s and %s are %.1f apart (%s)" % (title, a, b, apart, name))
                wrong = 1
    print("%s: %d colours" % (title, len(colors)))
    return wrong or len(colors) < 2


# Text, and what it stands on.
TEXTS = [(text, below) for text in ("ink", "dim", "mark", "good", "bad") for below in ("card", "back")] + [("ink", "bar"), ("card", "mark")]

palette, css = variables(open(sys.argv[1]).read()), open(sys.argv[2]).read()
groups = {"memory": {}, "series": {}, "heat": {}, "heatdark": {}, "categories": {}}
for name, color in palette.items():
    group = name.split("-")[0]
    if name not in ("frame", "slower", "faster"):
        groups[group if group in groups else "categories"][name] = color
wrong = sum(check_apart(title, colors) for title, colors in groups.items())
light = variables(css[:css.index("@media")])
schemes = {"light": {}, **{title: variables(re.search(r"@media %s \{\s*:root \{(.*?)\}" % re.escape(media), css, re.S).group(1))
                           for title, media in (("dark", "(prefers-color-scheme: dark)"), ("printed", "print"))}}
for title, own in schemes.items():
    colors = {**light, **own}
    for text, below in TEXTS:
        if contrast(colors[text], colors[below]) < 4.5:
            print("%s: %s on %s has a contrast of %.2f" % (title, text, below, contrast(colors[text], colors[below])))
            wrong = 1
sys.exit(bool(wrong))
