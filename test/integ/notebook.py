# SPDX-License-Identifier: Apache-2.0
"""A notebook with %%gprof: notebook.py DIRECTORY KERNEL. Prints what is wrong; nothing where all is right."""

import os
import re
import sys

import nbclient
import nbformat

directory = sys.argv[1]
os.chdir(directory)
work = """
memory = ctypes.c_void_p()
for _ in range({nr}):
    runtime.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(1000))
    runtime.cudaMemset(memory, 0, ctypes.c_size_t(1000))
    runtime.cudaDeviceSynchronize()
"""
# A kernel that runs under gprof has its settings when it begins.
settings = " sample_ms=0" if sys.argv[2] == "python3" else ""
sources = [
    f"%load_ext gprof\nimport ctypes, os\nruntime = ctypes.CDLL({os.environ['SIM']!r} + '/libcudart.so.13')",
    work.format(nr=2),
    f"%%gprof{settings}" + work.format(nr=5),
    work.format(nr=3),
    f"%%gprof --no-page{settings}\nleft = 6" + work.format(nr=4),
    "left * 7",
    "%%gprof --colour\n1",
    "%%gprof\n1 / 0",
]
notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
nbclient.NotebookClient(notebook, timeout=600, kernel_name=sys.argv[2], allow_errors=True).execute()


def shown(cell, kind):
    return [each["data"][kind] for each in notebook.cells[cell].outputs if kind in each.get("data", {})]


def same(wanted, got, what):
    if wanted != got:
        print(f"not as expected: {what}: want {wanted!r}, have {got!r}")


text, frame = shown(2, "text/html")
same(True, "<pre>ipykernel" in text and "Step" in text, f"the verdict of a cell: {text}")
pages = re.findall(r'src="([^"]*)"', frame)
same([True], [os.path.getsize(page) > 100000 for page in pages], f"the page of a cell: {pages}")
same(1, len(shown(4, "text/html")), "what a cell without a page shows")
same(["42"], shown(5, "text/plain"), "names that a recorded cell has set")
errors = [[each.get("ename") for each in notebook.cells[i].outputs if each.output_type == "error"] for i in (6, 7)]
same([["GprofError"], ["ZeroDivisionError"]], errors, "errors")
for each in notebook.cells[:6]:
    same([], [output for output in each.outputs if output.output_type == "error"], f"errors of {each.source!r}")
