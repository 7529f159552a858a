#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# NCCL tells gprof, its profiler plugin, of the operations of one rank: sends to itself. They belong to their calls, and
# with GPROF_NCCL=channels each has kernels on channels that the GPU's own timer measures.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON TORCH
only_real "the simulated NCCL is in test/integ/t147"
NR=50

sql()
{
	"$REPORT" sql --format csv "$1" "$GPROF_DIR" 2>/dev/null | tail -n +2 | tr -d '"'
}

expect()
{
	[ "$2" = "$3" ]
	judge "$1" $? "$3, expected $2"
}

for how in network channels off; do
	export GPROF_NCCL=$how
	same "one rank, GPROF_NCCL=$how" "$TORCH" "$HERE/nccl.py" $NR
	whole "GPROF_NCCL=$how"
	[ $how != off ] || NR=0
	expect "sends and receives" "$NR $NR" "$(sql 'SELECT count(*) FROM nccl_op WHERE kind = 9') $(sql 'SELECT count(*) FROM nccl_op WHERE kind = 10')"
	[ $how != off ] || break
	expect "their bytes" 4194304 "$(sql 'SELECT DISTINCT bytes FROM nccl_op')"
	expect "without a call" 0 "$(sql 'SELECT count(*) FROM nccl_op WHERE call_start_ns NOT IN (SELECT start_ns FROM nccl)')"
	expect "communicators that NCCL names" 1 "$(sql 'SELECT count(DISTINCT hash) FROM nccl_comm WHERE hash != 0')"
	[ $how = channels ] || expect "rows of channels" 0 "$(sql 'SELECT count(*) FROM nccl_channel WHERE what = 0')"
done
export GPROF_NCCL=channels
ours "$TORCH" "$HERE/nccl.py" 50
expect "operations without a kernel's channel" 0 "$(sql 'SELECT count(*) FROM nccl_op WHERE op NOT IN (SELECT op FROM nccl_channel WHERE what = 0)')"
expect "channels longer than the longest kernel of NCCL" 0 "$(sql "SELECT count(*) FROM nccl_channel WHERE gpu_ns > 1.2 * (SELECT max(dur_ns) FROM kernel WHERE kernel_name LIKE '%nccl%')")"
finish
