# SPDX-License-Identifier: Apache-2.0
"""The functions that libgprof.so exports: marks, and recording that the program begins and ends."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator

#: The library in this process: preloaded, or loaded by start(); None: there is none.
library: "ctypes.CDLL | None" = None


def use(loaded: ctypes.CDLL) -> None:
    """From now on marks go to that library."""
    global library
    loaded.gprof_range_push.argtypes = (ctypes.c_char_p,)
    loaded.gprof_start.argtypes = (ctypes.c_char_p,)
    loaded.gprof_stream.restype = ctypes.c_char_p
    library = loaded


def _find() -> None:
    # PyDLL: the calls are short, and start() looks at the interpreter, for which it needs the GIL.
    with contextlib.suppress(AttributeError, OSError):
        use(ctypes.PyDLL(None))


_find()


def is_recorded() -> bool:
    """Is libgprof.so in this process, preloaded or by start()?"""
    return library is not None


def step() -> None:
    """Ends a step, if GPROF_STEP is auto or unset."""
    if library:
        library.gprof_step()


@contextlib.contextmanager
def range(name: str) -> Iterator[None]:
    """A named range of the calling thread, as of nvtxRangePush and nvtxRangePop.

    Also a decorator: @gprof.range("load").
    """
    to = library
    if to:
        to.gprof_range_push(name.encode(errors="replace"))
    try:
        yield
    finally:
        if to:
            to.gprof_range_pop()


def start(settings: "bytes | None") -> int:
    """The window that it opens, 0 or -errno: see preload/inside.c."""
    assert library
    return int(library.gprof_start(settings))


def stop() -> int:
    """0 or -errno. Without the GIL: it waits for the stream."""
    return ctypes.CDLL(library._name).gprof_stop() if library else -1


def stream() -> str:
    """The path of this process's stream."""
    assert library
    return (library.gprof_stream() or b"").decode(errors="surrogateescape")
