# SPDX-License-Identifier: Apache-2.0
"""Recording that a running program begins and ends itself: libgprof.so, loaded when it is asked for."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import sys
import sysconfig
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gprof import _marks
from gprof._run import GprofError, Run, find_report

_lock = threading.Lock()
#: Those that the process began to record with: to give them again changes nothing.
_settings: dict[str, Any] = {}


def _candidates() -> Iterator[Path]:
    """Where the library may be: of this Python's environment, beside the command, of the system."""
    yield Path(sysconfig.get_path("data")) / "lib" / "libgprof.so"
    with contextlib.suppress(GprofError):
        report = Path(find_report(None)).resolve()
        yield report.parent / "libgprof.so"
        yield report.parent.parent / "lib" / "libgprof.so"
    yield from (Path(path) / "libgprof.so" for path in ("/usr/local/lib", "/usr/lib"))


def _load(library: str | os.PathLike[str] | None) -> None:
    """Loads the library, unless the process has it. Its names stay its own: no call of the program changes."""
    if _marks.library is not None:
        return
    path = library or next((each for each in _candidates() if each.exists()), None)
    if path is None:
        raise GprofError("there is no libgprof.so; install gprof, or name it: gprof.start(library=...)")
    try:
        loaded = ctypes.PyDLL(os.path.abspath(path))
    except OSError as error:
        raise GprofError(f"{error}; start the program by gprof-record instead") from None
    _marks.use(loaded)


def _lines(settings: dict[str, Any]) -> bytes:
    """python="stacks", calls=True -> GPROF_PYTHON=stacks, GPROF_CALLS=1."""
    texts = {name: str(int(value) if isinstance(value, bool) else value) for name, value in settings.items()}
    for name, text in texts.items():
        if "\n" in text:
            raise ValueError(f"{name}={text!r} has two lines; a setting of gprof has one")
    return "\n".join(f"GPROF_{name.upper()}={text}" for name, text in texts.items()).encode()


def _check(rc: int, settings: dict[str, Any]) -> int:
    """The window that this call has opened, 0: recording was on; raises what prevents that."""
    if rc >= 0:
        return rc
    if rc in (-errno.EINVAL, -errno.E2BIG):
        given = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        raise ValueError(f"gprof accepts no such settings: {given}; `gprof-report env` lists names and values")
    if rc == -errno.EBUSY:
        raise GprofError("settings count when the process begins to record, which it has done already")
    if rc == -errno.EPERM:
        raise GprofError("gprof is switched off in this process: GPROF_ENABLE=0, or another libgprof.so records")
    raise GprofError("nothing can be recorded in this process; GPROF_LOG=info in the environment says why")


def _start(
    directory: str | os.PathLike[str] | None, library: str | os.PathLike[str] | None, settings: dict[str, Any]
) -> int:
    if directory is not None:
        settings = {"dir": os.path.abspath(directory), **settings}
    with _lock:
        _load(library)
        is_new = bool(settings) and settings != _settings
        rc = _marks.start(_lines(settings) if is_new else None)
        window = _check(rc, settings)
        if is_new:
            _settings.update(settings)
        return window


def start(
    directory: str | os.PathLike[str] | None = None, *, library: str | os.PathLike[str] | None = None, **settings: Any
) -> bool:
    """Begins to record this process, also one that was not started under gprof, or goes on.

    directory: for the stream (default: GPROF_DIR, else gprof-dump). Further settings are the variables of
    `gprof-report env` without GPROF_: python="stacks", torch="shapes", schedule="10-20". All of them count in
    the first call alone. Returns False if recording was on already. Any thread.
    """
    return _start(directory, library, settings) > 0


def stop() -> None:
    """Ends what start() began; afterwards the stream has what was recorded. Another start() goes on in it.

    GPU work that has not ended yet arrives later: wait for it first (torch.cuda.synchronize()).
    """
    with _lock:
        if _marks.stop() < 0:
            raise GprofError("nothing is being recorded")


def _wait_for_gpu() -> None:
    """As torch.profiler does at its end; without PyTorch's CUDA nothing."""
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is not None and cuda.is_available() and cuda.is_initialized():
        cuda.synchronize()


class _Recording(Run):
    """What record() gives: without figures while it records; then one window of the process's stream."""

    def _end(self, path: str, window: int) -> None:
        self.paths = [path]
        if window:
            self._defaults = {"window": window}


@contextlib.contextmanager
def record(
    directory: str | os.PathLike[str] | None = None,
    *,
    library: str | os.PathLike[str] | None = None,
    report: str | os.PathLike[str] | None = None,
    **settings: Any,
) -> Iterator[Run]:
    """Records a part of the program: `with gprof.record("run1") as run: ...`; then `run` is what load() gives.

    Arguments as of start(). At the end it waits for the GPU, where PyTorch uses it. Where recording is on
    already, as under gprof-record, nothing is switched, and `run` is the whole process.
    """
    run = _Recording(report=report)
    window = _start(directory, library, settings)
    try:
        yield run
    finally:
        if window:
            _wait_for_gpu()
            stop()
        run._end(_marks.stream(), window)
