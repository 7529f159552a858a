# SPDX-License-Identifier: Apache-2.0
"""memory.py MB COMMAND...: fails if the command fails, or takes more memory than that at its peak."""
import resource
import subprocess
import sys

status = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, check=False).returncode
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
print(f"{peak:.0f} MB at its peak, exit status {status}")
sys.exit(status != 0 or peak > float(sys.argv[1]))
