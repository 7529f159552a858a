# SPDX-License-Identifier: Apache-2.0
"""cuda.core with the real NVRTC: compile, load, launch on two streams, copy, time by events."""
import sys

import numpy as np
from cuda.core import Device, EventOptions, LaunchConfig, ObjectCode, Program, ProgramOptions, StreamOptions, launch

SOURCE = r"""
extern "C" __constant__ float factors[16];
extern "C" __global__ void scale(float *x, float by, unsigned long n)
{
    unsigned long i = blockIdx.x * (unsigned long)blockDim.x + threadIdx.x;
    if (i < n) x[i] *= by * factors[i % 16];
}
extern "C" __global__ void hold() {}
extern "C" __global__ void timed() {}
template <class T> __global__ void add(T *x, const T *y, unsigned long n)
{
    unsigned long i = blockIdx.x * (unsigned long)blockDim.x + threadIdx.x;
    if (i < n) x[i] += y[i];
}
"""
N = 4096
device = Device()
device.set_current()
stream = device.create_stream()
other = device.create_stream(options=StreamOptions(nonblocking=True))
options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}")
names = ("add<float>", "add<int>")
module = Program(SOURCE, code_type="c++", options=options).compile("cubin", name_expressions=names)
ptx = Program(SOURCE, code_type="c++", options=options).compile("ptx", name_expressions=names)
scale, hold, timed, add_float, add_int = (module.get_kernel(name) for name in ("scale", "hold", "timed", *names))
try:
    module.get_kernel("absent")
except Exception as error:
    print("absent:", type(error).__name__)
from_ptx = ObjectCode.from_ptx(ptx.code, symbol_mapping=ptx.symbol_mapping).get_kernel("scale")
x = device.allocate(N * 4, stream=stream)
y = device.allocate(N * 4, stream=stream)
config = LaunchConfig(grid=N // 256, block=256)
for _ in range(7):
    launch(stream, config, scale, x, np.float32(2), np.uint64(N))
launch(stream, config, from_ptx, x, np.float32(2), np.uint64(N))
stream.sync()
other.wait(stream)
for _ in range(3):
    launch(other, config, add_float, x, y, np.uint64(N))
    launch(other, config, add_int, x, y, np.uint64(N))
other.sync()
x.copy_to(y, stream=stream)
stream.sync()
# The least of several tries. A longer kernel comes first, so that the launch is queued before the first event happens.
events = EventOptions(timing_enabled=True)
tries = []
for _ in range(20):
    launch(stream, LaunchConfig(grid=2000000, block=256), hold)
    begin = stream.record(options=events)
    launch(stream, config, timed)
    end = stream.record(options=events)
    end.sync()
    tries.append(1e6 * (end - begin))
if "timed" in sys.argv:
    print("events %.0f ns" % min(tries))
x.close(stream)
y.close(stream)
stream.sync()
print("launched 8 scale")
print("launched 20 hold")
print("launched 20 timed")
print("launched 6 add")
