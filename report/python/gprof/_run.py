# SPDX-License-Identifier: Apache-2.0
"""A recorded run: tables by the command gprof-report, as data frames."""

from __future__ import annotations

import html
import json
import os
import shutil
import subprocess
import sysconfig
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

_NAMES = ("name", "stack", "cause", "metric")  # columns that name a row
_INCOMPLETE = 3  # gprof-report's exit status: done, but data are missing


class GprofError(RuntimeError):
    """gprof-report failed; the text is its own, with what to do."""


class IncompleteWarning(UserWarning):
    """The figures are right for what was recorded, but data are missing; the text says which."""


def find_report(given: str | os.PathLike[str] | None) -> str:
    """The command: the given one, that of this Python's environment, else that of PATH."""
    own = Path(sysconfig.get_path("scripts")) / "gprof-report"
    found = os.fspath(given) if given else str(own) if own.exists() else shutil.which("gprof-report")
    if not found:
        raise GprofError("there is no gprof-report in PATH; install gprof, or name it: gprof.load(path, report=...)")
    return found


def _options(options: Mapping[str, Any]) -> Iterable[str]:
    """steps="3-7", per_rank=True -> --steps=3-7 --per-rank."""
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            yield option
        elif isinstance(value, (list, tuple)):
            for each in value:
                yield f"{option}={each}"
        elif value is not None and value is not False:
            yield f"{option}={value}"


def _frame(rows: list[dict[str, Any]]) -> "pandas.DataFrame":
    """Unknown values are NA; whole numbers stay whole."""
    import pandas

    return pandas.DataFrame.from_records(rows).convert_dtypes()


class Run:
    """Streams or traces, read anew by each call, so that a running job can be looked at.

    All methods take further options of gprof-report by name: rank="0-3", steps="10-20", window=2.
    They raise GprofError if nothing can be read, and warn (IncompleteWarning) if data are missing.
    """

    def __init__(self, *paths: str | os.PathLike[str], report: str | os.PathLike[str] | None = None) -> None:
        self.paths = [os.fspath(path) for path in paths]
        self._report = find_report(report)
        self._defaults: dict[str, Any] = {}  # options of each call

    def _run(self, command: str, *arguments: str) -> str:
        done = subprocess.run(
            [self._report, command, *_options(self._defaults), *arguments], capture_output=True, encoding="utf-8", errors="replace", check=False
        )
        said = done.stderr.strip()
        if done.returncode not in (0, _INCOMPLETE):
            raise GprofError(said or f"gprof-report ended with status {done.returncode}")
        if said:
            warnings.warn(said, IncompleteWarning, stacklevel=3)
        return done.stdout

    def _rows(self, view: str, options: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        printed = json.loads(
            self._run("summary", f"--view={view}", "--format=json", "--top=0", *_options(options), "--", *self.paths)
        )
        table = printed.get(view.replace("-", "_"), {})
        return table, table.get("rows", [])

    def view(self, name: str, **options: Any) -> "pandas.DataFrame":
        """The table of a view with all its rows and columns; `gprof-report help summary` lists the views.

        The name of a row comes first. Columns have their units in their names: total_ns, share_pct. The title
        and the note, which says what the numbers exclude, are in `attrs`.
        """
        table, rows = self._rows(name, options)
        frame = _frame(rows)
        columns = list(frame.columns) or table.get("columns", [])
        first = [column for column in _NAMES if column in columns][:1]
        frame = frame.reindex(columns=first + [column for column in columns if column not in first])
        frame.attrs.update({key: value for key, value in table.items() if key not in ("rows", "columns")})
        return frame

    @property
    def steps(self) -> "pandas.DataFrame":
        """The steps of all processes: when, how long, and their phases."""
        return self.view("steps")

    def headline(self, **options: Any) -> dict[str, Any]:
        """The first screen as figures: what ran, the step time, where it goes, what would save most."""
        _, rows = self._rows("headline", options)
        return rows[0] if rows else {}

    def whatif(
        self, *, remove: str | Iterable[str] = (), scale: str | Iterable[str] = (), **options: Any
    ) -> "pandas.DataFrame":
        """Predicted step times. remove="loader", scale="kernel:gemm=0.5"; without either, all usual changes."""
        changes = {
            "remove": [remove] if isinstance(remove, str) else list(remove),
            "scale": [scale] if isinstance(scale, str) else list(scale),
        }
        printed = json.loads(
            self._run("whatif", "--format=json", "--top=0", *_options({**changes, **options}), "--", *self.paths)
        )
        table = printed.get("what_if", {})
        frame = _frame(table.get("rows", []))
        frame.attrs.update({key: value for key, value in table.items() if key not in ("rows", "columns")})
        return frame

    def sql(self, query: str, **options: Any) -> "pandas.DataFrame":
        """The rows of a query, of the first of several; `gprof-report sql --schema` lists tables and columns."""
        arguments = [*_options(options), "--", query, *self.paths]
        result = json.loads(self._run("sql", "--format=json", *arguments))["result"]
        frame = _frame(result["rows"])
        return frame.reindex(columns=result["columns"]) if frame.empty else frame

    def page(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Writes the page, one HTML file with all tables, charts and the timeline."""
        self._run("html", "-o", os.fspath(path), *_options(options), "--", *self.paths)

    def text(self, **options: Any) -> str:
        """The first lines of the report, as on a terminal."""
        return self._run("summary", "--view=headline", "--color=never", *_options(options), "--", *self.paths)

    def __repr__(self) -> str:
        call = f"gprof.load({', '.join(map(repr, self.paths))})"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return f"{call}\n{self.text().strip()}"
        except GprofError:
            return call

    def _repr_html_(self) -> str:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            text = self.text()
        missing = "".join(f"<p>{html.escape(str(each.message))}</p>" for each in caught)
        return f"<pre>{html.escape(text.strip())}</pre>{missing}"


def load(*paths: str | os.PathLike[str], report: str | os.PathLike[str] | None = None) -> Run:
    """A dump directory, streams, or traces of other profilers; without a path GPROF_DIR or gprof-dump.

    report: the command gprof-report, if it is neither in this package nor in PATH.
    """
    run = Run(*paths, report=report)
    for path in run.paths:
        if not os.path.exists(path):
            raise GprofError(f"cannot read '{path}': it does not exist")
    return run
