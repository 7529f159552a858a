# SPDX-License-Identifier: Apache-2.0
"""Writes a trace of a training with modules, phases and steps, in PyTorch's format. usage: training.py FILE"""
import json
import sys

LAYERS, STEPS = 6, 8
events, correlation = [], 0


def slice_of(category, name, begin, end, thread=1, **args):
    events.append({"ph": "X", "cat": category, "name": name, "pid": 7, "tid": thread, "ts": begin, "dur": end - begin, "args": args})


def launch(at, kernel, us, thread=1):
    """A call, and its kernel behind those before it."""
    global correlation, free
    correlation += 1
    slice_of("cuda_runtime", "cudaLaunchKernel", at, at + 2, thread, correlation=correlation)
    begin = max(free, at + 5)
    free = begin + us
    events.append({"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 7, "ts": begin, "dur": us,
                   "args": {"device": 0, "stream": 7, "correlation": correlation}})


def operator(at, name, kernel, us, thread=1):
    slice_of("cpu_op", name, at, at + 8, thread, **{"External id": len(events)})
    launch(at + 3, kernel, us, thread)
    return at + 10


def module(at, name, inside):
    end = inside(at + 2) + 2
    slice_of("python_function", "nn.Module: " + name, at, end)
    return end + 1


def layer(at, i, step):
    place = "transformer.h.%d" % i

    def attention(at):
        at = module(at, "Linear_%d %s.attn.c_attn" % (2 * i, place), lambda at: operator(at, "aten::addmm", "gemm", 20 + i))
        return operator(at, "aten::softmax", "softmax", 5 + step % 3)

    def inside(at):
        at = module(at, "Attention_%d %s.attn" % (i, place), attention)
        return module(at, "Linear_%d %s.mlp" % (2 * i + 1, place), lambda at: operator(at, "aten::addmm", "gemm", 40 + i))

    return module(at, "Block_%d %s" % (i, place), inside)


at, free = 1000, 0
for step in range(STEPS):
    begin = at
    slice_of("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at, at + 30)
    at += 32

    def layers(at):
        at = module(at, "Embedding_0 transformer.wte", lambda at: operator(at, "aten::embedding", "gather", 3))
        for i in range(LAYERS):
            at = layer(at, i, step)
        return module(at, "Linear_99 lm_head", lambda at: operator(at, "aten::mm", "gemm", 30))

    at = operator(module(at, "GPT_0", layers), "aten::nll_loss", "loss", 4)
    for i in range(LAYERS):
        slice_of("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", at, at + 20, 2)
        at = operator(at + 2, "aten::mm", "gemm_backward", 50, 2) + 10
    at = max(at, free)  # as loss.item() waits
    slice_of("user_annotation", "Optimizer.step#SGD.step", at, at + 40)
    operator(at + 5, "aten::_foreach_add_", "foreach", 15 if step < 6 else 25)
    at += 45
    slice_of("user_annotation", "ProfilerStep#%d" % step, begin, at)
    at += 5
with open(sys.argv[1], "w") as file:
    json.dump({"schemaVersion": 1, "traceEvents": sorted(events, key=lambda event: event["ts"])}, file)
