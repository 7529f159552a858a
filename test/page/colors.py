# SPDX-License-Identifier: Apache-2.0
"""Can those who see fewer colours tell the page's colours apart? usage: colors.py FILE...

Of each file the colours of the longest list: pairs of them must differ by 10 (CIE 1976) at least, as everybody sees them and as
those do who lack one kind of cones (Machado, Oliveira and Fernandes 2009, complete).
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


wrong = 0
for path in sys.argv[1:]:
    lists = re.findall(r"(?:const colors|const kinds) = \[(.*?)\];", open(path).read(), re.S)
    colors = list(dict.fromkeys(re.findall(r'"(#[0-9a-f]{6})"', max(lists, key=len))))
    for name, sight in SIGHTS.items():
        for a, b in itertools.combinations(colors, 2):
            apart = math.dist(seen(a, sight), seen(b, sight))
            if apart < LEAST:
                print("%s: %s and %s are %.1f apart (%s)" % (path, a, b, apart, name))
                wrong = 1
    print("%s: %d colours" % (path, len(colors)))
sys.exit(wrong)
