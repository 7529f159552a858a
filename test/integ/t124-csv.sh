#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One view as CSV is one table for other programs: a header and rows of its width, and nothing else.
. "$(dirname "$0")/lib.sh"
need REPORT REPORT_ALONE PYTHON

python3 - "$REPORT" test/golden/v2/ops.gprof test/golden/v2/nccl0.gprof test/golden/v2/hang.gprof test/golden/v2/python.gprof >"$T/out" 2>&1 <<'END' || { cat "$T/out"; failed=1; }
import csv, io, json, subprocess, sys

report, *paths = sys.argv[1:]

def run(*arguments):
    return subprocess.run([report, *arguments], capture_output=True, check=False)

help = run("help", "summary").stdout.decode()
views = [line.split()[0] for line in help.split("\nViews")[1].split("\n\n")[0].splitlines()[1:] if line.startswith("  ")]
assert len(views) > 50, views
nr_rows = 0
for path in paths:
    whole = json.loads(run("--format", "json", "--view", ",".join(views), path).stdout)
    for view in views:
        done = run("--view", view, "--format", "csv", path)
        rows = list(csv.reader(io.StringIO(done.stdout.decode(), newline=""), strict=True))
        table = whole[view.replace("-", "_")]["rows"]
        assert rows, (path, view, done.stderr)
        assert len(rows) == len(table) + 1, (path, view, len(rows), len(table))
        assert all(len(row) == len(rows[0]) for row in rows), (path, view)
        assert len(set(rows[0])) == len(rows[0]), (path, view, rows[0])
        assert not any(cell.startswith("#") for row in rows for cell in row[:1]), (path, view)
        assert not table or len(table[0]) == len(rows[0]), (path, view)
        nr_rows += len(table)
assert nr_rows > 200, nr_rows
# Notes are on stderr; several views have titles, as before.
done = run("--view", "python", "--format", "csv", paths[3])
assert b"note: The table covers the 3 of 4 operators" in done.stderr, done.stderr
done = run("--view", "kernel,api", "--format", "csv", paths[0])
assert [line for line in done.stdout.decode().splitlines() if line.startswith("#")] == [
    "# Processes", "# Kernels", "# API calls"], done.stdout
END
finish
