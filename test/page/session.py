# SPDX-License-Identifier: Apache-2.0
"""Runs scripts of this folder, one after the other, in one browser: to start one for each takes as long as a short script.

usage: session.py CHROMIUM    stdin: a line for each script: the file for its output, its name, its arguments, with tabs between
Prints the exit status of each. A script shares nothing but the browser: it has contexts of its own.
"""
import contextlib
import os
import runpy
import sys
import traceback

from playwright.sync_api import sync_playwright
import must
import wait


def run(name, arguments):
    """The exit status of a script."""
    must.wrong.clear()
    sys.argv = [name] + arguments
    try:
        runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".py"), run_name="__main__")
    except SystemExit as end:
        return int(end.code or 0)
    except Exception:
        traceback.print_exc()
        return 1
    return 0


chromium = sys.argv[1]
with sync_playwright() as playwright:
    for line in sys.stdin:
        output, name, *arguments = line.rstrip("\n").split("\t")
        if not wait.shared or not wait.shared.is_connected():
            wait.shared = wait.launch(playwright, chromium)
        with open(output, "w") as file, contextlib.redirect_stdout(file), contextlib.redirect_stderr(file):
            status = run(name, [chromium] + arguments)
        for context in wait.shared.contexts:
            context.close()
        print(status, flush=True)
    if wait.shared:
        wait.shared.close()
