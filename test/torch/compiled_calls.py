# SPDX-License-Identifier: Apache-2.0
"""compiled_calls.py CALLS FOLDER: the calls that gprof has read of Inductor's modules are those that Python's own parser finds.

CALLS is a JSON array of rows of table compiled_call; FOLDER is PyTorch's cache. All modules that call a library must be there,
since each such call is an operator with a Python stack."""
import ast
import glob
import json
import re
import sys

NOTE = re.compile(r"\s*# (?:Topologically Sorted )?Source Nodes: \[(.*)\], Original ATen: \[(.*)\]")
LIBRARIES = ("extern_kernels.", "torch.ops.", "aten.")


def called(call):
    """The kernel, or the library's function, of a call that launches work."""
    name = ast.unparse(call.func)
    if name.endswith(".run") and name.count(".") == 1:
        return name[: -len(".run")]
    return name if name.startswith(LIBRARIES) or (name.startswith("cpp_") and "." not in name) else None


def calls_of(path):
    """(line, name, operators, nodes) of the first launching call after each note, within its function."""
    with open(path) as file:
        text = file.read()
    lines = text.splitlines()
    found = []
    for function in ast.walk(ast.parse(text)):
        if not isinstance(function, ast.FunctionDef):
            continue
        calls = {}
        for call in ast.walk(function):
            if isinstance(call, ast.Call) and called(call):
                calls.setdefault(call.lineno, called(call))
        before = function.lineno
        for line in sorted(calls):
            notes = [NOTE.match(text) for text in lines[before : line - 1]]
            notes = [note for note in notes if note]
            if notes:
                found.append((line, calls[line], notes[-1][2], notes[-1][1]))
            before = line
    return found


with open(sys.argv[1]) as rows:
    have = {(row["file"], row["line"], row["name"], row["operators"] or "", row["nodes"] or "") for row in json.load(rows)["result"]["rows"]}
paths = glob.glob(sys.argv[2] + "/*/c*.py")
want = {(path, *call) for path in paths for call in calls_of(path)}
met = {row[0] for row in have}
missing = {path for path, _, name, _, _ in want if name.startswith(LIBRARIES)} - met
wrong = have ^ {row for row in want if row[0] in met}
print(len(have), "calls in", len(met), "of", len(paths), "modules")
if missing or wrong or not have:
    sys.exit("not met: %s; different: %s" % (sorted(missing), sorted(wrong)[:4]))
