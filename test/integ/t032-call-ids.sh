#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CUPTI's correlation IDs have 32 bits and wrap. Each kernel must still be joined to its own launch, even if a killed process
# leaves rows in its rings.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ
export HOLD=$T/held

# value SQL [DIRECTORY]
value()
{
	"$REPORT" sql --format csv "$1" "${2:-$GPROF_DIR}" 2>"$T/sql.err" | tail -n +2 | tr , ' ' | paste -sd' '
}

# is_written STEPS: the stream's file alone, without the rings, has the work of so many steps.
is_written()
{
	rm -rf "$T/written"
	mkdir "$T/written"
	cp "$GPROF_DIR"/*.part "$T/written" 2>/dev/null
	[ "$(value "SELECT (SELECT count(*) FROM api_launch), (SELECT count(*) FROM kernel), (SELECT count(*) FROM api_sync)" "$T/written")" = "${1}0 ${1}0 $1" ]
}

# go_on STEPS: an ID is unwrapped next to the newest one, so each step must be written before the IDs jump by 2^31.
go_on()
{
	while [ ! -e "$HOLD" ] || ! is_written "$1"; do
		kill -0 "$program" 2>/dev/null || return
		sleep 0.05
	done
	rm -f "$HOLD"
}

# run WHAT...: steps of 10 launches. The IDs of each step are 2^31 above those of the step before, so the third step has
# the same 32 bits as the first. A busy machine may cost a process its first calls.
run()
{
	for _ in 1 2 3 4 5; do
		rm -rf "$GPROF_DIR" "$HOLD"
		GPROF_FLUSH_MS=200 LD_LIBRARY_PATH=$SIM LD_PRELOAD=$(preload) "$B/integ/s_loop" "$1" 10 call hold=1,2 \
			number "${@:2}" >"$T/out" 2>"$T/err" &
		program=$!
		go_on 1
		go_on 2
		wait "$program"
		rc=$?
		was_late || break
	done
}

# by_step: how far the ids of launches are from those of the first step, in 2^31; the recorder's own calls use some, too
by_step()
{
	value "SELECT printf('%.3f', (min(correlation) - (SELECT min(correlation) FROM api_launch)) / 2147483648.0) FROM api_launch GROUP BY step ORDER BY step" | tr -d '"'
}

# joins: kernels, those with a launch, launches with a kernel, and kernels of a launch that came later or in another step
joins()
{
	value "SELECT (SELECT count(*) FROM kernel), count(*), count(DISTINCT c.start_ns), sum(k.start_ns < c.start_ns OR k.step != c.step)
		FROM kernel k JOIN api_launch c USING (process, correlation)"
}

run 3
is 0 $rc "exit status"
is "0.000 1.000 2.000" "$(by_step)" "ids of the steps"
is "30 30 30 0" "$(joins)" "kernels and their launches"
summary api,launch-latency,queue,gpu-trace,notices
is 30 "$(query '.api.rows[] | select(.name == "cudaLaunchKernel").calls')" "launches"
is 34 "$(query '[.launch_latency.rows[].calls] | add')" "launches and copies that were waited for"
is 34 "$(query '[.queue.rows[].launches] | add')" "launches and copies in queues"
is 34 "$(query '[.gpu_trace.rows[].correlation] | unique | length')" "ids in the trace"
is 0 "$(query '.notices.rows | length')" "notices"
for step in 0 1 2; do
	summary kernel,launch-latency --steps $step
	is "10 11" "$(query '([.kernel.rows[].calls] | add), ([.launch_latency.rows[].calls] | add)' | paste -sd' ')" "kernels, and launches with the copy, of step $step"
done
ok "$REPORT" timeline -o "$T/trace.json" "$GPROF_DIR"
is "34 34" "$(jq -r '[.traceEvents[] | select(.ph == "f") | .id] | (length, (unique | length))' "$T/trace.json" | paste -sd' ')" "arrows from calls to kernels"

# The third step's rows are in its rings, or some of them: its launches are apart from those of the first, whose kernels
# have the same 32 bits.
run 4 kill
is 137 $rc "exit status of a killed program"
is "0.000 1.000 2.000" "$(by_step)" "ids of its steps"
kernels=$(value "SELECT count(*) FROM kernel")
ok test "$kernels" -ge 20
is "$kernels $kernels $kernels 0" "$(joins)" "its kernels and their launches"
summary api,kernel --steps 0
is "10 10" "$(query '(.api.rows[] | select(.name == "cudaLaunchKernel").calls), ([.kernel.rows[].calls] | add)' | paste -sd' ')" "launches and kernels of its first step"
finish
