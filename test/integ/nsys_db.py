# SPDX-License-Identifier: Apache-2.0
"""Databases as Nsight Systems exports them, in its versions, and some that only look so: nsys_db.py KIND PATH"""
import sqlite3
import struct
import sys

PID, OTHER = 4242, 4343
TID = PID + 1
EPOCH_NS = 1_700_000_000_000_000_000


def pid_of(pid):
    return 1 << 48 | pid << 24


class Export:
    def __init__(self, path):
        self.database = sqlite3.connect(path)
        self.database.execute("PRAGMA page_size=512")
        self.strings = {}
        self.table("StringIds", "id INTEGER PRIMARY KEY, value TEXT")

    def table(self, name, columns, *rows):
        self.database.execute(f"CREATE TABLE {name}({columns})")
        for row in rows:
            self.database.execute(f"INSERT INTO {name} VALUES({', '.join('?' * len(row))})", row)

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = len(self.strings) + 1
            self.database.execute("INSERT INTO StringIds VALUES(?, CAST(? AS TEXT))", (self.strings[text], text))
        return self.strings[text]

    def done(self):
        self.database.commit()
        self.database.close()


def old(path):
    """As of 2020: columns that came later are missing, and so is the process of a GPU activity."""
    x = Export(path)
    x.table("EXPORT_META_DATA", "name TEXT, value TEXT", ("EXPORT_SCHEMA_VERSION", "1.2"))
    x.table("CUPTI_ACTIVITY_KIND_KERNEL", "start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, "
            "demangledName INT, shortName INT, registersPerThread INT, gridX INT, gridY INT, gridZ INT, blockX INT, "
            "blockY INT, blockZ INT, staticSharedMemory INT, dynamicSharedMemory INT",
            *[(1000 + 100 * i, 1050 + 100 * i, 0, 1, 7, 10 + i, x.string("gemm(float *)"), x.string("gemm"), 32, 8, 1, 1,
               256, 1, 1, 1024, 0) for i in range(4)])
    x.table("CUPTI_ACTIVITY_KIND_MEMCPY", "start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, "
            "bytes INT, copyKind INT, srcKind INT, dstKind INT", (500, 700, 0, 1, 7, 9, 4096, 1, 1, 2),
            (310, 350, 0, 1, 7, 8, 4096, 1, 1, 2),  # by the clocks, before its call
            (720, 730, 0, 1, 7, 77, 4096, 1, 1, 2))  # without a call
    x.table("CUPTI_ACTIVITY_KIND_RUNTIME", "start INT, end INT, globalTid INT, correlationId INT, nameId INT, returnValue INT",
            *[(900 + 100 * i, 910 + 100 * i, pid_of(PID) | TID, 10 + i, x.string("cudaLaunchKernel_v7000"), 0) for i in range(4)],
            (400, 720, pid_of(PID) | TID, 9, x.string("cudaMemcpyAsync_v3020"), 0),
            (360, 370, pid_of(PID) | TID, 8, x.string("cudaMemcpyAsync_v3020"), 0),
            (2000, 2100, pid_of(PID) | TID, 20, x.string("cudaStreamSynchronize_v3020"), 700))
    x.table("NVTX_EVENTS", "start INT, end INT, eventType INT, text TEXT, globalTid INT, domainId INT",
            *[(300 + 500 * i, 700 + 500 * i, 59, f"iteration {i}", pid_of(PID) | TID, 0) for i in range(3)],
            (350, 380, 59, "inner", pid_of(PID) | TID, 0), (360, None, 34, "here", pid_of(PID) | TID, 0),
            (320, None, 59, "never ended", pid_of(PID) | TID, 0), (390, 1200, 60, "crosses", pid_of(PID) | TID, 0),
            (305, None, 39, "trainer", pid_of(PID) | TID, 0))
    x.done()


SCHEMAS = 1 << 24


def payload(schema, data):
    return struct.pack("<QQQQ", 7, schema, len(data), 32 + len(data)) + data


