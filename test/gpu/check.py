# SPDX-License-Identifier: Apache-2.0
"""What the parts of this folder ask of a dump: check.py WHAT DUMP ARGUMENTS... Prints "ok" and
"failed" lines with the figures; leaves with 1 if one failed."""
import collections
import glob
import json
import os
import re
import subprocess
import sys

FAILED = False
SUM_TOLERANCE = 0.01
DEVICE_CUDA = 1
METRICS = {16: "busy %", 17: "memory traffic %", 18: "memory bytes", 19: "power mW", 20: "SM clock MHz",
           21: "memory clock MHz", 22: "temperature C", 23: "throttle reasons"}
LAUNCH = re.compile("(__)?cu(da)?Launch.*Kernel")
# Events of torch.profiler's CPU side that are no operators.
NOT_OPERATORS = re.compile(r"^(_*cu[A-Z]|_*cuda[A-Z]|Mem(cpy|set) |Activity Buffer|Lazy Function|Runtime Triggered|"
                           r"Command Buffer|Buffer Flush|Instrumentation|Resource|Unrecognized|ProfilerStep|INVALID)")


def judge(name, is_good, figures=""):
    global FAILED
    print("%-8s%s%s" % ("ok" if is_good else "failed", name, ": " + str(figures) if figures != "" else ""))
    FAILED = FAILED or not is_good


def rows(table, dump):
    """The rows of a table as dictionaries of texts."""
    out = subprocess.run([os.environ["ROWS"], table, dump], stdout=subprocess.PIPE, check=True).stdout
    lines = out.decode(errors="replace").split("\n")
    names = lines[0].split("\t")
    return [dict(zip(names, line.split("\t"))) for line in lines[1:] if line]


