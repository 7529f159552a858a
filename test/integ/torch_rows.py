# SPDX-License-Identifier: Apache-2.0
"""torch_rows.py trace FILE             a training of two steps on a GPU, as PyTorch's profiler writes it, with round times
torch_rows.py row FILE TITLE NAME COLUMN...    cells of a row of a CSV (--style torch or tensorboard), with ; between
torch_rows.py columns FILE TITLE        the titles of a table's columns, with , between
torch_rows.py touch FILE                the plugin's rule: steps and ranges, added up as doubles, do not intersect"""
import csv
import json
import sys

CALL_STACK = "train.py(12): forward;train.py(40): <module>"
SECOND_STACK = "train.py(20): check;train.py(41): <module>"


def event(name, ts, dur, cat="cpu_op", tid=9, pid=7, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}


def kernel(name, ts, dur, launch, correlation, occupancy=50):
    """A launch, and what it launches on stream 7."""
    return [event("cudaLaunchKernel", launch, 10, "cuda_runtime", correlation=correlation),
            event(name, ts, dur, "kernel", 7, 0, device=0, stream=7, correlation=correlation, grid=[160, 1, 1],
                  block=[128, 1, 1], **{"blocks per SM": 2, "warps per SM": 8, "registers per thread": 32,
                                        "shared memory": 1024, "est. achieved occupancy %": occupancy})]


def memory(ts, nr_bytes, address, total, device_type=0):
    return {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 7, "tid": 9, "ts": ts,
            "args": {"Device Type": device_type, "Device Id": -1 if device_type == 0 else 0, "Addr": address,
                     "Bytes": nr_bytes, "Total Allocated": total, "Total Reserved": 8 * total}}


def step(base, number):
    matrices = {"Input Dims": [[40], [20, 30], [30, 40], [], []],
                "Input type": ["float", "float", "float", "Scalar", "Scalar"]}
    images = {"Input Dims": [[4, 3, 32, 32], [8, 3, 3, 3], [], [], [], [], []],
              "Input type": ["float", "float", "", "ScalarList", "ScalarList", "ScalarList", "Scalar"],
              "Concrete Inputs": ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "1"]}
    return [
        event(f"ProfilerStep#{number}", base, 1000, "user_annotation"),
        event("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", base + 10, 90, "user_annotation"),
        event("nn.Module: Net_0", base + 100, 310, "python_function", **{"Python id": 1, "Python module id": 0}),
        event("nn.Module: Linear_0 layers.1.fc", base + 100, 300, "python_function",
              **{"Python id": 2, "Python module id": 0}),
        event("aten::linear", base + 110, 280, **{"Call stack": CALL_STACK}),
        event("aten::addmm", base + 120, 200, **matrices, **{"Call stack": CALL_STACK}),
        memory(base + 130, 4096, 0x1000, 4096),
        memory(base + 150, 2048, 0x8000, 2048, 1),
        *kernel("ampere_fp16_s1688gemm_fp16_128x64", base + 300, 100, base + 200, 10 * number),
        memory(base + 380, -4096, 0x1000, 0),
        event("aten::conv2d", base + 420, 100, **images, **{"Call stack": SECOND_STACK}),
        event("aten::convolution", base + 430, 80, **images),
        *kernel("implicit_convolve_sgemm", base + 500, 200, base + 450, 10 * number + 1),
        *kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", base + 650, 150, base + 560, 10 * number + 2),
        memory(base + 600, -2048, 0x8000, 0, 1),
    ]


def trace(path):
    events = [event for number in (1, 2) for event in step(1000 * number, number)]
    device = {"id": 0, "name": "A GPU", "totalGlobalMem": 1 << 34, "computeMajor": 8, "computeMinor": 0,
              "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32,
              "sharedMemPerBlock": 49152, "numSms": 80, "regsPerMultiprocessor": 65536,
              "sharedMemPerBlockOptin": 166912, "sharedMemPerMultiprocessor": 167936}
    with open(path, "w") as file:
        json.dump({"schemaVersion": 1, "deviceProperties": [device], "traceEvents": events}, file)


def tables(path):
    """Lists of rows by title; that of the first table of --style torch is empty."""
    found, title = {}, ""
    with open(path) as file:
        for line in file.read().splitlines():
            if line.startswith("# "):
                title = line[2:] if line[2:].split(":")[0] in TITLES else title
            elif line:
                found.setdefault(title, []).append(next(csv.reader([line])))
    return found


TITLES = ("Overview", "Operator", "Kernel", "Memory View", "Memory Events", "Module", "Distributed")


def row(path, title, name, *columns):
    titles, *rows = tables(path)[title]
    at = [titles.index(column) for column in columns]
    print("|".join(";".join(cells[i] for i in at) for cells in rows if name in cells))


def columns(path, title):
    print(",".join(tables(path)[title][0]))


def touch(path):
    with open(path) as file:
        events = json.load(file)["traceEvents"]
    threads = {}
    for e in events:
        if e["ph"] == "X" and e.get("cat") in ("cpu_op", "user_annotation"):
            threads.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"], e["name"]))
    bad = 0
    for ranges in threads.values():
        stack = []
        for begin, end, name in sorted(ranges, key=lambda range_: (range_[0], -range_[1])):
            while stack and stack[-1][1] <= begin:
                stack.pop()
            if stack and end > stack[-1][1] and "ProfilerStep" in name + stack[-1][2]:
                print(name, begin, end, "in", stack[-1])
                bad += 1
            stack.append((begin, end, name))
    print(sum(len(ranges) for ranges in threads.values()), "ranges")
    sys.exit(bad != 0)


{"trace": trace, "row": row, "columns": columns, "touch": touch}[sys.argv[1]](*sys.argv[2:])
