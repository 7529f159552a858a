# SPDX-License-Identifier: Apache-2.0
"""Marks for the recorder in this process: functions that libgprof.so exports."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator


def _find(name: str, *arguments: type) -> "ctypes._NamedFuncPointer | None":
    """The function of the preloaded library; None if the process runs without it."""
    try:
        function = getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError):
        return None
    function.argtypes = arguments
    return function


_step = _find("gprof_step")
_push = _find("gprof_range_push", ctypes.c_char_p)
_pop = _find("gprof_range_pop")


def is_recorded() -> bool:
    """Is libgprof.so preloaded into this process?"""
    return _step is not None


def step() -> None:
    """Ends a step, if GPROF_STEP is auto or unset."""
    if _step:
        _step()


@contextlib.contextmanager
def range(name: str) -> Iterator[None]:
    """A named range of the calling thread, as of nvtxRangePush and nvtxRangePop.

    Also a decorator: @gprof.range("load").
    """
    if _push and _pop:
        _push(name.encode(errors="replace"))
    try:
        yield
    finally:
        if _push and _pop:
            _pop()
