# SPDX-License-Identifier: Apache-2.0
"""CuPy's ranges, which need no GPU."""
import threading

from cupy.cuda import nvtx
from cupyx.profiler import time_range


def ranges():
    for i in range(3):
        with time_range("ranged", color_id=i):
            nvtx.RangePush("pushed", 1)
            nvtx.Mark("marked")
            nvtx.RangePop()


ranges()
thread = threading.Thread(target=ranges)
thread.start()
thread.join()
print("done")
