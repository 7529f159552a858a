#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""budget.py TRACE: the time budget of a trace, computed slowly and plainly, without gprof. Prints JSON.

TRACE is a trace of PyTorch's profiler (.json, .json.gz), or a folder of them, one a rank, or an export of Nsight Systems
(.sqlite). Timelines that gprof-report has written are read, too, so that recordings can be compared.

Every nanosecond of the window (the steps, or all of the recording) is one part. At an instant, the first that applies:

    computing       a kernel runs that does not communicate
    transfer        a kernel runs that does, and the last rank has come
    communication   the same, of which it is not known when the other ranks came
    waiting         the same, and a rank comes later
    copies          a copy or memset runs
    idle            nothing of these; divided by what the thread did that launched the activity A which ends the gap

L is the call that launched A. If L ended before the gap began, or if A came later than 10 us after L's end, and that is
more than half of the gap, the whole gap is `dependency` (longer than 100 us) or `latency`. Else the time up to L's end is
divided by the state of L's thread (STATES, first that applies), and the rest is `latency`. Annotations but
those of optimizers, and Python functions but collections of garbage, are no state. Where the thread has none, the states of other threads that launch count,
and collections in any thread, else it is `user`.

A gap is drained if a wait opened it: L's thread waited when the gap began, or another thread from which L's thread takes over (take_turns).
"""
import bisect
import collections
import decimal
import functools
import gzip
import json
import os
import re
import sqlite3
import sys

STATES = ["compile", "wait", "alloc", "launch", "calls", "gil", "gc", "loader", "operators"]
PARTS = ["computing", "transfer", "communication", "waiting", "copies", *STATES, "user", "latency", "dependency", "unknown"]
SLOW_LAUNCH_NS = 1_000_000
LATENCY_NS = 10_000
DEPENDENCY_NS = 100_000

COMMUNICATES = re.compile(r"nccl|rccl|multimem_all_|nvshmem|cross_device_reduce|shm_all_?reduce", re.I)
SYNC = re.compile(r"Synchronize")
ALLOC = re.compile(r"Malloc|Free|HostAlloc|Mem(Alloc|Create|Map|Unmap|Release|AddressReserve|SetAccess)|HostRegister|HostUnregister"
                   r"|Module(Load|Unload)|Library(Load|Unload)|GetFuncBySymbol|PoolCreate|PoolTrim|GraphInstantiate")
LAUNCH = re.compile(r"Launch(?!HostFunc)")
COPY = re.compile(r"^(cuda|cu|hip)Mem(cpy|set)")
LOADER = re.compile(r"enumerate\(DataLoader|DataLoaderIter|DataPipe")
FRAMEWORK = re.compile(r"Optimizer\.(step|zero_grad)#")
COMPILATION = re.compile(r"^(?!compile_file).* \(dynamo_timed\)$|^pytorch\.wait_counter\."
                         r"|^(trace_to_jaxpr_(dynamic|nounits)|lower_sharding_computation|backend_compile(_and_load)?)$")
COLLECTION = re.compile(r"garbage collection of generation \d+$")
PYTHON_ROWS = 0x40000000  # of a timeline: Python of the thread with the rest of the number
STEP = re.compile(r"^ProfilerStep#(\d+)$")
DEVICE = {"kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "copy"}

Span = collections.namedtuple("Span", "begin end")
Call = collections.namedtuple("Call", "begin end name thread correlation")
Activity = collections.namedtuple("Activity", "begin end kind name correlation collective", defaults=[None])
Trace = collections.namedtuple("Trace", "calls operators loaders activities steps window pid collectives pauses locks compilations ranges", defaults=[(), (), (), (), ()])
Gap = collections.namedtuple("Gap", "begin end launch thread")
# A collective of all ranks: what it has in common on each, and how many there are.
Collective = collections.namedtuple("Collective", "key ranks")


class Thread:
    """What a thread did: pieces (begin, end, state) that do not overlap, from spans (begin, end, state) that may."""

    def __init__(self, spans):
        edges = collections.defaultdict(list)
        for begin, end, state in spans:
            if end > begin:
                edges[begin].append((state, 1))
                edges[end].append((state, -1))
        active, self.pieces, last = collections.Counter(), [], None
        for at in sorted(edges):
            state = next((s for s in STATES if active[s]), None)
            if state and self.pieces and self.pieces[-1][1:] == (last, state):
                self.pieces[-1] = (self.pieces[-1][0], at, state)
            elif state and at > last:
                self.pieces.append((last, at, state))
            for changed, by in edges[at]:
                active[changed] += by
            last = at
        self.begins = [piece[0] for piece in self.pieces]

    def between(self, begin, end):
        """Pieces of [begin, end), those without a state included."""
        i, at = max(0, bisect.bisect_right(self.begins, begin) - 1), begin
        while at < end:
            while i < len(self.pieces) and self.pieces[i][1] <= at:
                i += 1
            if i == len(self.pieces) or self.pieces[i][0] >= end:
                yield at, end, None
                return
            piece_begin, piece_end, state = self.pieces[i]
            if piece_begin > at:
                yield at, piece_begin, None
                at = piece_begin
            yield at, min(end, piece_end), state
            at = min(end, piece_end)

    def last_before(self, time, since=0, state=None):
        """The last piece (of that state) that begins before a time, and not before `since`."""
        i = bisect.bisect_left(self.begins, time) - 1
        while i >= 0 and self.pieces[i][0] >= since:
            if state in (None, self.pieces[i][2]):
                return self.pieces[i]
            i -= 1
        return None

    def waits_until(self, time):
        """When a wait ends that it is in just before a time; 0: it does not wait."""
        piece = self.last_before(time)
        return piece[1] if piece and piece[2] == "wait" and piece[1] >= time else 0

    def works(self, begin, end):
        """When it does anything in [begin, end)."""
        return [(a, b) for a, b, state in self.between(begin, end) if state]


def ns(us):
    return int(decimal.Decimal(us) * 1000)


def category(event):
    cat = (event.get("cat") or "").lower()
    return {"runtime": "cuda_runtime", "driver": "cuda_driver", "operator": "cpu_op", "memcpy": "gpu_memcpy",
            "memset": "gpu_memset", "python function": "python_function"}.get(cat, cat)


def collective_of(args):
    """Of a kernel of PyTorch's profiler, or of a call of NCCL in a timeline; None: it has no number, or is between two ranks."""
    if "Process Group Ranks" in args and "Seq" in args and not re.search("send|recv", str(args.get("Collective name", "send")), re.I):
        group = (args.get("Process Group Name"), args["Process Group Ranks"])
        return Collective((group, int(args["Group size"]), int(args["Seq"])), int(args["Group size"]))
    member = re.match(r"(\w+), rank \d+ of (\d+)$", str(args.get("communicator", "")))
    return Collective((member[1], args["sequence number"]), int(member[2])) if member and "sequence number" in args else None


