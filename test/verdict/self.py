#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""self.py: do budget.py, budgets.py, same.py and verdict.py see what is wrong? Traces of a few events whose budget is known, and
findings that are false in one respect each. Prints TAP."""
import json
import os
import sys
import tempfile
import textwrap

import budget
import budgets
import same
import verdict

CPU, OTHER, GPU = (7, 1), (7, 2), (0, 7)
number = failed = 0


def test(name, have, want):
    global number, failed
    number += 1
    failed += have != want
    print(f"{'ok' if have == want else 'not ok'} {number} - self: {name}{'' if have == want else f': {have} and not {want}'}")


def event(cat, name, begin_us, end_us, thread=CPU, correlation=None):
    return {"ph": "X", "cat": cat, "name": name, "ts": begin_us, "dur": end_us - begin_us, "pid": thread[0], "tid": thread[1],
            "args": {} if correlation is None else {"correlation": correlation}}


def call(name, begin_us, end_us, correlation=None, thread=CPU):
    return event("cuda_runtime", name, begin_us, end_us, thread, correlation)


def kernel(begin_us, end_us, correlation, name="gemm"):
    return event("kernel", name, begin_us, end_us, GPU, correlation)


def operator(begin_us, end_us, name="aten::mm", thread=CPU):
    return event("cpu_op", name, begin_us, end_us, thread)


def parts_of_ranks(*ranks, shares_clock=True):
    """Of each rank the parts that are not zero, in us."""
    with tempfile.TemporaryDirectory() as place:
        for number, events in enumerate(ranks):
            with open(os.path.join(place, f"{number}.json"), "w", encoding="ascii") as file:
                json.dump({"traceEvents": events}, file)
        traces = list(budget.traces(place))
    found = [budget.budget(*of) for of in zip(traces, budget.rank_waits(traces, shares_clock))]
    return [{key[:-3]: ns // 1000 for key, ns in of.items() if key.endswith("_ns") and ns} for of in found]


def parts_of(events):
    return parts_of_ranks(events)[0]


def collective(begin_us, end_us, number, ranks=2):
    of = kernel(begin_us, end_us, number, "ncclDevKernel_AllReduce")
    of["args"] |= {"Process Group Name": "0", "Process Group Ranks": "[0, 1]", "Group size": ranks, "Seq": number, "Collective name": "allreduce"}
    return [call("cudaLaunchKernel", begin_us - 5, begin_us, number), of]


def parts():
    test("operators, launches, latency and communication", parts_of([
        operator(0, 100), call("cudaLaunchKernel", 10, 20, 1), kernel(25, 50, 1), call("cudaLaunchKernel", 60, 70, 2),
        kernel(75, 95, 2, "ncclDevKernel_AllReduce")]),
        {"window": 100, "computing": 25, "communication": 20, "operators": 25, "launch": 20, "latency": 10})
    test("of what overlaps, computing counts first", parts_of([
        call("cudaLaunchKernel", 0, 5, 1), kernel(5, 50, 1), kernel(30, 70, 2, "ncclKernel"),
        event("gpu_memcpy", "Memcpy DtoD (Device -> Device)", 60, 80, GPU, 3)]),
        {"window": 80, "computing": 45, "communication": 20, "copies": 10, "launch": 5})
    test("what was launched long before waits for something else", parts_of([
        call("cudaLaunchKernel", 0, 5, 1), kernel(200, 210, 1)]), {"window": 210, "computing": 10, "dependency": 200})
    test("and below 100 us it is latency", parts_of([
        call("cudaLaunchKernel", 0, 5, 1), kernel(60, 70, 1)]), {"window": 70, "computing": 10, "latency": 60})
    test("a copy to the host that ends before its call is waited for", parts_of([
        call("cudaMemcpyAsync", 0, 50, 1), event("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 10, 40, GPU, 1)]),
        {"window": 50, "copies": 30, "wait": 20, "drained": 10})
    test("one that ends later is launched", parts_of([
        call("cudaMemcpyAsync", 0, 10, 1), event("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 12, 40, GPU, 1)]),
        {"window": 40, "copies": 28, "launch": 10, "latency": 2})
    test("waits, allocations and other calls", parts_of([
        call("cudaDeviceSynchronize", 0, 10), call("cudaMalloc", 10, 30), call("cudaEventQuery", 30, 35),
        call("cudaLaunchKernel", 40, 50, 1), kernel(50, 60, 1)]),
        {"window": 60, "computing": 10, "wait": 10, "alloc": 20, "calls": 5, "user": 5, "launch": 10})
    test("a launch of a millisecond loads code", parts_of([
        call("cudaLaunchKernel", 0, 1500, 1), kernel(1500, 1600, 1)]), {"window": 1600, "computing": 100, "alloc": 1500})
    test("the loader; annotations and Python functions are nothing", parts_of([
        event("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 30), operator(5, 20, "aten::stack"),
        event("user_annotation", "my range", 30, 90), event("python_function", "loop.py(3): step", 30, 90),
        operator(50, 60), call("cudaLaunchKernel", 60, 70, 1), kernel(70, 90, 1)]),
        {"window": 90, "computing": 20, "loader": 30, "user": 20, "operators": 10, "launch": 10})
    test("a thread that does nothing waits for the others that launch", parts_of([
        operator(0, 40), call("cudaLaunchKernel", 0, 10, 1), kernel(10, 12, 1), operator(50, 60, thread=OTHER),
        call("cudaLaunchKernel", 60, 70, 2, OTHER), kernel(70, 80, 2)]),
        {"window": 80, "computing": 12, "launch": 20, "operators": 38, "user": 10})
    test("a step lasts until its activities have ended", parts_of([
        event("user_annotation", "ProfilerStep#1", 0, 50), call("cudaLaunchKernel", 0, 10, 1), kernel(10, 70, 1),
        event("user_annotation", "ProfilerStep#2", 50, 100), call("cudaLaunchKernel", 80, 90, 2), kernel(90, 95, 2), operator(200, 300)]),
        {"window": 100, "computing": 65, "user": 15, "launch": 20})


def waits():
    first, second = collective(10, 50, 1), collective(30, 50, 1)
    alone = {"window": 45, "communication": 40, "launch": 5}
    test("waiting for the last rank, then transfer", parts_of_ranks(first, second),
         [{"window": 45, "transfer": 20, "waiting": 20, "launch": 5}, {"window": 25, "transfer": 20, "launch": 5}])
    test("of a rank alone nobody knows", parts_of_ranks(first), [alone])
    test("nor where another is missing", parts_of_ranks(collective(10, 50, 1, 3), collective(30, 50, 1, 3))[0], alone)
    test("nor of another collective", parts_of_ranks(first, collective(30, 50, 2))[0], alone)
    test("transfer of one collective counts before the waiting in another", parts_of_ranks(
        collective(10, 50, 1) + collective(15, 25, 2), collective(30, 50, 1) + collective(15, 25, 2))[0],
        {"window": 45, "transfer": 30, "waiting": 10, "launch": 5})
    test("and computing before both", parts_of_ranks(first + [kernel(20, 40, 9)], second)[0],
         {"window": 45, "computing": 20, "transfer": 10, "waiting": 10, "launch": 5})
    ranks = [sum((collective(ahead + 100 * i + 10 + 20 * rank, ahead + 100 * i + 50, i) for i in range(1, 9)), [])
             for rank, ahead in ((0, 0), (1, 777))]
    test("clocks that differ are compared by the ends of eight collectives", [
        {key: us for key, us in of.items() if key in ("transfer", "waiting")} for of in parts_of_ranks(*ranks, shares_clock=False)],
        [{"transfer": 160, "waiting": 160}, {"transfer": 160}])
    test("and of seven nobody knows", "waiting" in parts_of_ranks(*(rank[:14] for rank in ranks), shares_clock=False)[0], False)


def turns():
    def drained(*more, wait_end=120, waiting=CPU, launching=CPU):
        found = parts_of([call("cudaLaunchKernel", 0, 10, 1, launching), kernel(20, 100, 1), call("cudaDeviceSynchronize", 50, wait_end, None, waiting),
                          call("cudaLaunchKernel", 200, 210, 2, OTHER), kernel(220, 300, 2), *more])
        return found.get("drained", 0)
    test("a wait opened the gap of a thread that takes over", drained(), 110)
    test("after more work of the one that waited", drained(operator(130, 150), operator(160, 190, thread=OTHER)), 110)
    test("a wait of the thread itself opened it", drained(waiting=OTHER), 110)
    test("no wait that ended before, and none that goes on", [drained(wait_end=90), drained(wait_end=205)], [0, 0])
    test("no wait of a thread that launches nothing", drained(launching=OTHER), 0)
    test("nor one beside which the other thread worked", [drained(operator(a, b, thread=OTHER)) for a, b in ((20, 30), (90, 110), (105, 110))], [0, 0, 0])
    test("nor one of a thread that then works beside it", drained(operator(150, 160, thread=OTHER), operator(165, 170)), 0)
    test("nor one of another step", drained(event("user_annotation", "ProfilerStep#1", 0, 40), event("user_annotation", "ProfilerStep#2", 40, 300)), 0)


REFERENCE = {"window_ns": 1000, **{f"{part}_ns": 0 for part in budget.PARTS}, "computing_ns": 595, "operators_ns": 305, "alloc_ns": 60,
             "launch_ns": 40, "drained_ns": 50, "lost": 0, "steps": [], "is_exact": True}
ROW = {**dict.fromkeys(budgets.PARTS, 0), "computing": 600, "operators": 300, "calls": 100, "drained": 50}


def comparison():
    def wrong(lost=0, **changed):
        return len(list(budgets.differences({**ROW, **changed}, {**REFERENCE, "lost": lost})))
    test("within 1 %, start-up, allocations and launches as one", wrong(), 0)
    test("parts that do not sum to the window", wrong(computing=599), 1)
    test("parts that differ", wrong(computing=580, operators=320), 2)
    test("another window", wrong(operators=330), 1)
    test("gaps that no wait opened", wrong(drained=61), 1)
    unknown = {"lost": 0.5, "operators": 0, "calls": 0, "drained": 0, "unknown": 400}
    test("idle time is unknown where launches are lost", wrong(**unknown), 0)
    test("none of it is divided", [wrong(lost=0.5), wrong(**{**unknown, "operators": 200, "unknown": 200}), wrong(**{**unknown, "drained": 50})], [4, 2, 1])
    test("nor is it where they are not", wrong(**{**unknown, "lost": 0}), 4)
    beyond = lambda cause, reach_ns: len(list(budgets.beyond_reach([{"cause": cause, "reach_ns": reach_ns, "step_ns": 100, "sentence": ""}], REFERENCE)))
    test("a reach of what the budget has", beyond("launch", 41), 0)
    test("what waits for a rank is not to be hidden", beyond("comm_exposed", 30), 1)
    test("and of more", [beyond("launch", 50), beyond("python_host", 5), beyond("loader", 5)], [1, 1, 1])
    events = [{"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 2, "ts": ts, "dur": dur, "args": {"correlation": number}}
              for number, op in enumerate(("aten::mm", "aten::add", "aten::mm")) for cat, name, ts, dur in
              (("cpu_op", "nn.Linear", 1000 * number, 999), ("cpu_op", op, 1000 * number + 100, 800),
               ("cuda_runtime", "cudaLaunchKernel", 1000 * number + 800, 50), ("kernel", "k", 1000 * number + 855, 45))]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"traceEvents": events}, file)
        file.flush()
        says = lambda share, name: len(list(budgets.badly_named([{"cause": "launch", "reach_ns": 2750000,
            "sentence": f"The GPU waits for the host to launch work, {share} % of that for {name}; graphs can save"}], file.name)))
        test("the operator that launches", [says(65, "aten::mm"), says(35, "aten::a..."), says(55, "aten::mm"), says(65, "nn.Linear")], [0, 0, 1, 1])


def sameness():
    def wrong(idle=70, drained=10, mean=35, gap=40, head=35):
        have = {
            "budget": [{"pid": 1, "part": "Computing", "total_ns": 30}, {"pid": 1, "part": "Idle: waits", "total_ns": 70}],
            "idle": [{"pid": 1, "part": "Idle: waits", "total_ns": idle, "drained_ns": drained, "mean_ns": mean}],
            "idle_gaps": [{"pid": 1, "cause": "Idle: waits", "duration_ns": gap, "cause_ns": gap}],
            "headline": [{"helpers": 0, "processes": 1, "computing_ns": 15, **{column + "_ns": None for column in list(same.GPU)[1:]}, "idle_wait_ns": head}],
        }
        steps = {1: 2}
        return [len(list(of)) for of in (same.idle(have, steps), same.gaps(have), same.headline(have, steps))]
    test("views of the same times", wrong(), [0, 0, 0])
    test("idle time that is another", wrong(idle=69), [1, 0, 0])
    test("a mean that is another", wrong(mean=36), [1, 0, 0])
    test("more after waits than in all", wrong(drained=71), [1, 0, 0])
    test("gaps of more than the idle time", wrong(gap=71), [0, 2, 0])
    test("a headline of other steps", wrong(head=36), [0, 0, 1])
    divided = lambda rank_wait_ns, part: len(list(same.headline({
        "budget": [{"pid": 1, "part": "Computing", "total_ns": 30}, {"pid": 1, "part": part, "total_ns": 70}],
        "headline": [{"helpers": 0, "processes": 1, "computing_ns": 15, **{column + "_ns": None for column in list(same.GPU)[1:]},
                      "transfer_ns": rank_wait_ns and 0, "rank_wait_ns": rank_wait_ns}]}, {1: 2})))
    waits = "Communication: waiting for a rank"
    test("a headline of the waiting for ranks", [divided(35, waits), divided(36, waits), divided(None, waits)], [0, 1, 1])
    test("and where it is unknown", [divided(None, "Communication"), divided(0, "Communication")], [0, 1])


def counts():
    def wrong(model=100, overview=2, overlap=100, summary=100, forward=30, batches=2, batch=50, loader=10):
        have = {"step_stats": [{"pid": 1, "part": "Step", "steps": 2, "total_ns": 100}],
                "model": [{"name": "ProfileStep", "calls": 2, "total_ns": model}, {"name": "Forward", "calls": 2, "total_ns": 60}],
                "overview": [{"name": "ProfileStep", "calls": overview, "total_ns": 100}], "distributed": [{"pid": 1, "time_ns": overlap}],
                "benchmark": [{"pid": 1, "steps": batches, "batch_cost_avg_ns": batch}], "data_loading": [{"wait_pct": loader}, {"wait_pct": None}],
                "headline": [{"processes": 1, "helpers": 0, "steps": 2, "forward_ns": forward, "dataloader_pct": 10}]}
        other = {"distributed": [{"pid": 1, "steps": 2, "duration_ns": summary}]}
        return len(list(same.counted(have, {1: 2}, other))) + len(list(same.phases(have)))
    test("tables of the steps that count, of others each", [
        wrong(), wrong(model=150), wrong(overview=3), wrong(overlap=150), wrong(summary=150), wrong(forward=31)], [0, 1, 1, 1, 1, 1])
    test("other batches, and another share of the loader", [wrong(batches=3), wrong(batch=51), wrong(loader=10.1)], [1, 1, 1])


def owners():
    def wrong(share=75, processes=1):
        return len(list(same.owners({
            "budget": [{"part": "Idle: data loader", "total_ns": 80000000, "longest_pct": share, "longest": "__next__"}],
            "headline": [{"processes": processes, "helpers": 0, "steps": 2}],
            "findings": [{"cause": "loader", "places": "30.00 ms per step, 1 x __next__; 10.00 ms per step, 1 x __init__"}]})))
    test("what has most of a part", [wrong(), wrong(70), wrong(70, processes=2)], [0, 1, 0])


def ranks():
    def summary(processes=2, share=20, text="20.0 % exposed communication (waiting unknown)", rank_wait_ns=None, other_ns=None):
        row = {"processes": processes, "exposed_communication_pct": share, "cpu_communication_pct": None, "transfer_ns": rank_wait_ns, "rank_wait_ns": rank_wait_ns,
               **{name: 1 for name in ["steps", "median_ns", "mean_ns", "p99_ns"] + [column + "_ns" for column in [*same.GPU, *same.PHASES]]}}
        return len(list(same.reduced({"headline": [row]}, {"headline": [{**row, "rank_wait_ns": other_ns or rank_wait_ns}]}, text)))
    divided = "20.0 % exposed communication (transfer 10.0, waiting for a rank 10.0)"
    test("waits that ranks measured one by one", [
        summary(text=divided, rank_wait_ns=5), summary(rank_wait_ns=5), summary(text=divided), summary(1, text=divided, rank_wait_ns=5),
        summary(1, text=divided, rank_wait_ns=5, other_ns=9), summary(1, text=divided, other_ns=9), summary(text=divided, rank_wait_ns=5, other_ns=9)], [0, 1, 1, 0, 1, 1, 0])
    test("communication of ranks one by one", [summary(), summary(1), summary(text="20.0 % exposed communication"), summary(1, text=""), summary(share=0.01, text="")], [0, 1, 1, 0, 0])
    def job(step=70, replayed=2, rank=None):
        return len(list(same.replayed_job({
            "budget": [{"pid": 1, "total_ns": 100}, {"pid": 2, "total_ns": 140}], "what_if": [{"pid": rank, "steps": replayed, "step_ns": step}],
            "step_stats": [{"pid": pid, "part": "Step", "steps": 2} for pid in (1, 2)],
            "breakdown": [{"pid": pid, "step": str(of), "total_ns": ns} for pid, lengths in ((1, (45, 55)), (2, (60, 80))) for of, ns in enumerate(lengths)]})))
    test("a job's step as its slowest rank has it", [job(), job(60), job(60, replayed=1), job(58, replayed=1), job(82, replayed=1)], [0, 1, 0, 1, 1])
    test("ranks that are replayed by themselves", job(60, rank=1), 0)


def devices():
    def wrong(has_steps=False, own=(60,), every=60, overview=60, note=""):
        rows = [{"pid": 1, "device": place, "computation_ns": ns} for place, ns in enumerate(own)]
        have = {"budget": [{"pid": 1, "part": "Computing", "total_ns": 60}], "distributed": rows, "time_breakdown": rows, "headline": [{"helpers": 0}],
                "overview": [{"name": "Kernel", "side": "GPU", "total_ns": overview}], "notes": {"breakdown": note}}
        return len(list(same.unions(have, {"time_breakdown": [{"pid": 1, "computation_ns": every}]}, has_steps)))
    test("unions of a recording", [wrong(), wrong(own=(40, 30)), wrong(own=(59,)), wrong(own=(61,)), wrong(overview=59)], [0, 0, 2, 2, 1])
    test("of what chosen steps launched", [wrong(True, own=(50,)), wrong(True, own=(61,)), wrong(True, overview=61), wrong(True, every=59)], [0, 2, 1, 1])
    test("of work that was cut off", wrong(own=(61,), note="1 event outlasted its step and is cut off."), 0)


def losses():
    def wrong(idle_ns=100, device_ns=100, part="Idle: waits", note="", device_note=""):
        row = {"pid": 1, "idle_ns": idle_ns, "computation_ns": 60, "communication_kernels_alone_ns": 40, "memory_alone_ns": 0, "span_ns": 200}
        return len(list(same.lost({"time_breakdown": [row], "device": [{"pid": 1, "idle_ns": device_ns}], "idle": [{"pid": 1, "part": part}], "notes": {
            **dict.fromkeys(("budget", "idle", "gpu_summary", "time_breakdown", "distributed"), note), "device": device_note or note}})))
    note = "Process 1: 5 of 9 launches have no GPU activity, so idle time is unknown."
    test("nothing is lost", [wrong(), wrong(idle_ns=99), wrong(idle_ns=None), wrong(device_ns=None), wrong(part="Idle or not recorded"), wrong(device_note=note)], [0, 1, 1, 1, 1, 1])
    test("launches are lost", [wrong(None, None, "Idle or not recorded", note), wrong(100, None, "Idle or not recorded", note), wrong(None, 100, "Idle or not recorded", note),
                               wrong(None, None, "Idle: waits", note), wrong(None, None, "Idle or not recorded", note, "-")], [0, 1, 1, 1, 1])


def screens():
    def wrong(length=100, replayed=2, mean=50, computing=60, steps=2, printed="0.00000006", row=60, seconds="0.00000011"):
        head = {"helpers": 0, "processes": 1, "steps": 2, "warm_up_steps": 1, "outlier_steps": 0}
        have = {**{table: [] for table in same.SHOWN}, **{
            "budget": [{"pid": 1, "part": "Computing", "total_ns": 60}, {"pid": 1, "part": "Idle: waits", "total_ns": 40}],
            "step_stats": [{"pid": 1, "part": "Step", "steps": 2, "total_ns": 100, "avg_ns": 50, "min_ns": 40, "max_ns": 60}],
            "critical_path": [{"kind": "kernel", "name": "kernel", "total_ns": length}, {"kind": "kernel", "name": "gemm", "total_ns": 9}],
            "what_if": [{"steps": replayed, "step_ns": mean}], "headline": [head],
            "time_breakdown": [{"pid": 1, "computation_ns": computing, "communication_kernels_alone_ns": 40, "memory_alone_ns": 0, "span_ns": 200}],
            "breakdown": [{"step": "average", "total_ns": 50}, {"step": "1", "total_ns": 42}, {"step": "2", "total_ns": 58}],
            "overview": [{"name": "ProfileStep", "side": "CPU", "calls": steps}], "steps": [{"pid": 1, "duration_ns": ns} for ns in (90, 50, 60)]}}
        lines = [f"gprof_budget_total_seconds{{part=\"{part}\"}} {value}" for part, value in (("Computing", printed), ("Idle: waits", "0.00000004"))]
        shown = json.dumps({"budget": {"rows": [{**have["budget"][0], "total_ns": row}, have["budget"][1]]}})
        budget = {**{table: [] for table in same.SHOWN}, "budget": have["budget"]}
        return [len(list(of)) for of in (
            same.path_of(have), same.replay(have), same.layouts(have, {1: 2}), same.openmetrics(budget, lines),
            same.page_of(have, f'<script id="data" type="application/json">{shown}</script>'),
            same.watched(have, f'gprof_step_duration_seconds_sum{{pid="1",rank=""}} {seconds}'))]
    none = [0] * 6
    but = lambda which: [int(place == which) for place in range(6)]
    test("screens of the same steps", wrong(), none)
    test("a critical path of more steps", wrong(length=190), but(0))
    test("a replay of steps that do not count", wrong(replayed=3), but(1))
    test("and of other times", wrong(mean=56.5), but(1))
    test("a GPU that computes less than its process", wrong(computing=59), but(2))
    test("an overview of other steps", wrong(steps=3), but(2))
    test("another figure in OpenMetrics", wrong(printed="0.00000007"), but(3))
    test("and on the page", wrong(row=61), but(4))
    test("watch with the first step", wrong(seconds="0.0000002"), but(5))



WANT = {"file": "x", "kind": "inference", "first_ok": "launch,python_host", "forbidden": "loader,startup", "bound_step_ns": "40000000",
        "slack_step_ns": "60000000", "comm_exposed_ns": "5000000", "loader_step_ns": "0", "launch_cap_ns": "60000000", "note": "why"}
FINDING = {"cause": "launch", "saved_ns": 55000000, "reach_ns": 58000000, "step_ns": 100000000,
           "places": "40 ms in vllm/worker.py:30; 10 ms in aten::mm",
           "sentence": "Launching holds the GPU up: CUDA graphs would take 55.0 ms (55 %) from the recording, in vllm/worker.py:30"}
SCREEN = """python, NVIDIA B200, 100 ms
Time    40 % computing, 60 % idle
1. Launching holds the GPU up: CUDA graphs would take 55.0 ms (55 %) from the
   recording, in vllm/worker.py:30

