# SPDX-License-Identifier: Apache-2.0
"""The Python module on a dump: module.py REPORT DUMP INCOMPLETE. Prints what is wrong; nothing where all is right."""

import json
import subprocess
import sys
import warnings

import gprof
import nbclient
import nbformat
import pandas

report, dump, incomplete = sys.argv[1:]
run = gprof.load(dump, report=report)


def same(wanted, got, what):
    if wanted != got:
        print(f"not as expected: {what}: want {wanted!r}, have {got!r}")


def printed(*arguments):
    return json.loads(subprocess.run([report, *arguments, "--format", "json", dump], capture_output=True, check=True).stdout)


# Each view: the rows, columns and values that the command prints, as whole numbers where they are.
warnings.simplefilter("error")
for name in ("kernel", "api", "steps", "idle-gaps", "launch-latency"):
    rows = printed("--top", "0", "--view", name)[name.replace("-", "_")]["rows"]
    frame = run.view(name)
    if not rows:
        sys.exit(f"the dump has no {name}")
    same(len(rows), len(frame), f"rows of {name}")
    names = [key for key in ("name", "cause") if key in rows[0]][:1]
    same(names + [key for key in rows[0] if key not in names], list(frame.columns), f"columns of {name}, its names first")
    for key in rows[0]:
        got = [None if pandas.isna(value) else value for value in frame[key]]
        same([row[key] for row in rows], got, f"{name}.{key}")
    for key in frame.columns:
        if key.endswith("_ns") and frame[key].notna().any():
            same(True, pandas.api.types.is_integer_dtype(frame[key]), f"whole numbers in {name}.{key}")
same("Kernels", run.view("kernel").attrs["title"], "title")
none = run.view("operator")
same((0, ["name", "share_pct", "self_ns", "total_ns"]), (len(none), list(none.columns)[:4]), "columns of a view without rows")
same([f"gprof.load({dump!r})", *run.text().strip().splitlines()], repr(run).splitlines(), "what a run shows of itself")
same(3, int(run.view("kernel", steps="2")["calls"].sum()), "options by name")
same(list(run.view("steps").columns), list(run.steps.columns), "steps")
same(printed("--view", "headline")["headline"]["rows"][0], run.headline(), "headline")

changes = printed("whatif", "--scale", "kernel:.=0.5", "--remove", "sync")["what_if"]["rows"]
frame = run.whatif(scale="kernel:.=0.5", remove=["sync"])
same([row["predicted_ns"] for row in changes], list(frame["predicted_ns"]), "whatif")

total = run.view("kernel")["total_ns"].sum()
same(total, run.sql("SELECT sum(dur_ns) AS total FROM kernel")["total"][0], "sql against the view")
same([True], list(run.sql("SELECT kernel_name FROM kernel LIMIT 1")["kernel_name"].map(lambda name: isinstance(name, str))), "texts of sql")
same(["pid", "calls"], list(run.sql("SELECT pid, count(*) AS calls FROM kernel WHERE dur_ns < 0 GROUP BY pid").columns), "no rows")

# What cannot be done has the command's own sentence.
for call, sentence in (
    (lambda: run.view("kernl"), "did you mean kernel?"),
    (lambda: run.sql("SELECT nought FROM kernel"), "no such column: nought"),
    (lambda: run.view("kernel", sort="nothing"), "no view has such a column"),
    (lambda: gprof.load("nowhere", report=report), "cannot read 'nowhere': it does not exist"),
):
    try:
        call()
        print(f"no error: {sentence}")
    except gprof.GprofError as error:
        same(True, sentence in str(error), f"{sentence!r} in {error}")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    frame = gprof.load(incomplete, report=report).view("kernel")
    same([gprof.IncompleteWarning], [each.category for each in caught], "warnings of an incomplete run")
    same(True, len(frame) > 0, "rows of an incomplete run")

# Marks do nothing without the recorder.
same(False, gprof.is_recorded(), "is_recorded")
gprof.step()
with gprof.range("x"):
    pass

# In a notebook the run shows itself.
cells = [
    nbformat.v4.new_code_cell(f"import gprof\nrun = gprof.load({dump!r}, report={report!r})\nrun"),
    nbformat.v4.new_code_cell("run.view('kernel').head(2)"),
]
notebook = nbformat.v4.new_notebook(cells=cells)
nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
shown = notebook.cells[0].outputs[0]["data"]
same(True, "<pre>s_loop" in shown["text/html"], f"the run in a notebook: {shown}")
same(True, "step_kernel" in notebook.cells[1].outputs[0]["data"]["text/html"], "a table in a notebook")
