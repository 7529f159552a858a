# SPDX-License-Identifier: Apache-2.0
"""ranks.py TRACE.pftrace PROTOC PROTO: what gen_nccl.c says of two ranks is on the tracks of their communicator,
and the operations of a collective are joined."""
import sys

from check import Reader, by_protoc

RATE = "GB/s of the algorithm, waiting included"
# Name, begin in us after the first, length in us, bytes, GB/s, is it joined with the other rank's?
EXPECTED = {
    "NCCL communicator fedcba9876543210, rank 0 of 2": [
        ("AllReduce", 0, 400, 1000000, 2.5, True), ("AllGather", 1000, 200, 2000000, 10, True),
        ("AllReduce", 2100, 100, 2000000, 20, True), ("Send", 3000, 100, 2000000, 20, False)],
    "NCCL communicator fedcba9876543210, rank 1 of 2": [
        ("AllReduce", 300, 100, 1000000, 10, True), ("AllGather", 1000, 200, 2000000, 10, True),
        ("AllReduce", 2000, 200, 2000000, 10, True), ("Recv", 3000, 100, 2000000, 20, False)],
}

reader = Reader(by_protoc(*sys.argv[1:4]))
slices = sorted((s for s in reader.slices if "collective" in s[5]), key=lambda s: (s[3], s[1]))
first = min(s[1] for s in slices)
joined = {id(s) for ends in reader.flows.values() if len({s[3] for s in ends}) == 2 for s in ends}
found = {}
for s in slices:
    found.setdefault(reader.tracks[s[3]]["name"][0], []).append(
        (s[0], (s[1] - first) / 1000, (s[2] - s[1]) / 1000, s[4]["bytes"], s[4][RATE], id(s) in joined))
for name in sorted(set(found) | set(EXPECTED)):
    if found.get(name) != EXPECTED.get(name):
        print(f"{name}: {found.get(name)}, not {EXPECTED.get(name)}")
sys.exit(found != EXPECTED)
