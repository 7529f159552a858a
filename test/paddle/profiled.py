# SPDX-License-Identifier: Apache-2.0
"""Runs a program under Paddle's own profiler, and writes what that saw: usage profiled.py OUT PROGRAM [ARGUMENT]..."""
import runpy
import sys

import numpy.random  # before Paddle 2.6, whose zlib is in the way of Python's
from paddle import profiler

out, sys.argv = sys.argv[1], sys.argv[2:]
own = profiler.Profiler(targets=[profiler.ProfilerTarget.CPU], profile_memory=True,
                        on_trace_ready=lambda profile: profile.export(out, format="json"))
own.start()
runpy.run_path(sys.argv[0], run_name="__main__")
own.stop()
