# SPDX-License-Identifier: Apache-2.0
"""A program that gprof was not started with, and that records parts of itself: inside.py CASE.

Prints what is wrong; nothing where all is right. The environment has SIM, LIBRARY, REPORT and DIRECTORY.
"""

import ctypes
import os
import subprocess
import sys
import threading
import warnings

import gprof

warnings.simplefilter("error")
where = {"library": os.environ["LIBRARY"], "report": os.environ["REPORT"]}
directory = os.environ["DIRECTORY"]
runtime = ctypes.CDLL(os.path.join(os.environ["SIM"], "libcudart.so.13"))


def same(wanted, got, what):
    if wanted != got:
        print(f"not as expected: {what}: want {wanted!r}, have {got!r}")


def work(nr):
    """So many allocations, memsets, waits and frees; one memset on the GPU each."""
    memory = ctypes.c_void_p()
    for _ in range(nr):
        results = (
            runtime.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(1000)),
            runtime.cudaMemset(memory, 0, ctypes.c_size_t(1000)),
            runtime.cudaDeviceSynchronize(),
            runtime.cudaFree(memory),
        )
        same((0, 0, 0, 0), results, "results of the program's calls")


def calls(run):
    return {row["name"]: row["calls"] for row in run._rows("api", {})[1]}


def all_of(nr):
    return dict.fromkeys(("cudaMalloc", "cudaMemset", "cudaDeviceSynchronize", "cudaFree"), nr)


def windows():
    """Two windows: each run has what was called in its own, and nothing of before, between and after."""
    work(3)
    with gprof.record(directory, **where) as first:
        work(5)
    work(7)
    with gprof.record(directory, **where) as second:
        with gprof.range("second"):
            work(11)
        same(False, gprof.start(), "a start while it records")
    work(2)
    for run, nr in ((first, 5), (second, 11)):
        same(all_of(nr), calls(run), "calls")
        same(nr, sum(row["calls"] for row in run._rows("memset", {})[1]), "memsets on the GPU")
    same([], first._rows("nvtx", {})[1], "ranges of the first")
    same(["second"], [row["name"] for row in second._rows("nvtx", {})[1]], "ranges of the second")
    same(True, "still running" not in second.text(), "what a window that is closed lacks")
    same(["started inside"], [row["cause"] for row in second._rows("notices", {})[1]], "notices")
    same(True, os.path.dirname(second.paths[0]) == directory, "the stream's directory")


def threads():
    """Windows that open and close while other threads call: none of the GPU's work is without its call."""
    is_over = threading.Event()

    def loop():
        while not is_over.is_set():
            work(1)

    workers = [threading.Thread(target=loop) for _ in range(4)]
    for worker in workers:
        worker.start()
    runs = []
    for _ in range(10):
        with gprof.record(directory, **where) as run:
            work(20)
        runs.append(run)
    is_over.set()
    for worker in workers:
        worker.join()
    for run in runs:
        same(True, calls(run)["cudaMemset"] >= 20, f"memsets in a window: {calls(run)}")


def fork():
    """A child of a process that records: it goes on as without gprof."""
    same(True, gprof.start(directory, library=where["library"]), "the start")
    work(1)
    child = os.fork()
    if not child:
        work(2)
        os._exit(7)
    same(7, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), "status of the child")
    same(0, subprocess.run([sys.executable, "-c", "pass"], check=False).returncode, "a program that it starts")
    gprof.stop()


def refused():
    """What cannot be done is said, and the program goes on."""
    for settings, sentence in (
        ({"colour": "red"}, "colour='red'; `gprof-report env` lists"),
        ({"torch": "everything"}, "torch='everything'; `gprof-report env` lists"),
        ({"log_file": "x" * 5000}, "accepts no such settings"),
        ({"step": "a\nb"}, "two lines"),
    ):
        try:
            gprof.start(directory, library=where["library"], **settings)
            print(f"no error: {sentence}")
        except ValueError as error:
            same(True, sentence in str(error), f"{sentence!r} in {error}")
    try:
        gprof.stop()
        print("no error of a stop before the start")
    except gprof.GprofError as error:
        same(True, "nothing is being recorded" in str(error), str(error))
    same(True, gprof.start(directory, library=where["library"], quiet=True), "the start after all that")
    try:
        gprof.start(directory, quiet=False)
        print("no error of other settings")
    except gprof.GprofError as error:
        same(True, "settings count when" in str(error), str(error))
    work(1)


def off():
    """With GPROF_ENABLE=0."""
    try:
        gprof.start(directory, library=where["library"])
        print("no error")
    except gprof.GprofError as error:
        same(True, "GPROF_ENABLE=0" in str(error), str(error))
    work(1)


def preloaded():
    """Under the preload, where everything is recorded: the run is the whole process."""
    work(3)
    with gprof.record(**where) as run:
        work(2)
    work(1)
    warnings.simplefilter("ignore")
    same(True, calls(run)["cudaMemset"] >= 5, f"calls of the whole process: {calls(run)}")


def torch_ops():
    """PyTorch that was imported before: operators, modules, steps and stacks of the part alone."""
    import torch

    linear = torch.nn.Linear(8, 8)
    optimizer = torch.optim.SGD(linear.parameters(), 0.1)

    def train(nr):
        for _ in range(nr):
            optimizer.zero_grad()
            linear(torch.ones(4, 8)).sum().backward()
            optimizer.step()

    train(3)
    with gprof.record(directory, python="stacks,modules", **where) as run:
        train(12)
    train(4)
    operators = {row["name"]: row["calls"] for row in run._rows("operator", {})[1]}
    same(12, operators.get("aten::addmm"), "operators of the forward")
    same(12, operators.get("aten::linear"), "operators in the part")
    same(12, len(run._rows("steps", {})[1]), "steps of the part")
    same([("Linear_0", 12)], [(row["name"], row["calls"]) for row in run._rows("module", {})[1]], "modules")
    same(True, bool(run.sql("SELECT count(*) AS nr FROM op WHERE stack > 0")["nr"][0]) if "pandas" in sys.modules else True, "stacks")


globals()[sys.argv[1]]()
