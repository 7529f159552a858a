# SPDX-License-Identifier: Apache-2.0
"""big_trace.py FILE MB: writes a trace as of PyTorch's profiler that is at least so large, and prints how many kernels
it has and their ns: an operator that launches a kernel, again and again."""
import sys

path, wanted = sys.argv[1], int(sys.argv[2]) * 1000000
EVENTS = (
    '{{"ph": "X", "cat": "cpu_op", "name": "aten::op{k}", "pid": 7, "tid": 7, "ts": {t}.125, "dur": 9.250, '
    '"args": {{"External id": {n}, "Record function id": 0, "Sequence number": {n}, "Fwd thread id": 0}}}},\n'
    '{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": {t}.500, "dur": 4.125, '
    '"args": {{"External id": {n}, "cbid": 211, "correlation": {n}}}}},\n'
    '{{"ph": "X", "cat": "kernel", "name": "void kernel_{k}<float>(float*, int)", "pid": 0, "tid": 7, "ts": {s}.000, '
    '"dur": 5.{k}, "args": {{"External id": {n}, "device": 0, "context": 1, "stream": 7, "correlation": {n}, '
    '"registers per thread": 32, "shared memory": 0, "grid": [64, 1, 1], "block": [256, 1, 1]}}}}'
)
nr = ns = size = 0
with open(path, "w", encoding="ascii") as file:
    file.write('{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}], "traceEvents": [\n')
    while size < wanted:
        part = []
        for _ in range(10000):
            nr += 1
            k = 100 + nr % 64
            ns += 5000 + k
            part.append(EVENTS.format(n=nr, k=k, t=1000 + 10 * nr, s=1004 + 10 * nr))
        size += file.write((",\n" if nr > 10000 else "") + ",\n".join(part))
    file.write("\n]}\n")
print(nr, ns)
