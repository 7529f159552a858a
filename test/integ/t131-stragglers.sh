#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Which of eight ranks the others wait for, why, and how long: what the ranks themselves measured.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/stragglers.sh"
need SIM REPORT JQ
[[ $B != *san-thread ]] || skip "AddressSanitizer is enough, t130 and t132 have ranks for ThreadSanitizer"

# Ranks that train: what they call libtorch_cpu.so is test/torch's.
while IFS=, read -r how cause phase evidence view name; do
	# A busy machine delays ranks in other phases, too. Where no phase explains enough of the delay, the
	# report names none; it stops ranks between their own readings of the clock and their calls, and kernels of other ranks.
	# Those ranks run again. A wrong phase fails at once.
	for try in {1..5}; do
		rm -rf "$GPROF_DIR"
		STEPS=4 LD_LIBRARY_PATH=$ROOT/$B/torch/GOOD${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} record "$B/integ/s_ranks" "$how"
		summary stragglers --steps 1-3
		have=$(query '.stragglers.rows[0].phase // ""')
		[ -n "$have" ] && { [ "$have" != "$phase" ] || { delay_is_measured && evidence_is_measured "$evidence" "$view" "$name" 3; }; } && break
		echo "try $try of $how: phase '$have', or its delay or evidence is not what was measured"
	done
	straggles "$how" "$cause" "$evidence" "$view" "$name" 3 "$phase"
done <<'END'
data-host-loader,data loader,Dataloader,idle_ns,,
data-host-optimizer,host,Optimization,idle_ns,,
data-kernels-forward,slow kernels,Forward,computation_ns,kernel,work_kernel
data-clock-backward,GPU clock,Backward,computation_ns,kernel,work_kernel
pipeline-kernels-backward,slow kernels,Backward,computation_ns,kernel,work_kernel
experts-copies-forward,slow copies,Forward,copies_ns,memcpy,Memcpy HtoD
END

# How long what two ranks sent each other in a step took once both were there; the higher rank stands for
# them.
of_links()
{
	awk '
		$1 == "send" { send[$2, $4, $3] = $5 }
		$1 == "receive" { receive[$4, $2, $3] = $5; end[$4, $2, $3] = $6 }
		END {
			for (at in end) {
				split(at, is, SUBSEP)
				begin = send[at] > receive[at] ? send[at] : receive[at]
				us[(is[1] > is[2] ? is[1] : is[2]) " " is[3]] += end[at] - begin
			}
			for (at in us) { print at, us[at] }
		}' "$T/out"
}

# How much longer than the shortest what all did together took in the steps 3 and 4; without the first
# step, as above.
of_all()
{
	awk '
		$1 == "all" && $3 && $5 > begin[$3] { begin[$3] = $5 }
		$1 == "all" && $3 && $6 > end[$3] { end[$3] = $6 }
		END {
			least = end[1] - begin[1]
			for (at in end) { us = end[at] - begin[at]; least = us < least ? us : least }
			printf "%d\n", (end[3] - begin[3] + end[4] - begin[4]) / 2 - least
		}' "$T/out"
}

while IFS=, read -r how between with late since; do
	rm -rf "$GPROF_DIR"
	record "$B/integ/s_ranks" "$how-network"
	is 0 "$rc" "status of $how with a slow network"
	summary stragglers --steps 1-4
	is "null network" "$(query '.stragglers.rows[0] | "\(.rank) \(.cause)"')" "cause of $how with a slow network"
	is "$between, $with" "$(query '.stragglers.rows[0] | "\(.between), \(.compared_with)"')" "where the network is slow, $how"
	is "$late $since" "$(query '.stragglers.rows[0] | "\(.late_steps) \(.since_step)"')" "steps of $how with a slow network"
	want=$(if [ "$how" = pipeline ]; then of_links | measured; else of_all; fi)
	is true "$(query ".stragglers.rows[0].delay_ns / 1000 / $want | . > 0.95 and . < 1.05")" "delay of $how by the network, $want us"
done <<'END'
pipeline,ranks 4 and 5,others,4,1
data,all 8 ranks,own steps,2,3
END
finish
