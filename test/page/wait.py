# SPDX-License-Identifier: Apache-2.0
"""Waits for what a page will show. Playwright's own wait_for_function evaluates text within the page,
which the page's policy forbids as soon as it has to look twice."""
import time


def until(page, script, arg=None, seconds=60):
    """Asks the script until its answer is true."""
    end = time.monotonic() + seconds
    while not page.evaluate(script, arg):
        if time.monotonic() > end:
            raise TimeoutError(f"not true within {seconds} s: {script}")
        time.sleep(0.02)
