#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where a training runs and what storage delivers to it: a cold page cache is named with its bytes, moves to other CPUs and
# page faults are counted, and a host of one NUMA node has nothing far from its GPU.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ TORCH PLAIN
program=$ROOT/test/integ/cold_files.py
export GPROF_PYTHON=off GPROF_SAMPLE_MS=50 OMP_NUM_THREADS=1
files=$(mktemp -d "$ROOT/$B/cold-XXXXXX") # a disk; /tmp may be in memory
group=/sys/fs/cgroup/blkio/gprof-placement-$$
trap 'rm -rf "$files"; [ ! -d "$group" ] || rmdir "$group"; clean_up' EXIT
head -c $((32 << 20)) /dev/urandom >"$files/data"
sync "$files/data"

# slow_disk RATE: the command behind it reads so many bytes a second from that disk, where a cgroup of our own can say so.
slow_disk()
{
	local rate=$1 device
	shift
	device=$(findmnt -no MAJ:MIN -T "$files")
	if [ "$(id -u)" = 0 ] && mkdir "$group" 2>/dev/null && echo "$device $rate" >"$group/blkio.throttle.read_bps_device" 2>/dev/null; then
		has_slow_disk=1
		(echo "$BASHPID" >"$group/cgroup.procs" && "$@" && echo "$rc" >"$T/rc")
		rc=$(cat "$T/rc")
		rmdir "$group"
	else
		"$@"
	fi
}

# run MODE
run()
{
	rm -rf "$GPROF_DIR" "$files/data.read"
	record "$TORCH_PYTHON" "$program" "$files/data" "$1"
}

# within PERCENT WHAT HAVE EXPECTED
within()
{
	awk "BEGIN { d = $3 - $4; exit !((d < 0 ? -d : d) * 100 <= $1 * ($4)) }" || mismatch "not as expected: $2 is $3, want $4"
}

# The first step starts the worker. A finding speaks of means; of warm steps, which wait for nothing, some have no CPU.
mean_step() { query '[.steps.rows[1:][].duration_ns | values] | add / length'; }
median_step() { query '[.steps.rows[1:][].duration_ns | values] | sort | .[length / 2 | floor]'; }

worker='.data_loading.rows[] | select(.role == "loader worker")'
loader='.findings.rows[] | select(.cause == "loader")'

# ---- the page cache ----
has_slow_disk=
cat "$files/data" >/dev/null
run warm
is 0 "$rc" "exit status, warm"
summary findings,steps
warm_ns=$(median_step)
is true "$(query "[$loader.places | contains(\"storage\")] | any | not")" "nothing is said of storage"
slow_disk $((16 << 20)) run cold
is 0 "$rc" "exit status, cold"
summary data-loading,findings,steps,notices
if [ "$(cut -d ' ' -f 2 "$files/data.read")" -lt $((24 << 20)) ]; then
	echo "# the file system of $files does not evict pages, or does not count"
else
	within 10 "what the worker reads" "$(query "$worker.read_bytes")" "$(cut -d ' ' -f 1 "$files/data.read")"
	within 10 "what storage delivers" "$(query "$worker.storage_bytes")" "$(cut -d ' ' -f 2 "$files/data.read")"
	is true "$(query "$loader.places | test(\"storage delivers [\\\\d.]+ MB \\\\([\\\\d.]+ MB/s\\\\) of \")")" "the finding has it"
fi
if [ -n "$has_slow_disk" ]; then
	# On a busy machine the worker, and the loop, may lack a CPU as well.
	is loader "$(query '[.findings.rows[].cause | select(. != "cpu_wait")][0]')" "the first finding"
	is true "$(query "$loader.sentence | test(\"(which are in pread64\\\\(.*; faster storage|lack a CPU .*) can save at most\")")" "the finding names the call and storage"
	cold_ns=$(mean_step)
	# In percent of the step, it ends as far from the prediction.
	within 10 "a step, with the wait in place of what the mended one has" "$(query "$loader.saved_ns + $warm_ns")" "$cold_ns"
fi

# ---- the loop's thread ----
if [ "$(nproc)" -ge 2 ]; then
	run moved
	is 0 "$rc" "exit status, moved"
	read -r moves faults <"$T/out"
	summary cpu-waits
	have=$(query '.cpu_waits.rows[0].migrations // empty')
	[ -z "$have" ] || ok test "$have" -ge $((moves * 9 / 10))
	have=$(query '.cpu_waits.rows[0].major_faults')
	ok test "$have" -ge "$faults"
	ok test "$have" -le $((faults + 100)) # of libraries that come late
	is "$(cat /sys/devices/system/node/node*/cpulist | grep -c .)" "$("$REPORT" info "$GPROF_DIR" | awk '$1 == "host.numa_nodes" { print $2 }')" "NUMA nodes"
fi
finish
