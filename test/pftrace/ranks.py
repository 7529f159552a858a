# SPDX-License-Identifier: Apache-2.0
"""ranks.py TRACE.pftrace PROTOC PROTO: what gen_nccl.c says of two ranks is on the tracks of their communicator,
the operations of a collective are joined, and calls are on their threads."""
import sys

from check import Reader, by_protoc

RATE = "algorithm bandwidth incl. wait (GB/s)"
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
KEYS = ("bytes", "sequence number", "communicator")
CALLS = [("ncclCommInit", None, None), ("ncclAllReduce", 1000000, 1), ("ncclAllGather", 1000000, 2),
         ("ncclAllReduce", 1000000, 3), ("ncclAllReduce", 1000000, 4), ("ncclGroupEnd", None, None)]
wrong = found != EXPECTED
for rank, last in enumerate((("ncclSend", 2000000, 1), ("ncclRecv", 2000000, 1))):
    comm = f"fedcba9876543210, rank {rank} of 2"
    expected = [(*call, None if call[0] == "ncclGroupEnd" else comm) for call in CALLS + [last]]
    threads = {}
    for s in sorted((s for s in reader.slices if "nccl" in s[5]), key=lambda s: s[1]):
        threads.setdefault(s[3], []).append((s[0], *(s[4].get(key) for key in KEYS)))
    if expected not in threads.values() or len(threads) != 2:
        print(f"calls of rank {rank}: {threads}, not {expected}")
        wrong = True
sys.exit(wrong)
