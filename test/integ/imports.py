# SPDX-License-Identifier: Apache-2.0
"""imports.py FOLDER: imports a module of that folder, and another one in a function; they say how long they take themselves."""
import sys

sys.path.insert(0, sys.argv[1])
import outer  # LINE outer


def late():
    import late_one  # LINE late
    return late_one


late()
print(outer.TOOK_MS, outer.SLEPT_MS, late().TOOK_MS)
