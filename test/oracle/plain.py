# SPDX-License-Identifier: Apache-2.0
"""What the tables must say of a trace, computed slowly and plainly: every nanosecond by itself where
a set of times is meant, every event by a loop over all of them."""
import bisect


def rows_by_name(events, with_bytes=False):
    rows = {}
    for event in events:
        row = rows.setdefault(event["name"], {"calls": 0, "total_ns": 0, "min_ns": None, "max_ns": 0})
        length = event["end"] - event["begin"]
        row["calls"] += 1
        row["total_ns"] += length
        row["min_ns"] = length if row["min_ns"] is None else min(row["min_ns"], length)
        row["max_ns"] = max(row["max_ns"], length)
        if with_bytes:
            row["total_bytes"] = row.get("total_bytes", 0) + event["args"]["bytes"]
    return rows


def of(trace, *cats):
    return [event for event in trace.events if event["cat"] in cats]


def is_collective(event):
    return event["name"].startswith("nccl")


class Times:
    """A set of nanoseconds, cut where anything begins or ends: 1 where something runs."""

    def __init__(self, cuts, events):
        self.cuts = cuts
        self.runs = [False] * len(cuts)
        for event in events:
            for i in range(bisect.bisect_left(cuts, event["begin"]), bisect.bisect_left(cuts, event["end"])):
                self.runs[i] = True

    def length(self, *others, without=(), begin=None, end=None):
        total = 0
        for i in range(len(self.cuts) - 1):
            if begin is not None and not begin <= self.cuts[i] < end:
                continue
            if self.runs[i] and all(o.runs[i] for o in others) and not any(o.runs[i] for o in without):
                total += self.cuts[i + 1] - self.cuts[i]
        return total


def cuts_of(events):
    return sorted({event["begin"] for event in events} | {event["end"] for event in events})


def gpu(trace):
    works = of(trace, "kernel", "gpu_memcpy", "gpu_memset")
    cuts = cuts_of(works)
    kernels = of(trace, "kernel")
    busy = Times(cuts, works).length()
    computation = Times(cuts, [k for k in kernels if not is_collective(k)])
    communication = Times(cuts, [k for k in kernels if is_collective(k)])
    span = max(w["end"] for w in works) - min(w["begin"] for w in works)
    return {"events": len(works), "span_ns": span, "busy_ns": busy, "idle_ns": span - busy,
            "computation_ns": computation.length(), "communication_kernels_ns": communication.length(),
            "kernels_overlap_ns": computation.length(communication)}


def steps(trace):
    marks = sorted((e for e in trace.events if e["name"].startswith("ProfilerStep#")), key=lambda e: e["begin"])
    return [(int(e["name"].split("#")[1]), e["begin"], e["end"]) for e in marks]


def in_steps(trace, numbers):
    """The trace with what belongs to some steps alone: host events by when they begin, device events by their launch."""
    class Part:
        pass
    part, chosen = Part(), [s for s in steps(trace) if s[0] in numbers]
    inside = lambda ns: any(begin <= ns < end for _, begin, end in chosen)
    launches = {e["args"]["correlation"]: e["begin"] for e in of(trace, "cuda_runtime")}
    part.events = [e for e in trace.events
                   if (inside(e["begin"]) if e["thread"] else inside(launches.get(e["args"]["correlation"], -1)))]
    return part


def gpu_steps(trace):
    """Steps that last until the last work launched in them is done; the next one begins there."""
    launches = {e["args"]["correlation"]: e["begin"] for e in of(trace, "cuda_runtime")}
    works = [(launches[w["args"]["correlation"]], w["end"]) for w in of(trace, "kernel", "gpu_memcpy", "gpu_memset")
             if w["args"]["correlation"] in launches]
    result, free = [], 0
    for number, begin, end in steps(trace):
        last = max([end] + [done for launch, done in works if begin <= launch < end])
        result.append((number, max(begin, free), last))
        free = last
    return result


ORDER = ["kernel", "memcpy", "memset", "communication", "runtime", "dataloader", "cpu_exec", "other"]


def breakdown(trace, begin, end):
    """What a step's time is, the first that runs of ORDER at each moment; sums to the step."""
    kernels = of(trace, "kernel")
    parts = [[k for k in kernels if not is_collective(k)], of(trace, "gpu_memcpy"), of(trace, "gpu_memset"),
             [k for k in kernels if is_collective(k)], of(trace, "cuda_runtime"),
             [e for e in trace.events if "DataLoader" in e["name"]],
             of(trace, "cpu_op") + [e for e in trace.events if e["name"].startswith("Optimizer.")]]
    cuts = sorted(set(cuts_of(trace.events)) | {begin, end})
    sets = [Times(cuts, part) for part in parts]
    result, rest = {}, end - begin
    for i, name in enumerate(ORDER[:-1]):
        result[name] = sets[i].length(without=sets[:i], begin=begin, end=end)
        rest -= result[name]
    result["other"] = rest
    return result


def distributed(trace, begin, end):
    """What ran from `begin` to `end`."""
    kernels = of(trace, "kernel")
    cuts = sorted(set(cuts_of(kernels)) | {begin, end})
    computes = Times(cuts, [k for k in kernels if not is_collective(k)])
    communicates = Times(cuts, [k for k in kernels if is_collective(k)])
    computation, communication, overlap = (times.length(*others, begin=begin, end=end) for times, others in (
        (computes, ()), (communicates, ()), (computes, (communicates,))))
    return {"time_ns": end - begin, "computation_ns": computation, "communication_ns": communication, "overlap_ns": overlap,
            "computation_alone_ns": computation - overlap, "communication_alone_ns": communication - overlap,
            "other_ns": end - begin - computation - communication + overlap}


def innermost(trace, call):
    """The operator that a call lies in."""
    around = [e for e in trace.events if e["thread"] == call["thread"] and e["cat"] in ("cpu_op", "user_annotation")
              and not e["name"].startswith("ProfilerStep") and e["begin"] <= call["begin"] and call["end"] <= e["end"]]
    return max(around, key=lambda e: e["begin"])["name"] if around else ""


def launches(trace):
    return {e["args"]["correlation"]: e for e in of(trace, "cuda_runtime")}


def kernel_operator(trace):
    rows, calls = {}, launches(trace)
    for kernel in of(trace, "kernel"):
        call = calls.get(kernel["args"]["correlation"])
        row = rows.setdefault((kernel["name"], innermost(trace, call) if call else "(no launch recorded)"), [0, 0])
        row[0] += 1
        row[1] += kernel["end"] - kernel["begin"]
    return rows


def delays(trace):
    rows, calls = {}, launches(trace)
    for work in of(trace, "kernel", "gpu_memcpy", "gpu_memset"):
        call = calls.get(work["args"]["correlation"])
        if call:
            row = rows.setdefault(work["name"], {"calls": 0, "total_ns": 0, "short": 0})
            row["calls"] += 1
            row["total_ns"] += max(0, work["begin"] - call["end"])
            row["short"] += work["end"] - work["begin"] < call["end"] - call["begin"]
    return rows
