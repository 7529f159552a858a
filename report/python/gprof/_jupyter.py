# SPDX-License-Identifier: Apache-2.0
"""`%load_ext gprof`: the cell magic %%gprof, which records a cell and shows its report."""

from __future__ import annotations

import os
import shlex
from typing import Any

from gprof._record import record
from gprof._run import GprofError

_USAGE = "usage: %%gprof [--no-page] [-o DIRECTORY] [SETTING=VALUE ...], settings as of gprof.start()"


class _Cells:
    """Cells of a kernel: each is a window of the same stream."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._nr = 0

    def gprof(self, line: str, cell: str) -> Any:
        """%%gprof: runs the cell, and returns its run, which the notebook shows by its first lines."""
        from IPython.display import IFrame, display

        directory, has_page, settings = _parse(line)
        with record(directory, **settings) as run:
            result = self._shell.run_cell(cell)
        if not result.success:
            return None  # the shell has shown why
        if has_page:
            self._nr += 1
            page = os.path.join(os.path.dirname(run.paths[0]), f"cell-{self._nr}.html")
            run.page(page)
            display(run)
            return IFrame(os.path.relpath(page), width="100%", height=640)
        return run


def _parse(line: str) -> "tuple[str | None, bool, dict[str, str]]":
    """What stands behind %%gprof: the directory, with the page?, settings."""
    directory, has_page, settings = None, True, {}
    words = iter(shlex.split(line))
    for word in words:
        name, equals, value = word.partition("=")
        if word == "--no-page":
            has_page = False
        elif word == "-o":
            directory = next(words, None)
        elif equals and name.isidentifier():
            settings[name] = value
        else:
            raise GprofError(f"'{word}' is not understood; {_USAGE}")
    return directory, has_page, settings


def load_ipython_extension(shell: Any) -> None:
    """IPython calls it for `%load_ext gprof`."""
    shell.register_magic_function(_Cells(shell).gprof, "cell", "gprof")
