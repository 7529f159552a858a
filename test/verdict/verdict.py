#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""verdict.py GPROF_REPORT TABLE FOLDER [NAME...]: is the first finding right, is no claim false, and does no saving exceed its cause?

TABLE is expected.tsv, cases.tsv, planted.tsv or planted_torch.tsv; its files are in FOLDER. Prints TAP, of all files or of those that are named.
The columns, "-" for what is not known:

    file           a recording, a trace or a folder of them
    kind           training, inference or other
    first_ok       causes of which the first finding is one; "nothing": there may be none
    forbidden      causes that no finding may have
    bound_step_ns  what the GPU needs for a step (or for the recording) with its activities unchanged
    slack_step_ns  the step less that
    comm_exposed_ns, loader_step_ns, launch_cap_ns
                   the most that a finding about communication, the loader, and in recordings without steps about
                   launches and Python, may save
    note           why
"""
import collections
import csv
import gc
import json
import os
import re
import subprocess
import sys

import budget

gc.disable()  # millions of objects, and no cycles among them

LOOP_WAITS = r"\bloop waits(, [\d.]+ % of its waits)? at .+, (for (Python's lock \(GIL\)|a lock or a thread|a child process)|in (page faults|system call \d+|\w+( of .+)?)); waiting less (there )?"
CAUSES = {
    "loader": "load|batch", "loader_start": "workers start", "garbage_collection": "garbage", "compilation": "compil|tunes kernels|builds extensions|traces functions", "gil": "lock", "cpu_wait": "CPU", "os_calls": "OS calls|" + LOOP_WAITS, "launch": "launch|host", "python_host": "host|code|Python|mostly waits|" + LOOP_WAITS, "sync_readback": "wait|read|synchron",
    "alloc_free": "alloc|free|memory", "startup": "start|first|once", "copies_h2d": "cop|upload", "comm_exposed": "communicat|reduce|all-to-all|NCCL|RCCL",
    "straggler": "rank", "kernels_gpu_bound": "GPU|kernel", "occupancy": "occupan|block|SM|kernel", "operators_cpu_bound": "operator", "gaps": "gap|between|short kernel",
    "lost_data": "lost|no GPU (activity|times)|missing|incomplete|before the recording", "outliers": "step|longer|slow",
}
# What makes kernels themselves shorter may go below what the GPU needs for them as they are.
SHRINKS_KERNELS = ("kernels_gpu_bound", "occupancy")
TRAINING = re.compile(r"data ?loader|\bloader|training|\bforward\b|\bbackward\b|optimizer", re.I)
UNITS = {"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "h": 3600e9}
TIME = re.compile(r"(\d[\d,]*(?:\.\d+)?) ?(ns|us|µs|ms|s|min|h)\b")
# The time of a place, of four digits.
PLACE = re.compile(r"(?:^|; )(\d[\d,.]*) (ns|us|µs|ms|s|min|h)\b")
NAMED = re.compile(r", ([\d.]+) % of (?:that|it|their time) (?:in|for|before)(?: a lock)? (.*?)(?=; )")
DIGITS = 0.001
TOLERANCE = 0.01
COLUMNS = 80


class NoView(Exception):
    """The reporter does not know one of the views."""


def report(program, path, *options):
    run = subprocess.run([program, *options, path], capture_output=True, check=False, env=dict(os.environ, COLUMNS=str(COLUMNS)))
    errors = run.stderr.decode("utf-8", "replace").strip()
    if run.returncode not in (0, 3):
        raise (NoView if run.returncode == 2 else ValueError)(f"{' '.join(options)}: status {run.returncode}: {errors[:200]}")
    return run.stdout.decode("utf-8", "replace")


def findings(program, path):
    """The rows of the views findings and advice."""
    document = json.loads(report(program, path, "--view", "findings,advice", "--format", "json"))
    if "findings" not in document:
        raise NoView("--view findings: no member 'findings'")
    return document["findings"]["rows"], document["advice"]["rows"]


def number(text):
    return None if text in ("-", "", None) else int(text)


def names(text):
    return [name for name in text.split(",") if name]


def saved(row):
    return row["saved_ns"] or 0


# Each of these yields what is wrong.

def first_is_right(want, rows, _screen):
    first = rows[0]["cause"] if rows else "nothing"
    if first not in names(want["first_ok"]):
        yield f"the first is {first} ({rows[0]['sentence'] if rows else 'no finding'}), not {want['first_ok']}; {want['note']}"


def none_is_forbidden(want, rows, _screen):
    for row in rows:
        if row["cause"] in names(want["forbidden"]):
            yield f"{row['cause']}: {row['sentence']}; {want['note']}"


def savings_are_in_reach(_want, rows, _screen):
    for row in rows:
        if row["cause"] not in CAUSES:
            yield f"unknown cause {row['cause']}"
        if row["saved_ns"] is not None and row["saved_ns"] < 0:
            yield f"{row['cause']} saves {row['saved_ns']}"
        if row["saved_ns"] is not None and (row["reach_ns"] is None or row["saved_ns"] > row["reach_ns"]):
            yield f"{row['cause']} saves {row['saved_ns']} of {row['reach_ns']} that it costs"
        if row["saved_ns"] is not None and row["saved_ns"] > row["step_ns"]:
            yield f"{row['cause']} saves {row['saved_ns']} of a step of {row['step_ns']}"


def predictions_are_possible(want, rows, _screen):
    bound = number(want["bound_step_ns"])
    for row in rows:
        if bound is not None and row["saved_ns"] and row["cause"] not in SHRINKS_KERNELS and \
                row["step_ns"] - row["saved_ns"] < bound * (1 - TOLERANCE):
            yield f"{row['cause']}: a step of {row['step_ns'] - row['saved_ns']} although the GPU needs {bound}"


def savings_are_below_their_causes(want, rows, _screen):
    caps = [(("comm_exposed",), number(want["comm_exposed_ns"])), (("loader",), number(want["loader_step_ns"])),
            (("launch", "python_host"), number(want["launch_cap_ns"]))]
    for causes, cap in caps:
        for row in rows:
            if cap is not None and row["cause"] in causes and saved(row) > cap * (1 + TOLERANCE):
                yield f"{row['cause']} saves {row['saved_ns']} of at most {cap}"


def named_places_have_their_share(_want, rows, _screen):
    """The place that a sentence names with a share of the cause has at least what the places of that name have, and that if all are listed."""
    for row in rows:
        named = NAMED.search(row["sentence"])
        if not named:
            continue
        name = named[2].removesuffix("...")
        listed = [entry for entry in (row["places"] or "").split("; ") if PLACE.match(entry)]
        times = [float(value.replace(",", "")) * UNITS[unit] for entry in listed for value, unit in PLACE.findall(entry)
                 if re.search("[ (]" + re.escape(name), entry.split(", torch/")[0])]
        want, have = float(named[1]) / 100 * row["reach_ns"], sum(times)
        rounded = 0.0006 * row["reach_ns"] + DIGITS * have + len(listed)
        if have > want + rounded or (len(listed) < 3 and have < want - rounded):
            yield f"{row['cause']}: {row['sentence']}; but {have / row['reach_ns']:.3f} of it: {row['places']}"


def places_are_in_reach(_want, rows, _screen):
    """The places of a finding take at most what its cause costs; start-up, which is of no step, what its sentence says."""
    for row in rows:
        times = [float(value.replace(",", "")) * UNITS[unit] for value, unit in PLACE.findall(row["places"] or "")]
        reach = row["reach_ns"] or 0
        if row["cause"] == "startup":
            value, unit = TIME.search(row["sentence"]).groups()
            reach = float(value.replace(",", "")) * UNITS[unit]
        if sum(times) > reach * (1 + DIGITS) + len(times):
            yield f"{row['cause']} costs {reach}, but: {row['places']}"
        if row["cause"] in ("launch", "python_host", "copies_h2d", "comm_exposed") and not times:
            yield f"{row['cause']} has no place: {row['sentence']}"


def numbered(screen):
    """The numbered lines with what continues them, each as a list of lines."""
    lines = screen.split("\n\n")[0].split("\n")
    found = []
    for line in lines:
        if re.match(r"^\d+\. ", line):
            found.append([line])
        elif found and line.startswith(" "):
            found[-1].append(line)
        elif found:
            break
    return found


def says(sentence, ns):
    """Is one of the times in the sentence this one, as far as its digits go?"""
    for value, unit in TIME.findall(sentence):
        value = value.replace(",", "")
        last_digit = 10.0 ** -len(value.partition(".")[2]) * UNITS[unit]
        if abs(float(value) * UNITS[unit] - ns) <= last_digit:
            return True
    return False


def sentences_are_whole(_want, rows, screen):
    shown = numbered(screen)
    if rows and not shown:
        yield "the first screen has no numbered line although there are findings"
    for i, lines in enumerate(shown):
        sentence = " ".join(line.strip() for line in lines)
        sentence = re.sub(r"^\d+\. ", "", sentence)
        row = rows[i] if i < len(rows) else None
        if len(lines) > 2 or max(map(len, lines)) > COLUMNS:
            yield f"{len(lines)} lines of at most {max(map(len, lines))} columns: {sentence}"
        if re.search(r"(\.\.\.|…)\W*$", sentence) or len(sentence.split()) < 4:
            yield f"cut: {sentence}"
        if "a fix saves" in sentence:
            yield f"of no fix: {sentence}"
        if row is None:
            yield f"no finding {i + 1} in JSON: {sentence}"
            continue
        if " ".join(row["sentence"].split()).rstrip(".") != " ".join(sentence.split()).rstrip("."):
            yield f"'{sentence}' is '{row['sentence']}' in JSON"
        if not re.search(CAUSES.get(row["cause"], "."), sentence, re.I):
            yield f"{row['cause']} is not said: {sentence}"
        if row["saved_ns"] and not says(sentence, row["saved_ns"]):
            yield f"a saving of {row['saved_ns']} ns is not said: {sentence}"
        if not row["saved_ns"] and not re.search(r"\d", sentence):
            yield f"no figure: {sentence}"


def inference_is_no_training(want, _rows, screen):
    if want["kind"] == "inference":
        for line in screen.split("\n"):
            if TRAINING.search(line):
                yield line


LOST = re.compile(r"(\d+ of \d+ launches have no GPU (?:activity|times))")


def lost_is_incomplete(_want, rows, screen):
    """Lost launches stand as the first finding, and in the line INCOMPLETE, or in neither."""
    said = [LOST.findall(line) for line in screen.split("\n") if line.startswith("INCOMPLETE")]
    want = [LOST.findall(row["sentence"]) for row in rows[:1] if row["cause"] == "lost_data"]
    if [one for one in said if one] != want:
        yield f"INCOMPLETE has {said}, the first finding {want}"


def figures_fit(_want, rows, _screen):
    """A time and the share behind it are of the same step or recording; start-up happens once and not per step."""
    for row in rows:
        for time, unit, share in re.findall(r"(\d[\d,.]*) (ns|us|ms|s|min|h)\b[^(;]*\(([\d.]+) %\)", row["sentence"]):
            pct = 100 * float(time.replace(",", "")) * UNITS[unit] / row["step_ns"]
            if abs(pct - float(share)) > 0.1 + 0.01 * pct:
                yield f"{time} {unit} are {pct:.1f} %: {row['sentence']}"
        if row["cause"] == "startup" and "per step" in row["sentence"]:
            yield f"once or per step: {row['sentence']}"


def calls_are_named(_want, rows, _screen, calls):
    """The call that a finding names as the longest is that. calls: total ns by name, without waits and copies."""
    for row in rows:
        named = re.search(r"\bmost in ((?:cuda|cu|hip)\w+)", row["sentence"])
        if named and calls and calls.get(named[1], 0) < TOLERANCE * row["step_ns"] + max(calls.values()) / 2:
            longest = max(calls, key=calls.get)
            yield f"{named[1]} takes {calls.get(named[1], 0)} ns, {longest} {calls[longest]}: {row['sentence']}"


def advice_has_the_findings(rows, advice):
    """They come in their order with the same words; what stands under one is of its cause, and saves nothing by itself."""
    own = [(row.get("cause"), row["finding"], row["saved_ns"], row.get("reach_ns")) for row in advice if not row["rule"]]
    if own != [(row["cause"], row["sentence"], row["saved_ns"], row["reach_ns"]) for row in rows]:
        yield f"{own} are not the findings"
    reach = {row["cause"]: row["reach_ns"] for row in rows}
    above = None
    for row in advice:
        above = row if not row["rule"] else above
        if row.get("cause") not in reach:
            yield f"{row['rule']} is of no finding: {row['finding']}"
        elif saved(row) > reach[row["cause"]]:
            yield f"{row['rule']} saves {row['saved_ns']} of {reach[row['cause']]} that its cause costs: {row['finding']}"
        if row["rule"] and above and (row["cause"] != above["cause"] or row["saved_ns"] is not None):
            yield f"{row['rule']} of {row['cause']}, which saves {row['saved_ns']}, is under {above['cause']}"


CHECKS = {
    "first finding": first_is_right,
    "no false claim": none_is_forbidden,
    "savings in reach": savings_are_in_reach,
    "no less than the GPU needs": predictions_are_possible,
    "savings below their causes": savings_are_below_their_causes,
    "places in reach": places_are_in_reach,
    "named places": named_places_have_their_share,
    "whole sentences": sentences_are_whole,
    "figures": figures_fit,
    "lost launches": lost_is_incomplete,
    "words of its kind": inference_is_no_training,
}


def calls_of(path):
    """Of traces that are read without the reporter."""
    total = collections.Counter()
    for trace in budget.traces(path):
        for call in trace.calls:
            if not budget.SYNC.search(call.name) and not budget.COPY.search(call.name):
                total[re.sub(r"_v\d+$", "", call.name)] += call.end - call.begin
    return total


def read_table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def main(program, table, folder, *chosen):
    count = failed = 0
    for want in read_table(table):
        if chosen and want["file"] not in chosen:
            continue
        path = os.path.join(folder, want["file"])
        name = os.path.basename(want["file"])
        try:
            rows, advice = findings(program, path)
            screen = report(program, path, "--view", "headline")
            wrong = {check: list(of(want, rows, screen)) for check, of in CHECKS.items()}
            wrong["advice"] = list(advice_has_the_findings(rows, advice))
            if any("most in" in row["sentence"] for row in rows):
                wrong["calls by name"] = list(calls_are_named(want, rows, screen, calls_of(path)))
        except NoView as problem:
            print(f"not ok {count + 1} - views: {problem}")
            return 1
        except (KeyError, ValueError) as problem:
            wrong = {"findings": [f"{type(problem).__name__}: {problem}"]}
        for check, problems in wrong.items():
            count += 1
            failed += bool(problems)
            print(f"{'not ok' if problems else 'ok'} {count} - {name}: {check}{': ' + problems[0][:300] if problems else ''}")
            for problem in problems:
                print(f"#   {problem}")
    print(f"1..{count}")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
