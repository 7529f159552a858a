# SPDX-License-Identifier: Apache-2.0
"""advice.py GPROF_REPORT FOLDER: what `advice` and `data-loading-steps` say of real traces whose troubles are known.

The loader's time is beside the TensorBoard plugin's, per step in us, which lets a step end with its last GPU work;
so they differ by less than 1 %. A finding saves what whatif says, at most what its cause costs; the profiler's own
wait and kernels that nobody waits for are not shown, nor remedies for other devices and collectives.
The straggler of dlrm_v100_8ranks is one of the two that HTA finds, 2 and 7; they begin the step 6.9 to 7.5 ms after the first.
"""
import json
import os
import subprocess
import sys

# "applies": with time to gain by the budget or without.
EXPECTED = {
    "resnet50_nw0_v100.json.gz": {"applies": ["tb-dataloader", "tb-tensor-cores", "pageable-copies"],
                                  "passed": ["tb-communication", "small-kernels"]},
    "resnet50_nw4_v100.json.gz": {"applies": ["tb-tensor-cores", "pageable-copies"],
                                  "passed": ["tb-dataloader", "gpu_gaps"]},
    "ddp_v100_2ranks_rank1.json.gz": {"applies": ["tb-communication"],
                                      "not judged": ["tb-dataloader", "stragglers"]},
    "overlap_a100_8ranks_rank3.json.gz": {"applies": ["tb-communication"],
                                          "passed": ["tb-dataloader", "cuda_memcpy_async"]},
    "fullqueue_v100.json.gz": {"passed": ["small-kernels", "tb-gpu-utilization"]},
    "eager_b200.json.gz": {"applies": ["tb-gpu-utilization"], "passed": ["tb-tensor-cores", "fp32-multiply"]},
    "dlrm_v100_8ranks": {"applies": ["stragglers", "tb-communication"]},
}
LOADER_US = {"resnet50_nw0_v100.json.gz": 59261.8, "resnet50_nw4_v100.json.gz": 1186.2}
SHOWN = {
    "resnet50_nw0_v100.json.gz": ["tb-dataloader"],
    "fullqueue_v100.json.gz": ["tb-tensor-cores"],
    "dlrm_v100_8ranks": ["tb-dataloader", "stragglers"],
}
NOT_SHOWN = {
    "resnet50_nw0_v100.json.gz": ["cuda_api_sync", "cuda_memcpy_async"],
    "fullqueue_v100.json.gz": ["cuda_api_sync"],
    "qwen_h100.json.gz": ["cuda_api_sync"],
    "ddp_v100_2ranks_rank1.json.gz": ["tb-tensor-cores", "tb-communication"],
}
# What was launched late, but for gaps that a wait of the host opened.
PLACES = {"resnet50_nw4_v100.json.gz": "2.228 ms per step, 1 x cudaMemcpyAsync in aten::copy_",
          "dlrm_v100_8ranks": "713.5 us per step, 9.4 x cudaMemcpyAsync in aten::copy_"}
WHAT_IF = {"loader": "loader", "launch-overhead": "launch", "copies": "copies_h2d"}
STEPS = {"ddp_v100_2ranks_rank1.json.gz": 4}  # all but the first are replayed, also with time between them
HELD = {"resnet50_nw0_v100.json.gz": 6, "resnet50_nw4_v100.json.gz": 0}


def report(program, path):
    out = subprocess.run([program, "--format", "json", "--all", "--view", "advice,data-loading-steps,stragglers,steps", path],
                         capture_output=True, check=False)
    return json.loads(out.stdout)


def what_if(program, path):
    out = subprocess.run([program, "whatif", "--format", "json", path], capture_output=True, check=False)
    return json.loads(out.stdout)["what_if"]


def what_if_problems(name, table):
    """The three steps of a row and its error are figures of one kind; what saves most comes first, the unknown last."""
    saved = [row["saved_ns"] for row in table["rows"]]
    known = [ns for ns in saved if ns is not None]
    if saved != sorted(known, reverse=True) + [None] * (len(saved) - len(known)):
        yield f"savings are not in order: {saved}"
    unknown = {row["rank"] for row in table["rows"] if row["saved_ns"] is None}
    if name == "dlrm_v100_8ranks" and (f"{len(unknown)} of 8 processes are not predictable" not in table["note"]
                                       or "rank 1 waited 8.300 ms" not in table["note"]):
        yield f"ranks {unknown} are not predictable, but: {table['note']}"
    for row in table["rows"]:
        change = row["change"]
        error = 100 * abs(row["replayed_ns"] - row["step_ns"]) / row["step_ns"]
        if abs(error - row["error_pct"]) > 0.001:
            yield f"without {change}: replayed {row['replayed_ns']} of {row['step_ns']} ns, but an error of {row['error_pct']} %"
        if row["saved_ns"] is not None and abs(row["step_ns"] - row["saved_ns"] - row["predicted_ns"]) > 1:
            yield f"without {change}: {row['step_ns']} less {row['saved_ns']} is not {row['predicted_ns']} ns"