def read_kineto(path):
    decimal.getcontext().prec = 40
    with (gzip.open if path.endswith(".gz") else open)(path) as file:
        text = file.read().decode("utf-8", "replace") if path.endswith(".gz") else file.read()
    document = json.loads(text, parse_float=decimal.Decimal, strict=False)
    events = document["traceEvents"] if isinstance(document, dict) else document
    calls, operators, loaders, activities, marks, ends, pids = [], [], [], [], {}, [], collections.Counter()
    of_calls, pauses, locks, compilations, ranges = [], [], [], [], []
    for event in events:
        if event.get("ph") != "X" or "ts" not in event:
            continue
        cat, name, args = category(event), event.get("name", ""), event.get("args") or {}
        begin, length = ns(event["ts"]), ns(event.get("dur", 0))
        end, thread = begin + length, (event.get("pid"), event.get("tid"))
        correlation = args.get("correlation")
        if cat in DEVICE and not begin and not length:
            continue  # nobody knows when it ran
        if cat in DEVICE:
            activities.append(Activity(begin, end, DEVICE[cat], name, correlation, collective_of(args)))
        elif cat in ("cuda_runtime", "cuda_driver"):
            calls.append(Call(begin, end, name, thread, correlation))
        elif cat in ("cpu_op", "user_annotation", "python_function"):
            if cat != "python_function" and not STEP.match(name):
                ranges.append((begin, end, thread, name))
            if STEP.match(name):
                marks[int(STEP.match(name)[1])] = Span(begin, end)
            elif cat == "python_function" and COLLECTION.match(name):
                pauses.append((begin, end, (event.get("pid"), event["tid"] & ~PYTHON_ROWS)))
            elif cat != "python_function" and COMPILATION.search(name):
                compilations.append((begin, end, thread))
            elif cat != "python_function" and LOADER.search(name):
                loaders.append((begin, end, thread))
            elif cat == "cpu_op" or (cat == "user_annotation" and FRAMEWORK.match(name)):
                operators.append((begin, end, thread))
        else:
            if name == "python_gil":
                locks.append((begin, end, thread))
            if cat == "nccl" and not re.search("Send|Recv", name) and collective_of(args):
                of_calls.append((begin, end, thread, collective_of(args)))
            continue
        if cat not in DEVICE:
            pids[event.get("pid")] += 1
        ends += [begin, end]
    steps = [(number, marks[number]) for number in sorted(marks)]
    pid = pids.most_common(1)[0][0] if pids else None
    return Trace(calls, operators, loaders, activities, steps, Span(min(ends), max(ends)) if ends else None, pid, of_calls, pauses, locks, compilations, ranges)


