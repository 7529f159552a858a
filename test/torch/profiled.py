# SPDX-License-Identifier: Apache-2.0
"""Runs a program under PyTorch's own profiler, and writes what that saw: usage
profiled.py OUT PROGRAM [ARGUMENT]..."""
import json
import runpy
import sys

import torch

out, sys.argv = sys.argv[1], sys.argv[2:]
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU],
                            record_shapes=True) as profile:
    runpy.run_path(sys.argv[0], run_name="__main__")
events = []
for event in profile.profiler.kineto_results.events():
    if event.name().startswith(("[memory]", "PyTorch Profiler")):
        continue
    if hasattr(event, "start_ns"):
        begin, span = event.start_ns(), event.duration_ns()
    else:
        begin, span = event.start_us(), event.duration_us()
    events.append({"name": event.name(), "begin": begin, "end": begin + span,
                   "sequence": event.sequence_nr(), "thread": event.start_thread_id(),
                   "forward_thread": event.fwd_thread_id(), "scope": event.scope(),
                   "shapes": event.shapes(), "types": event.dtypes()})
with open(out, "w") as file:
    json.dump(events, file)
