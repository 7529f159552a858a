#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2034,SC2154 # of lib.sh
# The recorder's bounds: memory that does not grow, few descriptors, one thread.
. "$(dirname "$0")/lib.sh"

# job NAME ARGUMENTS...: under the preload; what it prints is in $T/NAME.
job()
{
	local name=$1
	shift
	GPROF_FLUSH_MS=1000 GPROF_DIR=$T/dump-$name GPROF_QUIET=1 LD_LIBRARY_PATH=$SIM \
		LD_PRELOAD=$(preload) "$JOB" "$@" >"$T/$name" 2>&1
}

# Without the rings, which have a bound of their own and get fuller when the recorder waits for a core. What is lost for
# good grows in every part of the run. flat JOB KB NAME: by so much at most.
flat()
{
	local kb="" least="" last now percent
	for percent in 20 40 60 80 100; do
		now=$(value anon_kb_$percent "$T/$1")
		if [ -n "$kb" ] && { [ -z "$least" ] || [ $((now - last)) -lt "$least" ]; }; then
			least=$((now - last))
		fi
		kb="$kb $now"
		last=$now
	done
	at_most "$2" "$least" "$3: memory does not grow (kB at 20, 40, 60, 80 and 100 %:$kb)"
}

# An hour's steps in 40 seconds; beside it what could fill tables.
job hour 3600 800 11000 &
(
	# With rings so small that all of them is soon in use, whenever their thread gets a core: what grows are tables.
	GPROF_BUFFER_MB=8 job varied 2700 300 11000 names threads shapes
	# As fast as it goes, so that the rings fill; in little memory, and in the default one.
	LD_LIBRARY_PATH=$SIM "$JOB" 100 10000 1 light >"$T/alone"
	job full 300 20000 1 light
	GPROF_BUFFER_MB=8 job least 300 20000 1 light
	GPROF_SAMPLE_MS=0 job unsampled 20 100 5000
)
wait

flat hour 200 "an hour's 3,600 steps"
flat varied 200 "new names, threads and grids in each step"
GPROF_DIR=$T/dump-hour
summary api,losses
# CUPTI's records of kernels, which a busy machine may lose, are no calls.
is "$(value calls "$T/hour")" $(($(query '[.api.rows[].calls] | add') + $(query '[.losses.rows[] | select(.cause | test("CUPTI") | not).count] | add // 0'))) \
	"calls of the hour in the stream or counted as lost"

alone=$(value rss_kb_100 "$T/alone")
at_most 65536 $(($(value peak_kb "$T/hour") - alone)) "resident memory of the hour"
at_most 65536 $(($(value peak_kb "$T/full") - alone)) "resident memory by GPROF_BUFFER_MB's default"
# Beyond the 8 MB there are the code of the libraries and tables of a fixed size.
at_most 16384 $(($(value peak_kb "$T/least") - alone)) "resident memory by GPROF_BUFFER_MB=8"

# The stream, three files of the process (stat of the system, status, io), and three of its thread (schedstat, stat, sched).
at_most 7 "$(value new_fds "$T/hour")" "descriptors"
at_most 1 "$(value new_fds "$T/unsampled")" "descriptors without samples"
at_most 0 "$(value new_fds_below_100 "$T/hour")" "descriptors with low numbers"
at_most 0 "$(value new_fds_kept_on_exec "$T/hour")" "descriptors that other programs inherit"
tap "$([ "$(value gprof_threads "$T/hour")" = 1 ]; echo $?)" "one thread, named gprof" \
	"$(value gprof_threads "$T/hour") of them"
at_most 0 "$(value gprof_threads_with_signals "$T/hour")" "threads of gprof that take signals"
exit $failed