NSYS_COPIES = {1: "HtoD", 2: "DtoH", 8: "DtoD", 10: "PtoP"}
NSYS_RANGES = (59, 60, 70, 71)


def read_nsys(path):
    """A trace of each process that called CUDA. Calls of the operating system are nothing here."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    tables = {name for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    found = collections.defaultdict(lambda: Trace([], [], [], [], [], [], None))
    of = lambda thread: found[thread >> 24 << 24]

    def rows(table, columns):
        return database.execute(f"SELECT start, end, {columns} FROM {table} WHERE end IS NOT NULL") if table in tables else []

    names = dict(database.execute("SELECT id, value FROM StringIds"))
    for begin, end, thread, name, correlation in rows("CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid, nameId, correlationId"):
        of(thread).calls.append(Call(begin, end, names[name], thread, correlation))
    for begin, end, process, name, correlation in rows("CUPTI_ACTIVITY_KIND_KERNEL", "globalPid, demangledName, correlationId"):
        of(process).activities.append(Activity(begin, end, "kernel", names.get(name, ""), correlation))
    for begin, end, process, kind, correlation in rows("CUPTI_ACTIVITY_KIND_MEMCPY", "globalPid, copyKind, correlationId"):
        of(process).activities.append(Activity(begin, end, "copy", NSYS_COPIES.get(kind, "other"), correlation))
    for begin, end, process, correlation in rows("CUPTI_ACTIVITY_KIND_MEMSET", "globalPid, correlationId"):
        of(process).activities.append(Activity(begin, end, "copy", "memset", correlation))
    for begin, end, thread, kind in rows("NVTX_EVENTS", "globalTid, eventType"):
        if kind in NSYS_RANGES and thread is not None:
            of(thread).window.extend((begin, end))
    for process, trace in found.items():
        ends = trace.window + [ns for event in trace.calls + trace.activities for ns in event[:2]]
        if trace.activities or trace.calls:
            yield trace._replace(window=Span(min(ends), max(ends)), pid=process >> 24 & 0xffffff)


def state_of(call, read_back):
    if SYNC.search(call.name) or (call.correlation in read_back and read_back[call.correlation] <= call.end):
        return "wait"
    if COPY.search(call.name):
        return "launch"
    if LAUNCH.search(call.name):
        return "alloc" if call.end - call.begin >= SLOW_LAUNCH_NS else "launch"
    return "alloc" if ALLOC.search(call.name) else "calls"


def launches(trace):
    """The outermost call of each correlation ID."""
    found = {}
    for call in trace.calls:
        old = found.get(call.correlation)
        if call.correlation is not None and (old is None or call.begin < old.begin):
            found[call.correlation] = call
    return found


def threads(trace, launched):
    """Threads by their ID, and all that launch as one, under None."""
    read_back = {a.correlation: a.end for a in trace.activities if a.kind == "copy" and re.search("DtoH|D2H|Device -> (Host|Pinned|Pageable)", a.name)}
    spans = collections.defaultdict(list)
    for call in trace.calls:
        spans[call.thread].append((call.begin, call.end, state_of(call, read_back)))
    for begin, end, thread in trace.operators:
        spans[thread].append((begin, end, "operators"))
    for begin, end, thread in trace.loaders:
        spans[thread].append((begin, end, "loader"))
    for begin, end, thread in trace.compilations:
        spans[thread].append((begin, end, "compile"))
    for begin, end, thread in trace.locks:
        spans[thread].append((begin, end, "gil"))
    pauses = [(begin, end, "gc") for begin, end, _ in trace.pauses]
    for pause, (*_, thread) in zip(pauses, trace.pauses):
        spans[thread].append(pause)
    of_launches = {launched[a.correlation].thread for a in trace.activities if a.correlation in launched}
    result = {thread: Thread(of_it) for thread, of_it in spans.items()}
    result[None] = Thread([span for thread in of_launches for span in spans[thread]] + pauses)
    return result


def union(spans):
    merged = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((begin, end))
    return merged


LEAST_COMMON = 8


def with_collectives(trace):
    """(number, collective) of the activities whose collective is known by themselves, or by the call around their launch."""
    launched = launches(trace)
    around = collections.defaultdict(list)
    for begin, end, thread, collective in trace.collectives:
        around[thread].append((begin, end, collective))
    for number, a in enumerate(trace.activities):
        launch = launched.get(a.correlation)
        if a.collective:
            yield number, a.collective
        elif launch and COMMUNICATES.search(a.name):
            for begin, end, collective in around[launch.thread]:
                if begin <= launch.begin <= end:
                    yield number, collective


def offsets(common, number, shares_clock):
    """How far the clock of each trace is ahead of the first one's; None: not known. A collective ends on all ranks at once."""
    for i in range(number):
        ahead = sorted(ends[i] - ends[0] for ends in common if i in ends and 0 in ends)
        yield 0 if shares_clock or i == 0 else ahead[len(ahead) // 2] if len(ahead) >= LEAST_COMMON else None


def rank_waits(ranks, shares_clock):
    """Of each trace, by the number of an activity: until when it waits for the last rank of its collective."""
    members = collections.defaultdict(list)
    for i, trace in enumerate(ranks):
        for number, collective in with_collectives(trace):
            members[collective].append((i, number))
    whole = [of for collective, of in members.items() if len(of) == len(dict(of)) == collective.ranks > 1]
    ahead = list(offsets([{i: ranks[i].activities[number].end for i, number in of} for of in whole], len(ranks), shares_clock))
    found = [{} for _ in ranks]
    for of in whole:
        if all(ahead[i] is not None for i, _ in of):
            last = max(ranks[i].activities[number].begin - ahead[i] for i, number in of)
            for i, number in of:
                found[i][number] = last + ahead[i]
    return found


def busy_pieces(activities, waits):
    """(begin, end, part) of what runs on the GPU, and the times when anything does."""
    kinds = {"computing": [], "transfer": [], "communication": [], "waiting": [], "copies": []}
    for number, a in enumerate(activities):
        if a.kind != "copy" and COMMUNICATES.search(a.name) and number in waits:
            until = min(a.end, max(a.begin, waits[number]))
            kinds["waiting"].append((a.begin, until))
            kinds["transfer"].append((until, a.end))
            continue
        part = "copies" if a.kind == "copy" else "communication" if COMMUNICATES.search(a.name) else "computing"
        kinds[part].append((a.begin, a.end))
    pieces, taken = [], []
    for part, spans in kinds.items():
        merged, begins = union(spans), [span[0] for span in taken]
        for begin, end in merged:
            pieces += [(a, b, part) for a, b in without(begin, end, taken, begins)]
        taken = union(taken + merged)
    return sorted(pieces), taken


def without(begin, end, taken, begins):
    """What of [begin, end) is in none of the sorted spans."""
    i, at = max(0, bisect.bisect_right(begins, begin) - 1), begin
    while i < len(taken) and taken[i][0] < end:
        if taken[i][0] > at:
            yield at, taken[i][0]
        at = max(at, taken[i][1])
        i += 1
    if at < end:
        yield at, end


def by_thread(begin, end, thread, of):
    for a, b, state in of[thread].between(begin, end) if thread in of else [(begin, end, None)]:
        if state:
            yield a, b, state
            continue
        for c, d, other in of[None].between(a, b):
            yield c, d, other or "user"


def gap_pieces(gap, of):
    begin, end, launch, thread = gap
    late = end - launch.end if launch else end
    if launch is None or launch.end <= begin or (late > LATENCY_NS and 2 * late > end - begin):
        yield begin, end, "dependency" if end - begin > DEPENDENCY_NS else "latency"
        return
    until = min(end, launch.end)
    yield from by_thread(begin, until, thread, of)
    if until < end:
        yield until, end, "latency"


def take_turns(begin, end, thread, of, since):
    """Does the thread's work in [begin, end) follow that of another one, which waited when [begin, end) began?"""
    work, before = of[thread].works(begin, end), of[thread].last_before(begin)
    again, ended = work[0][0] if work else end, before[1] if before else 0
    others = [other for name, other in of.items() if name not in (None, thread)]
    return ended <= begin and any(
        0 < other.waits_until(begin) < again and not other.works(again, end) and
        other.last_before(begin, max(since, ended), "launch") for other in others)


def is_opened(gap, window, of):
    """Did a wait open what of the gap lies in the window?"""
    if gap.begin <= window.begin or gap.thread is None:
        return False
    return of[gap.thread].waits_until(gap.begin) > 0 or (
        gap.launch is not None and take_turns(gap.begin, min(gap.end, gap.launch.end, window.end), gap.thread, of, window.begin))


def gaps_of(trace, launched, busy):
    first = {}
    for a in trace.activities:
        key = (a.correlation is None, a.correlation or 0)
        if a.begin not in first or key < first[a.begin][0]:
            first[a.begin] = (key, launched.get(a.correlation))
    at = trace.window.begin
    for begin, end in busy:
        if begin > at:
            launch = first[begin][1]
            yield Gap(at, begin, launch, launch and launch.thread)
        at = max(at, end)


def last_gap(trace, launched, busy):
    """Nothing ends it; it is of the thread that launched last."""
    known = {a.correlation for a in trace.activities}
    that_launch = [call for key, call in launched.items() if key in known] or trace.calls
    last = max(that_launch, key=lambda call: call.begin, default=None)
    return Gap(busy[-1][1] if busy else trace.window.begin, trace.window.end, None, last and last.thread)


def all_pieces(trace, launched, of, waits):
    """The recording from end to end: (begin, end, part, gap that it lies in), in order and without holes."""
    running, busy = busy_pieces(trace.activities, waits)
    pieces = [(*piece, None) for piece in running]
    for gap in gaps_of(trace, launched, busy):
        pieces += [(*piece, gap) for piece in gap_pieces(gap, of)]
    gap = last_gap(trace, launched, busy)
    pieces += [(*piece, gap) for piece in by_thread(gap.begin, gap.end, gap.thread, of)]
    return sorted(pieces, key=lambda piece: piece[:2])


def step_windows(trace):
    """A step lasts until its GPU activities have ended; the next one begins there."""
    launched = launches(trace)
    works = sorted((launched[a.correlation].begin, a.end) for a in trace.activities if a.correlation in launched)
    begins = [work[0] for work in works]
    free = 0
    for number, (begin, end) in trace.steps:
        inside = works[bisect.bisect_left(begins, begin):bisect.bisect_left(begins, end)]
        last = max([end] + [done for _, done in inside])
        yield number, Span(max(begin, free), last)
        free = max(free, last)


def parts(pieces, begins, window, opened):
    result = dict.fromkeys((f"{part}_ns" for part in PARTS), 0)
    result = {"window_ns": window.end - window.begin, **result, "drained_ns": 0}
    i = max(0, bisect.bisect_right(begins, window.begin) - 1)
    while i < len(pieces) and pieces[i][0] < window.end:
        begin, end, part, gap = pieces[i]
        ns_inside = max(0, min(end, window.end) - max(begin, window.begin))
        result[f"{part}_ns"] += ns_inside
        if ns_inside and gap and part in (*STATES, "user") and opened(gap, window):
            result["drained_ns"] += ns_inside
        i += 1
    left = result["window_ns"] - sum(result[f"{part}_ns"] for part in PARTS)
    assert left == 0, f"{left} ns of {window} are in no part"
    return result


def captures(trace):
    """When a graph was being captured, in the order of time. Launches of then run later, if at all."""
    found, begins = [], []
    for call in sorted(trace.calls, key=lambda call: call.begin):
        if "BeginCapture" in call.name:
            begins.append(call.begin)
        elif "EndCapture" in call.name and begins:
            found.append((begins[0], call.begin))
            begins = []
    return found


def lost(trace):
    """The share of launches of kernels and graphs that have no activity, where anything has one."""
    known = {a.correlation for a in trace.activities}
    captured = captures(trace)
    kernels = [call for call in trace.calls if LAUNCH.search(call.name) and
               (call.correlation in known or not any(begin <= call.begin < end for begin, end in captured))]
    return sum(call.correlation not in known for call in kernels) / len(kernels) if kernels and known else 0


def budget(trace, waits=()):
    """waits: one of rank_waits."""
    if not trace.window or not (trace.activities or trace.calls):
        return {"pid": trace.pid, "steps": [], "window_ns": 0}
    launched = launches(trace)
    of = threads(trace, launched)
    opened = functools.lru_cache(1)(lambda gap, window: is_opened(gap, window, of))
    pieces = all_pieces(trace, launched, of, waits)
    begins = [piece[0] for piece in pieces]
    steps = [{"step": number, "begin_ns": w.begin, "end_ns": w.end, **parts(pieces, begins, w, opened)}
             for number, w in step_windows(trace) if w.end > w.begin]
    if not steps:
        total = parts(pieces, begins, trace.window, opened)
    else:
        total = {key: sum(step[key] for step in steps) for key in steps[0] if key not in ("step", "begin_ns", "end_ns")}
    return {"pid": trace.pid, **total, "lost": lost(trace), "steps": steps}


def by_begin(ranges):
    """Operators and annotations by thread, in the order of their begins; of those that begin together the longest first."""
    threads_of = collections.defaultdict(list)
    for begin, end, thread, name in ranges:
        threads_of[thread].append((begin, -end, name))
    return {thread: sorted(of_it) for thread, of_it in threads_of.items()}


def innermost(ranges, call):
    """The name of the last of these to begin in which a call begins, since they nest; None: there is none."""
    of_it = ranges.get(call.thread, [])
    for i in range(bisect.bisect_right(of_it, (call.begin, 0)), 0, -1):
        if call.begin < -of_it[i - 1][1]:
            return of_it[i - 1][2]
    return None


def places(trace):
    """ns by operator and cause, and the number of steps. launch, python_host, gaps: of the operator whose launch ends a gap, time in
    gaps that no wait opened, while the host is at work, or in code that nothing explains; and latency in all gaps.
    comm_exposed: of the operator that launched the communication which began first of those that run."""
    launched = launches(trace)
    of = threads(trace, launched)
    windows = [window for _, window in step_windows(trace)] or [trace.window]
    opened = functools.lru_cache(1)(lambda gap, window: is_opened(gap, window, of))
    ranges = by_begin(trace.ranges)
    name_of = functools.cache(lambda call: call and innermost(ranges, call))
    communicating = sorted((a for a in trace.activities if COMMUNICATES.search(a.name)), key=lambda a: a.begin)
    result = collections.defaultdict(collections.Counter)
    for begin, end, part, gap in all_pieces(trace, launched, of, ()):
        for window in windows:
            inside = min(end, window.end) - max(begin, window.begin)
            if inside <= 0:
                continue
            if part in ("transfer", "communication"):
                first = next(a for a in communicating if a.end > begin)
                result["comm_exposed"][name_of(launched.get(first.correlation))] += inside
            elif part == "latency" and gap.launch:
                result["gaps"][name_of(gap.launch)] += inside
            elif part in ("launch", "calls", "operators", "user") and gap.launch and not opened(gap, window):
                result["launch"][name_of(gap.launch)] += inside
                result["python_host"][name_of(gap.launch)] += inside if part == "user" else 0
    return result, len(windows)


def traces(path):
    """Those of a file or of a folder, in the order of their names."""
    if os.path.isdir(path):
        for name in sorted(os.listdir(path)):
            yield from traces(os.path.join(path, name))
    elif path.endswith(".sqlite"):
        yield from read_nsys(path)
    elif re.search(r"\.json(\.gz)?$", path):
        yield read_kineto(path)


if __name__ == "__main__":
    FOUND = list(traces(sys.argv[1]))
    print(json.dumps([budget(*of) for of in zip(FOUND, rank_waits(FOUND, False))], indent=1))
