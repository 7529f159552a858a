#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Stages of PyTorch's data loader, in the loop and in workers: each takes as long as the program's own clocks say.
. "$(dirname "$0")/lib.sh"
need REPORT JQ TORCH PLAIN
program=$ROOT/test/integ/loader_stages.py
line_of() { grep -n "# LINE $1" "$program" | cut -d: -f1; }

# ms OF-STAGE COLUMN
ms() { query "[.loader_stages.rows[] | select(.stage == \"$1\").$2] | add // 0 | . / 1000000 | round"; }

# near WHAT HAVE EXPECTED [MISSED]: within 20 % and two samples of 20 ms; what lasts is the same on a busy machine, CPU time hardly.
# MISSED ms are of samples that had no Python frames, and may be of any stage.
near() { [ $(($2 + ${4:-0})) -ge $(($3 * 8 / 10 - 40)) ] && [ "$2" -le $(($3 * 12 / 10 + 40)) ] || mismatch "not as expected: $1 takes $2 ms, the program says $3"; }

# stages WORKERS
stages()
{
	local decode own collate wait missed
	rm -rf "$GPROF_DIR" "$T/took"
	mkdir "$T/took"
	record "$TORCH_PYTHON" "$program" "$T/took" "$1"
	is 0 "$rc" "exit status with $1 workers"
	summary loader-stages
	read -r decode own collate wait < <(cat "$T"/took/* | awk '{ for (i = 1; i <= 4; i++) sum[i] += $i / 1e6 }
		END { printf "%.0f %.0f %.0f %.0f\n", sum[1], sum[2], sum[3], sum[4] }')
	missed=$(ms other cpu_ns)
	[ "$1" != 0 ] || missed=$(query '.loader_stages.note | capture("(?<nr>\\d+) of \\d+ CPU samples of Python in the loop").nr // 0 | tonumber * 10.1 | round')
	missed=${missed:-0}
	near "decode with $1 workers" "$(ms decode cpu_ns)" "$decode" "$missed"
	near "own code with $1 workers" "$(ms "own code" cpu_ns)" "$own" "$missed"
	near "collate with $1 workers" "$(ms collate cpu_ns)" "$collate" "$missed"
	near "waits of own code with $1 workers" "$(ms "own code" wait_ns)" "$wait"
	is "true" "$(query '[.loader_stages.rows[] | select(.stage == "own code").line | test("loader_stages.py\\('"$(line_of wait)"'\\)")] | all')" "the line with most of it"
	# A worker that the machine lets run first waits for the loop until the other one has caught up.
	is "true" "$(query '[.loader_stages.rows[] | select(.stage | test("^(other|hand over)$")).share_pct] | add // 0 | . < 10')" "little else"
}

stages 0
stages 2
summary loader-stages --per-thread
is 2 "$(query '[.loader_stages.rows[] | select(.stage == "decode").worker] | unique | length')" "workers with rows of their own"
finish
