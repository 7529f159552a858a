# SPDX-License-Identifier: Apache-2.0
"""Collects what does not hold of a page, and reports it at the end."""
import sys

wrong = []


def must(holds, text):
    if not holds:
        wrong.append(text)


def finish():
    """Tells what is wrong, and ends with that."""
    for each in list(dict.fromkeys(wrong))[:20]:
        print("wrong: " + each)
    sys.exit(bool(wrong))