Kernels
  backward
"""


def judgement():
    def wrong(row=None, screen=SCREEN, **want):
        rows = [{**FINDING, **(row or {})}] if row != "none" else []
        with_want = {**WANT, **want}
        return [name for name, of in verdict.CHECKS.items() if list(of(with_want, rows, screen.split("\n\n", maxsplit=1)[0]))]
    test("what is right", wrong(), [])
    test("another first finding", wrong(first_ok="kernels_gpu_bound,nothing"), ["first finding"])
    test("a forbidden claim", wrong(forbidden="launch", first_ok="launch"), ["no false claim"])
    test("a saving beyond its reach", wrong({"reach_ns": 54000000}), ["savings in reach"])
    test("a saving without a reach", wrong({"reach_ns": None}), ["savings in reach", "places in reach"])
    test("places of more than the cause", wrong({"places": "40 ms in vllm/worker.py:30; 20 ms in aten::mm"}), ["places in reach"])
    for share, found in (("17.2", []), ("16.9", ["named places"]), ("17.5", ["named places"])):
        named = f"The GPU waits for the host to launch work, {share} % of that for aten::mm; graphs would save 55.0 ms (55 %)"
        test(f"a place with a share of {share} %", wrong({"sentence": named}, "1. " + "\n   ".join(textwrap.wrap(named, 70))), found)
    test("and no place", wrong({"places": ""}), ["places in reach"])
    test("a step that the GPU cannot do", wrong(bound_step_ns="46000000"), ["no less than the GPU needs"])
    test("a saving of more than its cause", wrong(launch_cap_ns="54000000"), ["savings below their causes"])
    test("training in inference", wrong(screen=SCREEN.replace("python,", "Forward python,")), ["words of its kind"])
    test("and in training", wrong(screen=SCREEN.replace("python,", "Forward python,"), kind="training"), [])
    test("a sentence that is cut", wrong({"sentence": "Launching holds up 55.0 ms of t..."}, "1. Launching holds up 55.0 ms of t..."), ["whole sentences"])
    test("a sentence of three lines", wrong(screen=SCREEN.replace("(55 %) from the\n", "(55 %)\n   from the\n")), ["whole sentences"])
    test("a saving that is another", wrong({"saved_ns": 54000000}), ["whole sentences"])
    lost = {"cause": "lost_data", "saved_ns": None, "reach_ns": 0, "sentence": "6 of 12 launches have no GPU activity, so idle time is unknown"}
    of_lost = "python\nINCOMPLETE: 6 of 12 launches have no GPU activity\n1. " + lost["sentence"]
    test("lost launches", wrong(lost, of_lost, first_ok="lost_data", forbidden=""), ["places in reach"])
    test("lost launches that are not said", wrong(lost, of_lost.replace("6 of 12 launches have no GPU activity\n", "x\n"), first_ok="lost_data", forbidden=""), ["places in reach", "lost launches"])
    test("said, and idle time is judged", wrong(screen=SCREEN.replace("Time", "INCOMPLETE: 6 of 12 launches have no GPU times\nTime")), ["lost launches"])
    test("no line although there is a finding", wrong(screen="python\n"), ["whole sentences"])
    test("a share that is of something else", wrong({"step_ns": 200000000}), ["figures"])
    startup = {"cause": "startup", "saved_ns": None, "sentence": "Start-up takes 55.0 ms per step (55 %), most in hipMalloc; it happens once"}
    test("start-up per step", wrong(startup, "1. " + startup["sentence"].replace(", most", ",\n   most"), first_ok="startup", forbidden=""), ["figures"])
    test("a call that is not the longest", len(list(verdict.calls_are_named({}, [{**FINDING, **startup}], "", {"hipMalloc": 1, "hipFree": 9}))), 1)
    test("and one that is", len(list(verdict.calls_are_named({}, [{**FINDING, **startup}], "", {"hipMalloc": 30000000, "hipFree": 9}))), 0)
    own = {**FINDING, "rule": "", "finding": FINDING["sentence"]}
    rule = {"cause": "launch", "rule": "small-kernels", "finding": "the GPU waits", "saved_ns": None}
    advice = lambda *rows: len(list(verdict.advice_has_the_findings([FINDING], rows)))
    test("a finding with its evidence", advice(own, rule), 0)
    test("rules without findings, and a finding that is missing", [advice(rule), advice()], [1, 1])
    test("a rule of another cause", advice(own, {**rule, "cause": "loader"}), 2)
    test("a rule with a saving, and with one beyond the reach", [advice(own, {**rule, "saved_ns": ns}) for ns in (1, 59000000)], [1, 2])
    test("nothing found", wrong("none", "python\n"), ["first finding"])
    test("nothing found where there is nothing", wrong("none", "python\n", first_ok="nothing"), [])


parts()
waits()
turns()
comparison()
sameness()
counts()
owners()
ranks()
devices()
losses()
screens()
judgement()
print(f"1..{number}")
sys.exit(failed != 0)
