# SPDX-License-Identifier: Apache-2.0
# Operators on threads that come and go, also inside operators; asynchronous ranges.
import threading

import torch

torch.manual_seed(1)
torch.set_num_threads(1)


class Threaded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        threads = [threading.Thread(target=torch.mul, args=(x.detach(), 2.0)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        thread = threading.Thread(target=torch.neg, args=(grad,))
        thread.start()
        thread.join()
        return grad * 2


def work(number):
    for _ in range(10):
        with torch.autograd.profiler.record_function("thread %d" % number):
            torch.ones(3).cumsum(0)


x = torch.ones(3, requires_grad=True)
for _ in range(5):
    Threaded.apply(x).sum().backward()
for group in range(5):
    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
future = torch.futures.Future()
with torch.autograd.profiler.record_function("ends elsewhere") as outer:
    outer._call_end_callbacks_on_future(future)
    torch.ones(2).acos()
torch.ones(2).asinh()
thread = threading.Thread(target=future.set_result, args=(1,))
thread.start()
thread.join()
torch.ones(2).atan()
future = torch.jit.fork(torch.add, torch.ones(2), 1)
print(torch.jit.wait(future).sum().item(), x.grad.sum().item())
