# SPDX-License-Identifier: Apache-2.0
"""no_perf.py PROGRAM ARGUMENT...: runs a program under a seccomp filter as those of containers, which refuses perf_event_open."""
import ctypes
import os
import platform
import struct
import sys

NUMBER = {"x86_64": 298, "aarch64": 241}[platform.machine()]
NO_NEW_PRIVILEGES, SECCOMP, FILTER = 38, 22, 2  # prctl's
LOAD, IS_EQUAL, RETURN = 0x20, 0x15, 0x06       # of BPF
EPERM, ALLOW = 0x00050001, 0x7fff0000


class Filter(ctypes.Structure):
    _fields_ = [("nr", ctypes.c_ushort), ("code", ctypes.c_void_p)]


code = b"".join(struct.pack("HBBI", *word) for word in (
    (LOAD, 0, 0, 0), (IS_EQUAL, 0, 1, NUMBER), (RETURN, 0, 0, EPERM), (RETURN, 0, 0, ALLOW)))
code = ctypes.create_string_buffer(code, len(code))
libc = ctypes.CDLL(None)
if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) or libc.prctl(SECCOMP, FILTER, ctypes.byref(Filter(4, ctypes.addressof(code))), 0, 0):
    sys.exit(77)
os.execvp(sys.argv[1], sys.argv[1:])
