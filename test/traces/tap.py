# SPDX-License-Identifier: Apache-2.0
"""Lines of TAP, counted: what compare.py, analysis.py and paddle.py find."""
number = failed = 0


def test(name, wrong):
    """wrong: what does not hold; three of them are printed."""
    global number, failed
    number += 1
    failed += bool(wrong)
    print(f"{'not ok' if wrong else 'ok'} {number} - traces: {name}")
    for one in wrong[:3]:
        print(f"#   {one}")


def check(name, found, expected):
    test(name, [] if found == expected else [f"{found} and not {expected}"])


def finish():
    """The plan, and the exit status."""
    print(f"1..{number}")
    return failed > 0
