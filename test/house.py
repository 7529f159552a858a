#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints figures of the sources, by component: lines of code and of comments, heads, functions.

usage: house.py [ROOT]

A line of code is neither blank, nor a comment, nor braces and punctuation alone. The share of comments is of all lines. A
head is the comment that a file begins with, behind the licence. Parameters of functions are counted in declarations, too.
"""
import os
import re
import statistics
import sys

WORDS = 5  # of a head, at least

FUNCTION = re.compile(r"^(?:[a-z_][\w \t*]*?[\s*])(\w+)\(((?:[^()]|\([^()]*\))*)\)\s*([{;])", re.M)
LITERAL_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)


def without_comments(text):
    """The text with as many lines, comments as blanks, literals as they are."""
    def blank(match):
        found = match.group(0)
        return "\n" * found.count("\n") if found.startswith("/") else found

    return LITERAL_OR_COMMENT.sub(blank, text)


def has_head(text):
    text = text.replace("/* clang-format off */\n", "", 1)
    comments = re.findall(r"/\*.*?\*/", text, re.S)
    if len(comments) < 2 or not re.match(r"\s*/\*.*?\*/\s*/\*", text, re.S):
        return False
    return len(re.findall(r"\w+", comments[1])) >= WORDS


def nr_parameters(text):
    depth, nr = 0, 1
    for letter in text:
        depth += letter in "([{"
        depth -= letter in ")]}"
        nr += letter == "," and not depth
    return nr


def functions_of(code):
    """(name, parameters, lines of the body; None for a declaration) of each function."""
    code = re.sub(r"^[ \t]*#.*(?:\\\n.*)*$", lambda m: "\n" * m.group(0).count("\n"), code, flags=re.M)
    for match in FUNCTION.finditer(code):
        lines = None
        if match.group(3) == "{":
            end = code.find("\n}", match.end())
            lines = code.count("\n", match.end(), end) if end > 0 else None
        yield match.group(1), nr_parameters(match.group(2)), lines


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), ".."))
    many = set()
    for component in ("report", "collector", "preload"):
        for end in (".c", ".h"):
            paths = [os.path.join(d, f) for d, _, fs in os.walk(component) for f in fs if f.endswith(end)]
            nr_code = nr_comments = nr_lines = 0
            headless, sizes, bodies = [], [], []
            for path in sorted(paths):
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                code = without_comments(text)
                sizes.append(text.count("\n"))
                nr_lines += sizes[-1]
                for before, after in zip(text.split("\n"), code.split("\n")):
                    stripped = after.strip()
                    nr_code += bool(stripped) and not re.fullmatch(r"[{}();,]+", stripped)
                    nr_comments += bool(before.strip()) and not stripped
                if not has_head(text):
                    headless.append(path)
                for name, nr, lines in functions_of(code):
                    bodies += [lines] if lines is not None else []
                    many |= {name} if nr > 6 else set()
            print(f"{component + '/*' + end:14} files {len(paths)}, lines {nr_lines}, longest {max(sizes)}, "
                  f"code {nr_code}, comments {100 * nr_comments / nr_lines:.1f} %, without a head {len(headless)}")
            if end == ".c":
                bodies.sort()
                print(f"{'':14} functions {len(bodies)}, lines: median {statistics.median(bodies):.0f}, "
                      f"p90 {bodies[len(bodies) * 9 // 10]}, longest {bodies[-1]}")
            for path in headless[:8]:
                print(f"{'':14} {path}")
    print("functions with more than 6 parameters:", ", ".join(sorted(many)))


main()
