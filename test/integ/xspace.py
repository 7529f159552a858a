# SPDX-License-Identifier: Apache-2.0
"""Writes an XSpace, the trace of XLA's profiler, in the wire format of protocol buffers: xspace.py FILE [WHAT].

Times are picoseconds after a line's begin; WHAT is `tpu` for a trace of a TPU, `bare` for one without steps."""
import struct
import sys


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


class Plane:
    """A plane; names of events and of stats get ids in order of their first use."""

    def __init__(self, name, **stats):
        self.name, self.lines, self.events, self.stats = name, b"", {}, {}
        self.own = b"".join(text(6, self.stat(*item)) for item in stats.items())

    def stat(self, name, value):
        key = number(1, self.stats.setdefault(name, len(self.stats) + 1))
        if isinstance(value, float):
            return key + varint(2 << 3 | 1) + struct.pack("<d", value)
        if isinstance(value, str) and name.endswith("_details"):  # XLA writes long texts as names
            return key + number(7, self.stats.setdefault(value, len(self.stats) + 1))
        if isinstance(value, str):
            return key + text(5, value)
        return key + number(4 if value < 0 else 3, value)

    def line(self, line_id, name, begin_ns, *events):
        out = number(1, line_id) + text(2, name) + number(3, begin_ns)
        for event, offset_ps, duration_ps, stats in events:
            body = number(1, self.events.setdefault(event, len(self.events) + 1)) + number(2, offset_ps)
            body += number(3, duration_ps) if duration_ps else b""
            out += text(4, body + b"".join(text(4, self.stat(*item)) for item in stats.items()))
        self.lines += text(3, out)

    def bytes(self):
        # As XLA orders them: the names come after what they name.
        out = text(2, self.name) + self.lines
        for field, table in ((4, self.events), (5, self.stats)):
            for name, key in table.items():
                # On a TPU a name is a whole HLO instruction, with a shorter one for people.
                short = text(4, name.split()[0][1:]) if name.startswith("%") else b""
                out += text(field, number(1, key) + text(2, number(1, key) + text(2, name) + short))
        return out + self.own


def launched(correlation, **more):
    return {"device_id": 0, "correlation_id": correlation, "context_id": "$$1", **more}


def gpu():
    """One stream: a copy in, two kernels that touch, a memset, a graph as a whole."""
    plane = Plane("/device:GPU:0", gpu_device_name="NVIDIA H200", core_count=132, compute_cap_major=9,
                  compute_cap_minor=0, memory_size=150121545728, memory_bandwidth=4916736000000, process_id=4711)
    details = "regs:32 static_shared:16 dynamic_shared:64 grid:128,2,1 block:64,1,1 occ_pct:100"
    hlo = {"context_id": "$$1", "kernel_details": details, "hlo_module": "jit_step"}
    plane.line(7, "Stream #7(MemcpyH2D,Compute,Memset)", 1000,
               ("MemcpyH2D", 1000_400, 2000_200, {"correlation_id": 11, "context_id": "$$1", "memcpy_details":
                "kind_src:pinned kind_dst:device size:65536 dest:0 async:1"}),
               # Touching at half a nanosecond: both round up.
               ("add_fusion", 4000_000, 1000_500, {"correlation_id": 12, "hlo_op": "add.1", **hlo}),
               ("mul_fusion", 5000_500, 1000_000, {"correlation_id": 13, "hlo_op": "mul.2", **hlo}),
               ("Memset 3", 8000_000, 500_000, {"correlation_id": 14, "context_id": "$$1",
                "Memset_details": "kind:device num_bytes:4096 async:1"}),
               ("CudaGraphExec:5", 9000_000, 700_000, {"correlation_id": 15, "context_id": "$$1",
                "cuda_graph_exec_id": 5}),
               ("MemoryAlloc", 9800_000, 1000, {"memalloc_details": "kind:device num_bytes:1"}),
               ("UM_CPU_PAGE_FAULT", 9900_000, 1000, {}))
    plane.line(99, "XLA Modules", 1000, ("jit_step(1)", 4000_000, 2000_000, {}))
    plane.line(98, "_counters_", 1000, ("power_mw", 4000_000, 0, {"power_mw": 1.5}))
    return plane.bytes()


def host(steps):
    plane = Plane("/host:CPU", process_id=4711)
    allocator = {"allocator_name": "GPU_0_bfc", "bytes_reserved": 0, "addr": 4096}
    plane.line(321, "python", 500,
               ("train", 0, 5000_000, {"step_num": 7} if steps else {}),
               # JAX 0.10 has each call twice, one within the other.
               ("PjitFunction(step)", 100_000, 4000_000, {}), ("PjitFunction(step)", 200_000, 3800_000, {}),
               ("MemcpyH2D", 1000_000, 200_000, launched(11, memcpy_details=
                "kind_src:unknown kind_dst:unknown size:65536 dest:0 async:1")),
               ("add_fusion", 1300_000, 100_000, launched(12)),
               ("mul_fusion", 1500_000, 100_000, launched(13)),
               ("Memset", 1700_000, 50_000, launched(14, Memset_details="kind:unknown num_bytes:4096 async:1")),
               ("cuGraphLaunch (CudaGraph:5)", 1800_000, 60_000, launched(15)),
               ("MemoryAllocation", 2000_000, 0, {**allocator, "allocation_bytes": 256, "bytes_allocated": 256}),
               ("MemoryDeallocation", 2100_000, 0, {**allocator, "allocation_bytes": 256, "bytes_allocated": 0}),
               ("$train.py:12 step", 2200_000, 300_000, {}),
               ("$<module> sum", 2250_000, 10_000, {}),
               ("ThreadpoolListener::Record", 2600_000, 0, {}),
               ("train", 5000_000, 6000_000, {"step_num": 8} if steps else {}))
    plane.line(322, "py_xla_execute/-250248", 500, ("Wait", 100_000, 4_000_000, {}))
    return plane.bytes()


def tpu(first_ps):
    plane = Plane("/device:TPU:1", device_type_string="TPU v4")
    plane.line(1, "Steps", 1000, ("3", 0, first_ps, {}), ("4", 5000_000, 5000_000, {}))
    plane.line(2, "XLA Ops", 1000,
               ("%while.1 = while()", 0, 4000_000, {}), ("%fusion.2 = fusion()", 0, 1000_000, {}),
               ("%fusion.2 = fusion()", 1000_000, 2000_000, {}), ("%copy.3 = copy()", 5000_000, 1000_000, {}))
    return plane.bytes()


def space(what):
    environment = Plane("Task Environment", profile_start_time=1795456815000000000)
    metadata = Plane("/host:metadata", jax_version="0.10.2")
    planes = [metadata.bytes(), tpu(6000_000 if what == "overlap" else 5000_000) if what in ("tpu", "overlap") else gpu(), host(what == ""), environment.bytes()]
    other = Plane("#Chip TPU Non-Core HLO")
    other.line(1, "x", 0, ("y", 0, 1, {}))
    planes += [other.bytes()] if what == "tpu" else []
    return b"".join(text(1, plane) for plane in planes) + text(3, "GPU events dropped") + text(4, "node7")


if __name__ == "__main__":
    with open(sys.argv[1], "wb") as file:
        file.write(space(sys.argv[2] if len(sys.argv) > 2 else ""))
