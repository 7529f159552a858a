# SPDX-License-Identifier: Apache-2.0
"""What gprof recorded, in Python, and marks in the program that it records.

Reading: a thin layer over the command gprof-report, which computes everything.

    import gprof
    run = gprof.load("gprof-dump")
    run                       # in a notebook: what ran, the step time, where it goes, what would save most
    run.view("kernel")        # a pandas.DataFrame; units are in the names of the columns
    run.sql("SELECT count(*) FROM kernel")

Recording, also in a process that was not started under gprof:

    with gprof.record("run1") as run:
        train()
    run

Marking: step() and range() tell the recorder where steps and parts of the program are. Without the
recorder in the process they do nothing.
"""

from gprof._jupyter import load_ipython_extension
from gprof._marks import is_recorded, range, step
from gprof._record import record, start, stop
from gprof._run import GprofError, IncompleteWarning, Run, load

__all__ = ["GprofError", "IncompleteWarning", "Run", "is_recorded", "load", "load_ipython_extension", "range", "record", "start", "step", "stop"]
