# SPDX-License-Identifier: Apache-2.0
"""A container's seccomp filter as BPF on stdout: seccomp_filter.py [PROFILE.json] [-CALL...]

PROFILE is a container engine's, as Docker and Podman have it, for a container without capabilities beyond their
default. Each -CALL is refused with EPERM in addition; with these alone, everything else is allowed.
"""

import json
import platform
import sys

import seccomp

CAPABILITIES = {
    "CAP_" + name
    for name in "AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE NET_RAW SETFCAP SETGID SETPCAP "
    "SETUID SYS_CHROOT".split()
}
MACHINE = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
COMPARE = {
    "SCMP_CMP_" + name: getattr(seccomp, name) for name in ("NE", "LT", "LE", "EQ", "GE", "GT", "MASKED_EQ")
}


def action_of(name, errno):
    return {"SCMP_ACT_ALLOW": seccomp.ALLOW, "SCMP_ACT_ERRNO": seccomp.ERRNO(errno or 1)}[name]


def applies(rule):
    includes, excludes = rule.get("includes") or {}, rule.get("excludes") or {}
    return (
        set(includes.get("caps") or []) <= CAPABILITIES
        and not set(excludes.get("caps") or []) & CAPABILITIES
        and MACHINE in (includes.get("arches") or [MACHINE])
        and MACHINE not in (excludes.get("arches") or [])
    )


def argument(condition):
    compare = COMPARE[condition["op"]]
    if compare == seccomp.MASKED_EQ:
        return seccomp.Arg(condition["index"], compare, condition["value"], condition["valueTwo"])
    return seccomp.Arg(condition["index"], compare, condition["value"])


def from_profile(path):
    with open(path) as file:
        profile = json.load(file)
    default = action_of(profile["defaultAction"], profile.get("defaultErrnoRet"))
    result = seccomp.SyscallFilter(default)
    for rule in filter(applies, profile["syscalls"]):
        action = action_of(rule["action"], rule.get("errnoRet"))
        for name in rule["names"] if action != default else []:
            try:
                result.add_rule(action, name, *map(argument, rule.get("args") or []))
            except (RuntimeError, OSError):
                pass  # this kernel or machine does not have the call
    return result


profiles = [each for each in sys.argv[1:] if not each.startswith("-")]
result = from_profile(profiles[0]) if profiles else seccomp.SyscallFilter(seccomp.ALLOW)
for each in sys.argv[1:]:
    if each.startswith("-"):
        result.add_rule(seccomp.ERRNO(1), each[1:])
result.export_bpf(sys.stdout)
