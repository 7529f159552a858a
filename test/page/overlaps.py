# SPDX-License-Identifier: Apache-2.0
"""Writes a trace whose kernels overlap on one stream, and ranges on one thread, so that they lie on several tracks.

usage: overlaps.py FILE
"""
import json
import random
import sys

chance = random.Random(4)
events = []
for i in range(12000):
    begin = 5 * i + chance.randrange(5)
    events.append({"ph": "X", "cat": "kernel", "name": "kernel_%d" % chance.randrange(9), "pid": 0, "tid": 7, "ts": begin, "dur": chance.choice((3, 8, 30, 400 if i % 500 == 0 else 9)),
                   "args": {"device": 0, "stream": 7, "correlation": i + 1}})
    events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 4, "tid": 4, "ts": 5 * i, "dur": 2, "args": {"correlation": i + 1}})
    if i % 3 == 0:
        events.append({"ph": "X", "cat": "user_annotation", "name": "range %d" % chance.randrange(5), "pid": 4, "tid": 5, "ts": begin, "dur": chance.randrange(1, 60)})
json.dump({"traceEvents": events}, open(sys.argv[1], "w"))