def summary(dump, view, *options):
    """The rows of a view of gprof-report."""
    out = subprocess.run([os.environ["REPORT"], "summary", "--view", view, "--format", "json", "--top", "0",
                          *options, dump], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return json.loads(out)[view.replace("-", "_")]["rows"]


def kernels(dump):
    """Their number and ns; those that CUPTI could not time count too."""
    seen = rows("kernel", dump)
    untimed = sum(1 for row in rows("untimed", dump) if row["table"] == "20")
    return len(seen) + untimed, sum(int(row["dur"]) for row in seen), untimed


def differences(want, have):
    return ["%s: want %d, have %d" % (name[:60], want.get(name, 0), have.get(name, 0))
            for name in sorted(set(want) | set(have)) if want.get(name, 0) != have.get(name, 0)]


def kernel_launches(dump):
    """Calls that launch a kernel, from hooks and from CUPTI's callbacks."""
    return [row for table in ("api_launch", "api") for row in rows(table, dump) if LAUNCH.match(row["call"])]


def launches(dump, *unused):
    """Each launch of a kernel outside of graphs has its kernel, by correlation ID."""
    asked = {(row["pid"], row["correlation"]) for row in kernel_launches(dump)
             if row["result"] == "0" and row["correlation"] != "0"}
    ran = {(row["pid"], row["correlation"]) for table in ("kernel", "untimed") for row in rows(table, dump)}
    judge("every launch has its kernel", asked and not asked - ran,
          "%d launches, %d without" % (len(asked), len(asked - ran)))
    count, ns, untimed = kernels(dump)
    judge("kernels have times", count and ns and not untimed, "%d kernels, %d us, %d untimed" % (count, ns // 1000, untimed))


def callbacks(dump, *unused):
    """With the runtime inside the program no hook is called: launches come from CUPTI's callbacks."""
    by_source = collections.Counter(row["source"] for row in kernel_launches(dump))
    judge("launches are recorded by callback", by_source["1"] > 0, "%d by callback, %d by hook" % (by_source["1"], by_source["0"]))


def copies(dump, *unused):
    """Each asynchronous copy has its record, with as many bytes, and several streams are told apart."""
    ran = {(row["pid"], row["correlation"]): int(row["bytes"]) for row in rows("memcpy", dump)}
    asked = [row for row in rows("api_copy", dump)
             if row["call"].startswith("cudaMemcpyAsync") and row["result"] == "0" and row["bytes"] != "0"]
    wrong = [row["bytes"] for row in asked if ran.get((row["pid"], row["correlation"])) != int(row["bytes"])]
    judge("every asynchronous copy has its record with its bytes", asked and not wrong, "%d, wrong %d" % (len(asked), len(wrong)))
    places = {row["place"] for table in ("kernel", "memcpy") for row in rows(table, dump)}
    judge("streams are told apart", len(places) > 1, "%d streams" % len(places))


def torch_kernels(dump, *files):
    """As many kernels as torch.profiler has, and a time within 1 % of what its runs had: two runs differ too."""
    wants = [json.load(open(file))["kernels"].values() for file in files]
    want_counts = sorted({sum(k[0] for k in want) for want in wants})
    want_ns = sorted(sum(k[1] for k in want) for want in wants)
    count, ns, untimed = kernels(dump)
    judge("as many kernels as torch.profiler", count and [count] == want_counts, "torch %s, gprof %d" % (want_counts, count))
    off = max(want_ns[0] - ns, ns - want_ns[-1], 0) / max(want_ns[0], 1)
    judge("kernel time within 1 % of torch.profiler's", want_ns[0] and off < SUM_TOLERANCE and not untimed,
          "torch %s us, gprof %d us, %.2f %%" % (" to ".join("%d" % (n // 1000) for n in want_ns), ns // 1000, off * 100))


def torch_operators(dump, file):
    """Operators within the range "measured" are those that torch.profiler saw in it."""
    want = {name: n for name, n in json.load(open(file))["operators"].items() if not NOT_OPERATORS.match(name)}
    seen = rows("op", dump)
    have = collections.Counter()
    for outer in (row for row in seen if row["op_name"] == "measured"):
        begin, end = int(outer["begin"]), int(outer["begin"]) + int(outer["dur"])
        have.update(row["op_name"] for row in seen if begin <= int(row["begin"]) < end and row["pid"] == outer["pid"])
    wrong = differences(want, have)
    judge("operators are those of torch.profiler", have and not wrong,
          "%d of %d names; %s" % (sum(have.values()), len(have), "; ".join(wrong[:5]) or "equal"))


def gap(dump, *unused):
    """The stream says that another client had CUPTI, and kernels before and after it are there."""
    texts = [row["text"] for row in summary(dump, "notices")]
    said = [text for text in texts if "was not recorded from" in text]
    judge("the gap is stated", said, (said or texts or ["no notices"])[0][:150])
    count, _, _ = kernels(dump)
    judge("kernels outside the gap are recorded", count, count)


def torch_memory(dump, file):
    """The allocator's events balance with torch.cuda.memory_stats()."""
    want = json.load(open(file))
    seen = [row for row in rows("alloc", dump) if int(row["device_type"]) == DEVICE_CUDA]
    given = [int(row["bytes"]) for row in seen if int(row["bytes"]) > 0]
    taken = [int(row["bytes"]) for row in seen if int(row["bytes"]) < 0]
    judge("allocator events are recorded", seen, len(seen))
    if not seen:
        return
    for name, have in (("allocations", len(given)), ("frees", len(taken)), ("allocated_bytes", sum(given) + sum(taken)),
                       ("allocated_total", int(seen[-1]["allocated_bytes"])),
                       ("reserved_bytes", int(seen[-1]["reserved_bytes"])),
                       ("peak_bytes", max(int(row["allocated_bytes"]) for row in seen))):
        judge("allocator: " + name, have == want[name.replace("allocated_total", "allocated_bytes")],
              "torch %d, gprof %d" % (want[name.replace("allocated_total", "allocated_bytes")], have))


def origin(copies, node):
    """The node that a node is a copy of, through copies of copies; None if it was not recorded."""
    for _ in range(64):
        original = copies.get(node)
        if original in (None, "0"):
            return None if original is None else node
        node = original
    return None


def graphs(dump, nodes, replays, how):
    """Nodes of a replayed graph are kernels one by one, or launches as a whole."""
    in_graph = [row for row in rows("kernel", dump) if row["graph_node"] != "0"]
    whole = rows("graph", dump)
    if how == "node":
        wanted = int(nodes) * int(replays)
        judge("graph: every node of every replay", len(in_graph) == wanted, "%d kernels" % len(in_graph))
        copies = {row["node"]: row["original"] for row in rows("graph_node", dump)}
        unknown = [row for row in in_graph if origin(copies, row["graph_node"]) is None]
        judge("graph: the creation of every node", not unknown, "%d kernels without one" % len(unknown))
        owned = sum(row["in_graphs"] for row in summary(dump, "kernel-operator") if row["operator"] == "aten::add_")
        judge("graph: kernels belong to the operators of the capture", owned == wanted, "%d of aten::add_" % owned)
    else:
        judge("graph: every replay as a whole", len(whole) == int(replays), "%d graphs" % len(whole))


def killed(dump, file):
    """What a killed training had counted is in the report: launches and operators."""
    counted = int.from_bytes(open(file, "rb").read(8), "little") if os.path.exists(file) else 0
    if not os.path.isdir(dump):
        print("%d %s" % (counted, "-"))
        sys.exit(1 if counted else 0)
    asked = sum(1 for row in rows("api_launch", dump) if "Kernel" in row["call"])
    operators = sum(1 for row in rows("op", dump) if row["op_name"] == "aten::add_")
    ran = kernels(dump)[0]
    info = subprocess.run([os.environ["REPORT"], "info", dump], stdout=subprocess.PIPE).stdout.decode(errors="replace")
    ended = re.findall(r"^  end +(.*)$", info, re.M)
    print("%d counted, %d launches, %d operators, %d kernels, %s" % (counted, asked, operators, ran, ended[0] if ended else "?"))
    is_good = counted <= asked and counted <= operators <= counted + 1 and ended and "kill" in ended[0]
    sys.exit(0 if is_good else 1)


def samples(dump, period_ms):
    """NVML's readings are there, often enough, and can be true."""
    seen, times = collections.defaultdict(list), []
    for row in rows("sample", dump):
        seen[int(row["metric"])].append(int(row["value"]))
        if row["metric"] == "18":
            times.append(int(row["time"]))  # ticks, about 1 ns
    for metric, name in METRICS.items():
        values = seen.get(metric, [])
        judge("sample: " + name, values, "%d, %d to %d" % (len(values), min(values), max(values)) if values else "none")
    apart = sorted(later - time for time, later in zip(times, times[1:]))
    median_ms = apart[len(apart) // 2] / 1e6 if apart else 0
    judge("samples are taken every %s ms" % period_ms, len(times) >= 10 and 0.8 < median_ms / float(period_ms) < 1.5,
          "%d, median %.1f ms apart" % (len(times), median_ms))
    power, heat = seen.get(19, [0]), seen.get(22, [0])
    judge("samples can be true", 5000 < max(power) < 2000000 and 10 < max(heat) < 120 and max(seen.get(16, [0])) > 0
          and max(seen.get(18, [0])) > 1 << 20)
    judge("the process's CPU, memory and threads too", all(seen.get(metric) for metric in range(1, 8)))


def hardware(dump, kind):
    """Products of matrices in bf16 keep the tensor cores busy, large vectors the memory; the other one is not."""
    mean = {row["metric"]: row["avg"] for row in summary(dump, "utilization") if row["device"] == "GPU 0"}
    shown = ", ".join("%s %.1f" % (name, mean[name]) for name in mean)
    busy, idle = ("tensor cores active", "FP64 units active") if kind == "tensor" else ("memory bandwidth", "tensor cores active")
    judge("%s: %s" % (kind, busy), mean.get(busy, 0) > 50, shown)
    judge("%s: %s" % (kind, idle), mean.get(idle, 100) < 5, mean.get(idle))
    judge("%s: SMs have work" % kind, mean.get("SM active", 0) > 80, mean.get("SM active"))
    judge("%s: power by energy is NVML's power" % kind,
          abs(mean.get("power, by energy", 0) / mean["power"] - 1) < 0.15,
          "%.1f and %.1f W" % (mean.get("power, by energy", 0), mean["power"]))


def pm_sampling(dump, off, on):
    """Counters of each kernel are its own, and samples cost little: least us a step of turns without and with them."""
    seen = {"tensor" if "gemm" in row["name"] or "nvjet" in row["name"] else "memory": row
            for row in summary(dump, "utilization-kernels") if row["total_ns"] > 1e9}
    tensor, memory = seen.get("tensor", {}), seen.get("memory", {})
    shown = {kind: {key: row[key] for key in row if key.endswith("_pct")} for kind, row in seen.items()}
    judge("tensor cores work in the product alone",
          (tensor.get("tensor_active_pct") or 0) > 50 and (memory.get("tensor_active_pct") or 0) < 5, shown)
    judge("the memory works in the other kernel", (memory.get("bandwidth_pct") or 0) > 50, memory.get("bandwidth_pct"))
    judge("samples cover kernels", all((row.get("sampled_pct") or 0) > 80 for row in (tensor, memory)))
    length, active = 0, 0.0
    for row in rows("sample", dump):
        if row["metric"] == "26":
            length = int(row["value"])
        elif row["metric"] == "27" and length < 1000000:
            active += int(row["value"]) / 1e5 * length
    busy = kernels(dump)[1]
    judge("the time with active SMs is that of the kernels", 0.95 < active / busy < 1.05, "%.1f of %.1f ms" % (active / 1e6, busy / 1e6))
    losses = sum(row["count"] for row in summary(dump, "losses") if "hardware counters" in row["cause"])
    judge("no sample is lost", losses == 0, losses)
    least = [min(float(line) for line in open(path)) for path in (off, on)]
    judge("10 kHz cost at most 1 %", least[1] < 1.01 * least[0], "%.1f and %.1f us a step" % tuple(least))


def link(dump, *unused):
    """Large copies of pinned memory reach most of what PCIe carries, and not more."""
    seen = [row for row in summary(dump, "bandwidth") if row["link_pct"] is not None]
    judge("copies have a share of the link", seen, len(seen))
    for row in seen:
        judge("%s: share of the link" % row["name"], 30 < row["link_pct"] < 101,
              "%.1f %%, %.2f GB/s" % (row["link_pct"], row["rate_bytes_per_s"] / 1e9))


def loader(dump, step_us):
    """The first finding is the data loader, and says what a step takes without waiting for it."""
    first = [row for row in summary(dump, "advice") if row["verdict"] == "finding"][0]
    judge("the first finding is the data loader", "data loader" in first["finding"], first["finding"][:120])
    left_us = (first["step_ns"] - first["saved_ns"]) / 1000
    judge("a step is as long as the program says", abs(first["step_ns"] / 1000 / float(step_us) - 1) < 0.2,
          "%d us, without the wait: %d us" % (first["step_ns"] / 1000, left_us))


def same_number(dump, others):
    """Every dump named by the pattern has as many kernels."""
    counts = {path: kernels(path)[0] for path in sorted(glob.glob(others))}
    judge("as many kernels in each", len(set(counts.values())) == 1 and min(counts.values()) > 0, list(counts.values()))


def no_device_work_in_children(dump, *unused):
    """Loader workers are children: kernels come from one process alone."""
    everybody = {row["pid"] for table in ("op", "api", "kernel") for row in rows(table, dump)}
    with_kernels = {row["pid"] for row in rows("kernel", dump)}
    judge("kernels are the trainer's alone", len(with_kernels) == 1, "%d processes, %d with kernels" % (len(everybody), len(with_kernels)))


def domains(dump, *unused):
    """What came by NVTX; a fact, not a judgement."""
    count = collections.Counter(row["domain"] for row in rows("nvtx", dump) if row["op"] in ("1", "2", "3"))
    names = sorted({row["name"] for row in rows("nvtx", dump)})
    print("        NVTX: %d rows in %d domains; %s" % (sum(count.values()), len(count), ", ".join(names[:8])[:150]))


CHECKS = {f.__name__: f for f in (launches, callbacks, copies, hardware, pm_sampling, link, torch_kernels, torch_operators, gap, torch_memory,
                                  graphs, loader, killed, samples, same_number, no_device_work_in_children, domains)}

if __name__ == "__main__":
    CHECKS[sys.argv[1]](*sys.argv[2:])
    sys.exit(FAILED)