def shown_problems(name, rows, findings, saved):
    shown = [rule for rule, row in rows.items() if row["verdict"] == "finding"]
    for rule in SHOWN.get(name, []):
        if rule not in shown:
            yield f"{rule} is not shown, but {shown}"
    if name in STEPS and saved["loader"]["steps"] != STEPS[name]:
        yield f"{saved['loader']['steps']} steps are replayed, not {STEPS[name]}"
    for rule in NOT_SHOWN.get(name, []):
        if rule in shown:
            yield f"{rule} is shown: {rows[rule]['finding']}"
    if name in PLACES and PLACES[name] not in findings["launch"]["sites"]:
        yield f"late launches are not {PLACES[name]}, but {findings['launch']['sites']}"
    for change, cause in WHAT_IF.items():
        row = findings.get(cause)
        if row and row["saved_ns"] is not None and name != "dlrm_v100_8ranks" and (
                abs(row["saved_ns"] - min(saved[change]["saved_ns"], row["reach_ns"])) > 1):
            yield f"{cause} saves {row['saved_ns']} ns of {row['reach_ns']}, by whatif {saved[change]['saved_ns']}"
    for row in rows.values():
        if "v100" in name and row["rule"] in ("tb-tensor-cores", "fp32-multiply") and (
                "bfloat16" in row["try"] or "TF32" in row["try"]):
            yield f"{row['rule']} of a V100: {row['try']}"
    if "all_to_all" in (rows["tb-communication"]["sites"] or "").split(";")[0] and (
            "bucket" in rows["tb-communication"]["try"]):
        yield f"all-to-all has no buckets: {rows['tb-communication']['try']}"


def problems(name, tables):
    rows = {row["rule"]: row for row in tables["advice"]["rows"]}
    for verdict, rules in EXPECTED.get(name, {}).items():
        for rule in rules:
            if rows[rule]["verdict"] not in (("finding", "no time to gain") if verdict == "applies" else (verdict,)):
                yield f"{rule} is {rows[rule]['verdict']}, not {verdict}: {rows[rule]['evidence']}"
    if name in LOADER_US:
        share = rows["tb-dataloader"]["share_pct"]
        steps = [row["duration_ns"] for row in tables["steps"]["rows"] if row["duration_ns"]]  # the plugin leaves none out
        ours = share / 100 * sum(steps) / len(steps) / 1000
        if abs(ours - LOADER_US[name]) > LOADER_US[name] / 100:
            yield f"the loader's time is {ours:.1f} us a step, not {LOADER_US[name]}"
    if name in HELD:
        held = sum(row["delayed"] == "yes" for row in tables["data_loading_steps"]["rows"])
        if held != HELD[name]:
            yield f"{held} steps are held back, not {HELD[name]}"
    if name == "dlrm_v100_8ranks" and rows["stragglers"]["rank"] not in (2, 7):
        yield f"the straggler is {rows['stragglers']['rank']}, not 2 or 7"
    if name == "dlrm_v100_8ranks":
        if "; it begins its steps 4.523 ms later" not in rows["stragglers"]["evidence"]:
            yield f"the cause is {rows['stragglers']['evidence']}"
        late = {row["rank"]: row["start_ns"] for row in tables["steps"]["rows"] if row["start_ns"] > 6_000_000}
        named = {row["rank"]: row["cause"] for row in tables["stragglers"]["rows"]}
        if late != {6: 6_875_000, 2: 6_887_000, 7: 7_513_000} or named != dict.fromkeys(late, "late begin"):
            yield f"steps that begin late are {late}, and stragglers {named}"


def screen_problems(program, path):
    """The rank that the others wait for has its name, also where a line is short."""
    out = subprocess.run([program, "--view", "headline", path], capture_output=True, check=False, text=True,
                         env={**os.environ, "COLUMNS": "80"})
    if "(23.3 %) for rank 7, which begins steps later" not in " ".join(out.stdout.split()):
        yield f"the first screen is {out.stdout}"


def main():
    failed = 0
    names = sorted(set(EXPECTED) | set(SHOWN) | set(NOT_SHOWN))
    for name in names:
        path = os.path.join(sys.argv[2], name)
        if not os.path.exists(path):
            print(f"SKIP advice of {name}: it is not there")
            continue
        tables, predicted = report(sys.argv[1], path), what_if(sys.argv[1], path)
        saved = {row["change"]: row for row in reversed(predicted["rows"])}
        rows = {row["rule"]: row for row in tables["advice"]["rows"] if row["rule"]}
        findings = {row["cause"]: row for row in tables["advice"]["rows"] if not row["rule"]}
        for problem in [*problems(name, tables), *what_if_problems(name, predicted), *shown_problems(name, rows, findings, saved),
                        *(screen_problems(sys.argv[1], path) if name == "dlrm_v100_8ranks" else [])]:
            print(f"{name}: {problem}")
            failed += 1
    print(f"advice of {len(names)} traces, {failed} differ")
    return failed != 0


sys.exit(main())