def new(path, ranks=2):
    """As of 2026: a process each rank, NCCL's payloads as bytes or text, metrics, graphs, enumerations."""
    x = Export(path)
    x.table("META_DATA_EXPORT", "name TEXT, value TEXT", ("EXPORT_SCHEMA_VERSION", "3.28.1"),
            ("EXPORT_PRODUCT_VERSION", "2026.4.1"))
    x.table("TARGET_INFO_SESSION_START_TIME", "utcEpochNs INTEGER", (EPOCH_NS,))
    x.table("TARGET_INFO_GPU", "id INTEGER, name TEXT, uuid TEXT, smCount INTEGER, computeMajor INTEGER, computeMinor INTEGER, "
            "threadsPerWarp INTEGER, maxWarpsPerSm INTEGER, maxBlocksPerSm INTEGER, maxRegistersPerSm INTEGER, "
            "maxShmemPerSm INTEGER, totalMemory INTEGER",
            *[(i, "NVIDIA Test", f"0000000{i}-0000-0000-0000-000000000000", 132, 9, 0, 32, 64, 32, 65536, 233472, 80 << 30)
              for i in range(ranks)])
    x.table("TARGET_INFO_CUDA_DEVICE", "gpuId INTEGER, cudaId INTEGER, pid INTEGER, uuid TEXT",
            *[(i, 0, PID + i, None) for i in range(ranks)])
    x.table("TARGET_INFO_SYSTEM_ENV", "name TEXT, value TEXT", ("Hostname", "node7"), ("DeviceEnvironment", "A=1\nRANK=9\n"))
    x.table("PROCESSES", "globalPid INTEGER, pid INTEGER, name TEXT",
            *[(pid_of(PID + i), PID + i, f"python train.py {i}") for i in range(ranks)], (pid_of(77), 77, "bash"))
    x.table("ThreadNames", "nameId INTEGER, priority INTEGER, globalTid INTEGER",
            *[(x.string(b"caf\xe9"), 0, pid_of(PID + i) | PID + i) for i in range(ranks)])
    # Not the usual numbers: the lists of the export count.
    x.table("ENUM_CUDA_MEM_KIND", "id INTEGER PRIMARY KEY, name TEXT, label TEXT", (1, "CUDA_MEMOPR_MEMORY_KIND_DEVICE", "Device"),
            (2, "CUDA_MEMOPR_MEMORY_KIND_PINNED", "Pinned"))
    x.table("ENUM_CUPTI_SYNC_TYPE", "id INTEGER PRIMARY KEY, name TEXT, label TEXT",
            (2, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE", "Stream"))
    common = "start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, greenContextId INTEGER, streamId INTEGER, " \
        "correlationId INTEGER, globalPid INTEGER"
    kernels, copies, graphs, syncs, calls, ranges, system = [], [], [], [], [], [], []
    for i in range(ranks):
        process, thread = pid_of(PID + i), pid_of(PID + i) | PID + i
        name = x.string("_Z38ncclDevKernel_AllReduce_Sum_f32_RING_LLP4args")
        for step in range(3):
            at = 10000 * step
            ranges.append((at, at + 9000, 59, thread, 0, f"step {step}", None, None, None))
            calls.append((at + 100, at + 150, 0, thread, 100 * step + 1, x.string("cudaLaunchKernel_v7000"), 0))
            kernels.append((at + 200, at + 1200, 0, 1, None, 7, 100 * step + 1, process, x.string("gemm(float *)"), x.string("gemm"),
                            x.string("_Z4gemmPf"), 4, 1, 1))
            # a call of NCCL: the runtime's launch with the driver's in it
            data = struct.pack("<QQi", 0xc0ffee, 4096, 0) + bytes(4)
            text = '{"NCCL communicator ID": "0xc0ffee", "Message size [bytes]": 4096, "Reduction operation": 0}'
            ranges.append((at + 2000, at + 2500, 59, thread, 7, None, x.string("ncclAllReduce"),
                           payload(SCHEMAS + 1, data) if i == 0 else None, text if i else None))
            calls.append((at + 2100, at + 2200, 0, thread, 100 * step + 2, x.string("cudaLaunchKernelExC_v11060"), 0))
            calls.append((at + 2110, at + 2190, 1, thread, 100 * step + 2, x.string("cuLaunchKernelEx"), 0))
            kernels.append((at + 2300 + 100 * i, at + 4300, 0, 1, None, 9, 100 * step + 2, process, name, name, name, 2, 1, 1))
            calls.append((at + 5000, at + 5100, 0, thread, 100 * step + 3, x.string("cudaMemcpyAsync_v3020"), 0))
            copies.append((at + 5200, at + 5300, 0, 1, None, 7, 100 * step + 3, process, 1 << 20, 1, 2, 1))
            # a call with a call chain: twice, the outer one with the time of taking it
            calls.append((at + 6000, at + 6500, 67, thread, 100 * step + 4, x.string("cudaGraphLaunch"), 0))
            calls.append((at + 6010, at + 6490, 0, thread, 100 * step + 4, x.string("cudaGraphLaunch_v10000"), 0))
            graphs.append((at + 6600, at + 7600, 0, 1, None, 7, 100 * step + 4, process, 5, 6))
            calls.append((at + 7700, at + 8000, 0, thread, 100 * step + 5, x.string("cudaStreamSynchronize_v3020"), 0))
            syncs.append((at + 7710, at + 7990, 0, 1, None, 7, 100 * step + 5, process, 2, 0))
            system.append((at + 8100, at + 8200, 27, thread, x.string("pthread_cond_wait"), 0))
        init = struct.pack("<Qiii", 0xc0ffee, ranks, i, 0) + bytes(4)
        ranges.append((-50000, -40000, 59, thread, 7, None, x.string("ncclCommInitRank"), payload(SCHEMAS, init), None))
        ranges.append((-60000, None, 75, thread, 7, "NCCL", None, None, None))
        # a group that is only simulated: what follows is no part of it
        ranges.append((-30000, -29900, 59, thread, 7, None, x.string("ncclGroupStart"), None, None))
        ranges.append((-29800, -29700, 59, thread, 7, None, x.string("ncclGroupSimulateEnd"), None, None))
    kernels.append((90000, 80000, 0, 1, None, 7, 999, pid_of(PID), x.string("gemm(float *)"), None, None, 4, 1, 1))
    system.append((5, 6, 27, pid_of(77) | 77, x.string("read"), 0))
    x.table("CUPTI_ACTIVITY_KIND_KERNEL", common + ", demangledName INTEGER, shortName INTEGER, mangledName INTEGER, gridX INTEGER, "
            "gridY INTEGER, gridZ INTEGER", *kernels)
    x.table("CUPTI_ACTIVITY_KIND_MEMCPY", common + ", bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER", *copies)
    x.table("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", common + ", graphId INTEGER, graphExecId INTEGER", *graphs)
    x.table("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", common + ", syncType INTEGER, eventId INTEGER", *syncs)
    x.table("CUPTI_ACTIVITY_KIND_RUNTIME", "start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, "
            "correlationId INTEGER, nameId INTEGER, returnValue INTEGER", *calls)
    x.table("OSRT_API", "start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, nameId INTEGER, returnValue INTEGER",
            *system)
    samples, frames = [], []
    for thread in pid_of(PID) | TID, pid_of(PID + 1) | TID, pid_of(77) | 77:
        for i in range(10):
            # Of ten samples three are in a function without a name, one in the kernel; one thread slept before its last.
            number = len(samples) + 1
            samples.append((number, 1000 * i + (20000 if i == 9 else 0), 3, 1, thread, 1))
            stack = [("work(int)", "/usr/bin/app", None), ("main", "/usr/bin/app", None), ("[Broken backtraces]", "[Broken backtraces]", None)]
            if i < 3:
                stack.insert(0, (f"0x7f00{i}", "/usr/lib/libcuda.so.1.1", 1))
            elif i == 3:
                stack.insert(0, ("do_syscall_64", "[kernel.kallsyms]", None))
            for depth, (name, module, unresolved) in enumerate(stack):
                frames.append((number, x.string(name), x.string(module), module[0] == "[" or None, unresolved,
                               None if name[0] == "[" else 4096 + 16 * i + depth, depth))
    x.table("COMPOSITE_EVENTS", "id INTEGER, start INTEGER, cpu INTEGER, threadState INTEGER, globalTid INTEGER, cpuCycles INTEGER", *samples)
    x.table("SAMPLING_CALLCHAINS", "id INTEGER, symbol INTEGER, module INTEGER, kernelMode INTEGER, unresolved INTEGER, "
            "originalIP INTEGER, stackDepth INTEGER", *frames)
    # nsys disturbs processes of which it records nothing else, too.
    x.table("PROFILER_OVERHEAD", "start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER, returnValue INTEGER",
            (7, 8, pid_of(77) | 77, x.string("NVTX initialization"), 0))
    x.table("NVTX_EVENTS", "start INTEGER, end INTEGER, eventType INTEGER, globalTid INTEGER, domainId INTEGER, text TEXT, "
            "textId INTEGER, binaryData BLOB, jsonText TEXT", *ranges)
    x.table("NVTX_PAYLOAD_SCHEMA_ENTRIES", "domainId INTEGER, schemaId INTEGER, idx INTEGER, type INTEGER, name TEXT, offset INTEGER",
            (7, SCHEMAS, 0, 18, "NCCL communicator ID", None), (7, SCHEMAS, 1, 5, "No. of ranks", 8),
            (7, SCHEMAS, 2, 5, "Rank", 12), (7, SCHEMAS, 3, 5, "CUDA device", 16),
            (7, SCHEMAS + 1, 0, 18, "NCCL communicator ID", None), (7, SCHEMAS + 1, 1, 22, "Message size [bytes]", 8),
            (7, SCHEMAS + 1, 2, SCHEMAS + 50, "Reduction operation", 16))
    x.table("TARGET_INFO_GPU_METRICS", "typeId INTEGER, metricId INTEGER, metricName TEXT",
            (0x500, 1, "GR Active [Throughput %]"), (0x500, 2, "SMs Active [Throughput %]"), (0x500, 3, "SM Issue [Throughput %]"))
    x.table("GPU_METRICS", "timestamp INTEGER, typeId INTEGER, metricId INTEGER, value INTEGER",
            *[(1000 * i, 0x500, 1 + i % 3, 60 + i % 3) for i in range(30)])
    # One thread of each process runs for 3 of each 10 us; ends that lack a begin, and begins without an end, do not count.
    x.table("SCHED_EVENTS", "start INTEGER, cpu INTEGER, isSchedIn INTEGER, globalTid INTEGER",
            *[(10000 * i + 3000 * is_out, 1, int(not is_out), pid_of(pid) | pid) for pid in (PID, PID + 1) for i in range(6) for is_out in (0, 1)],
            (70000, 1, 0, pid_of(PID) | PID), (80000, 1, 1, pid_of(PID) | PID))
    x.table("MPI_P2P_EVENTS", "start INTEGER, end INTEGER", (1, 2))
    x.table("CUPTI_ACTIVITY_KIND_MEMSET", common)
    x.done()


def emit(path):
    """Ranges of PyTorch's emit_nvtx: operators in ranges of the user, with their backward on a thread of its own."""
    x = Export(path)
    main, engine = pid_of(PID) | TID, pid_of(PID) | TID + 1
    ranges, calls, kernels = [], [], []
    for i in range(3):
        t = 10000 * i
        ranges += [(t, t + 9000, f"train_step, op_id = {90 + 10 * i}", main),
                   (t + 100, t + 900, f"my block, op_id = {91 + 10 * i}", main),
                   (t + 200, t + 800, f"aten::linear, op_id = {92 + 10 * i}, sizes = [[8, 4], [2, 4], [2]]", main),
                   (t + 300, t + 700, f"aten::addmm, seq = {i}, op_id = {93 + 10 * i}, sizes = [[2], [8, 4]]", main),
                   (t + 2000, t + 3000, "autograd::engine::evaluate_function: AddmmBackward0, op_id = 7", engine),
                   (t + 2100, t + 2900, f"AddmmBackward0, seq = {i}, op_id = {94 + 10 * i}", engine),
                   (t + 4000, t + 4100, "plain, with a comma", main)]
        for at, thread, correlation in (t + 400, main, 10 * i + 1), (t + 2200, engine, 10 * i + 2):
            calls.append((at, at + 20, thread, correlation, x.string("cudaLaunchKernel_v7000"), 0))
            kernels.append((at + 100, at + 200, 0, 1, 7, correlation, pid_of(PID), x.string("gemm"), x.string("gemm")))
    x.table("NVTX_EVENTS", "start INT, end INT, eventType INT, text TEXT, globalTid INT, domainId INT",
            *[(begin, end, 59, text, thread, 0) for begin, end, text, thread in ranges])
    x.table("CUPTI_ACTIVITY_KIND_RUNTIME", "start INT, end INT, globalTid INT, correlationId INT, nameId INT, returnValue INT",
            *calls)
    x.table("CUPTI_ACTIVITY_KIND_KERNEL", "start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, "
            "globalPid INT, demangledName INT, shortName INT", *kernels)
    x.done()


def bad(path):
    """Values of every wrong kind, views that never end or name each other, tables that run code."""
    x = Export(path)
    huge = b"x" * 100000
    x.table("CUPTI_ACTIVITY_KIND_KERNEL", "start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName, gridX",
            ("now", 5, 0, 1, 7, 1, pid_of(PID), 1, 1), (None, None, None, None, None, None, pid_of(PID), None, None),
            (10, 20, "zero", huge, -1, 1 << 40, pid_of(PID), 1 << 62, -5), (1.5, 2.5, 0, 1, 7, 2, pid_of(PID), 1, 1),
            (1 << 62, 5, 0, 1, 7, 3, pid_of(PID), 1, 1), (-(1 << 62), 5, 0, 1, 7, 3, pid_of(PID), 1, 1),
            (30, 40, 0, 1, 7, 4, pid_of(PID), x.string(huge), 1))
    x.table("CUPTI_ACTIVITY_KIND_RUNTIME", "start, end, globalTid, correlationId, nameId, returnValue",
            (1, 2, -1, 5, 12345, 0), (5, 1, pid_of(PID), 5, x.string("cudaFree"), 0), (1, 3, pid_of(PID), 6, x.string("cudaFree"), "x"))
    x.table("NVTX_EVENTS", "start, end, eventType, globalTid, domainId, text, binaryData, jsonText",
            (1, 100, 59, pid_of(PID), 7, "ncclAllReduce", b"short", '"Message size [bytes]'), (0, None, 75, pid_of(PID), 7, "NCCL", None, None),
            (2, 50, 59, pid_of(PID), 1 << 50, b"\xff\xfe", huge, None), (3, 60, 59, pid_of(PID), 1 << 50, 42, None, None),
            (4, 4, 60, "thread", None, None, None, None))
    x.database.execute("CREATE VIEW CUPTI_ACTIVITY_KIND_MEMCPY AS SELECT * FROM CUPTI_ACTIVITY_KIND_MEMSET")
    x.database.execute("CREATE VIEW CUPTI_ACTIVITY_KIND_MEMSET AS SELECT * FROM CUPTI_ACTIVITY_KIND_MEMCPY")
    x.database.execute("CREATE VIEW CUPTI_ACTIVITY_KIND_SYNCHRONIZATION AS WITH RECURSIVE n(i) AS "
                       "(SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS start, i AS end, 1 AS globalPid FROM n")
    x.database.execute("CREATE VIEW OSRT_API AS SELECT a.start, a.end, a.globalPid AS globalTid, a.demangledName AS nameId "
                       "FROM CUPTI_ACTIVITY_KIND_KERNEL a" + "".join(f", CUPTI_ACTIVITY_KIND_KERNEL b{i}" for i in range(12)))
    x.table("COMPOSITE_EVENTS", "id, start, globalTid", ("one", 1, pid_of(PID)), (2, None, pid_of(PID)), (3, 7, huge), (4, 9, pid_of(PID)), (5, 12, pid_of(PID)))
    x.table("SAMPLING_CALLCHAINS", "id, symbol, module, originalIP, stackDepth", ("one", 1, 1, 1, 0), (4, huge, 1 << 62, 5, "deep"),
            *[(5, x.string(f"f{i}"), None, i + 1, i) for i in range(300)])
    x.database.execute("CREATE VIEW PROFILER_OVERHEAD AS SELECT 1 AS start, 2 AS end, load_extension('x') AS globalTid")
    try:
        x.database.execute("CREATE VIRTUAL TABLE GPU_METRICS USING fts5(timestamp, typeId, metricId, value)")
    except sqlite3.OperationalError:
        pass
    x.done()


def names(path):
    """A table of names that fails when it is read."""
    old(path)
    database = sqlite3.connect(path)
    database.execute("CREATE VIEW ThreadNames AS SELECT 1 AS nameId, abs(-9223372036854775808) AS globalTid")
    database.commit()
    database.close()


def other(path):
    x = Export(path)
    x.table("album", "title TEXT")
    x.done()


{"old": old, "new": new, "emit": emit, "bad": bad, "names": names, "other": other}[sys.argv[1]](sys.argv[2])
