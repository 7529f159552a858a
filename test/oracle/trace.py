# SPDX-License-Identifier: Apache-2.0
"""A training run that never was, as Kineto would have written it; the same for the same seed.

Events are dicts with integer nanoseconds (begin, end). What is random: nesting, lengths (also 0),
overlap of kernels on one stream, queues, the order in the file, launches that are missing.
"""
import json
import random

KERNELS = [
    ("void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, 3>(int)", 0),
    ("sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x32_stage4", 1),
    ("ampere_sgemm_128x64_tn", 2),
    ("void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512, true, 1, true>(float)", 3),
    ("triton_poi_fused_add_0", 4),
]
COLLECTIVES = ["ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(x)"]
OPERATORS = ["aten::mm", "aten::add", "aten::conv2d", "aten::relu", "aten::linear"]
COPIES = [("Memcpy HtoD (Pinned -> Device)", "cudaMemcpyAsync"), ("Memcpy DtoH (Device -> Pageable)", "cudaMemcpyAsync"),
          ("Memcpy DtoD (Device -> Device)", "cudaMemcpyAsync")]
DEVICE = {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85198045184, "computeMajor": 8, "computeMinor": 0,
          "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32,
          "sharedMemPerBlock": 49152, "numSms": 108, "regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": 166912,
          "sharedMemPerMultiprocessor": 167936}
PID, MAIN, ENGINE = 4000, 4000, 4001


class Trace:
    def __init__(self, seed, nr_steps=4):
        self.random = random.Random(seed)
        self.events = []
        self.correlation = 100
        self.streams = {7: 0, 20: 0}  # when each is free
        self.now = 5_000_000 + self.random.randrange(1000)
        for number in range(nr_steps):
            self.step(number)

    # ---- host ----

    def wait(self, most):
        self.now += self.random.randrange(most)

    def add(self, cat, name, begin, end, thread, **args):
        event = dict(cat=cat, name=name, begin=begin, end=end, thread=thread, args=args)
        self.events.append(event)
        return event

    def call(self, name, thread, correlation):
        begin = self.now
        self.wait(9000)
        self.add("cuda_runtime", name, begin, self.now, thread, correlation=correlation)

    def device(self, cat, name, stream, length, correlation, **args):
        free = self.streams[stream]
        begin = max(self.now + self.random.randrange(3000), free - self.random.choice([0, 0, 0, 700]))
        begin = max(begin, 0)
        self.streams[stream] = max(free, begin + length)
        self.add(cat, name, begin, begin + length, None, device=0, context=1, stream=stream, correlation=correlation, **args)

    def launch(self, thread):
        self.correlation += 1
        kind = self.random.randrange(10)
        if kind == 0:
            name, call = self.random.choice(COPIES)
            self.call(call, thread, self.correlation)
            self.device("gpu_memcpy", name, 7, self.random.randrange(20000), self.correlation,
                        bytes=self.random.randrange(1, 1 << 22))
        elif kind == 1:
            self.call("cudaMemsetAsync", thread, self.correlation)
            self.device("gpu_memset", "Memset (Device)", 7, self.random.randrange(4000), self.correlation,
                        bytes=self.random.randrange(1, 1 << 16))
        elif kind == 2:
            self.call("cudaLaunchKernel", thread, self.correlation)
            self.kernel(self.random.choice(COLLECTIVES), 20, self.random.randrange(1000, 40000), 1 << 4)
        else:
            name, number = self.random.choice(KERNELS)
            self.call("cudaLaunchKernel", thread, self.correlation)
            self.kernel(name, 7, self.random.choice([0, 500, 3000, 15000]) + self.random.randrange(900), number)

    def kernel(self, name, stream, length, number):
        shape = random.Random(number)  # of its name: the same everywhere
        grid, block = [shape.randrange(1, 500), shape.randrange(1, 4), 1], [32 * shape.randrange(1, 9), 1, 1]
        self.device("kernel", name, stream, length, self.correlation, grid=grid, block=block,
                    **{"registers per thread": shape.randrange(16, 128), "shared memory": 1024 * shape.randrange(48)})

    def operator(self, name, thread, depth):
        begin = self.now
        self.wait(3000)
        for _ in range(self.random.randrange(4)):
            if depth < 3 and self.random.random() < 0.5:
                self.operator(self.random.choice(OPERATORS), thread, depth + 1)
            else:
                self.launch(thread)
            self.wait(2000)
        self.wait(3000)
        self.add("cpu_op", name, begin, self.now, thread)

    def span(self, cat, name, thread, inside):
        begin = self.now
        inside()
        self.wait(2000)
        self.add(cat, name, begin, self.now, thread)

    def forward(self):
        for _ in range(self.random.randrange(2, 6)):
            self.operator(self.random.choice(OPERATORS), MAIN, 0)
            self.wait(5000)

    def backward(self):
        for _ in range(self.random.randrange(2, 6)):
            self.span("cpu_op", "autograd::engine::evaluate_function: MmBackward0", ENGINE,
                      lambda: self.operator("MmBackward0", ENGINE, 1))
            self.wait(5000)

    def step(self, number):
        begin = self.now
        self.span("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", MAIN,
                  lambda: self.wait(80000))
        self.wait(2000)
        self.forward()
        self.backward()
        self.span("user_annotation", "Optimizer.step#SGD.step", MAIN,
                  lambda: self.operator("aten::add_", MAIN, 1))
        if self.random.random() < 0.5:
            self.correlation += 1
            sync = self.now
            self.now = max([self.now, *self.streams.values()])
            self.wait(1000)
            self.add("cuda_runtime", "cudaDeviceSynchronize", sync, self.now, MAIN, correlation=self.correlation)
        if self.random.random() < 0.3:  # of a launch before the trace began
            self.correlation += 1
            self.kernel("from_before", 7, self.random.randrange(30000), 77)
        self.wait(2000)
        self.add("user_annotation", "ProfilerStep#%d" % number, begin, self.now, MAIN)

    # ---- the file ----

    def write(self, path):
        rows = [{"ph": "M", "name": "process_name", "ts": 0, "pid": PID, "tid": 0, "args": {"name": "python"}}]
        for event in self.events:
            where = {"pid": PID, "tid": event["thread"]} if event["thread"] else {
                "pid": event["args"]["device"], "tid": event["args"]["stream"]}
            rows.append({"ph": "X", "cat": event["cat"], "name": event["name"], **where, "ts": microseconds(event["begin"]),
                         "dur": microseconds(event["end"] - event["begin"]), "args": event["args"]})
        self.random.shuffle(rows)
        text = json.dumps({"schemaVersion": 1, "deviceProperties": [DEVICE],
                           "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2},
                           "displayTimeUnit": "ms", "baseTimeNanoseconds": 1700000000000000000, "traceEvents": rows})
        # The marks of microseconds() become numbers with exactly three decimals.
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace('"@', "").replace('@"', ""))


def microseconds(ns):
    return "@%d.%03d@" % divmod(ns, 1000)
