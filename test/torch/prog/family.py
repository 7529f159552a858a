# SPDX-License-Identifier: Apache-2.0
# Workers that are forked after PyTorch was used, leave by os._exit, or are killed; one by spawn.
import multiprocessing
import os
import signal

import torch


def work():
    torch.ones(2).cosh()


def main():
    torch.set_num_threads(1)
    torch.ones(2).sinh()
    for how in ("return", "_exit", "kill", "exec"):
        pid = os.fork()
        if not pid:
            work()
            if how == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            elif how == "exec":
                os.execv("/bin/true", ["true"])
            elif how == "_exit":
                os._exit(7)
            else:
                os._exit(0)
        print(how, os.waitpid(pid, 0)[1])
    process = multiprocessing.get_context("spawn").Process(target=work)
    process.start()
    process.join()
    print("spawn", process.exitcode)
    torch.ones(2).tan()


if __name__ == "__main__":
    main()
