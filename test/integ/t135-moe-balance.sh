#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Eight ranks between all-to-alls, of which one computes longer: by how much, and how long the others wait,
# beside what they themselves measured.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/stragglers.sh"
need SIM REPORT JQ

# On a busy machine a rank may lose its CPU between its own look at the clock and its call; what is wrong fails all the tries.
for _ in 1 2 3; do
	rm -rf "$GPROF_DIR"
	record "$B/integ/s_ranks" experts-kernels
	is 0 "$rc" "status"
	want=$(waited)
	summary moe-balance --steps 1-4
	have=$(query '.moe_balance.rows[0].late_wait_ns / 1000 | round')
	fits=$(jq -n "$have / $want | . > 0.95 and . < 1.05")
	[ "$fits" != true ] || break
done
is true "$fits" "waits of the others, $have us, as measured $want us"
is "8 5" "$(query '"\(.moe_balance.rows | length) \(.moe_balance.rows[0].rank)"')" "ranks, and which computes most"
is "4 16384 100" "$(query '[.moe_balance.rows[] | "\(.all_to_alls) \(.received_bytes) \(.received_pct)"] | unique | join(", ")')" "what all receive"
is true "$(query '.moe_balance.rows | map(.computation_pct) | add / 8 | . > 99.99 and . < 100.01')" "shares of the mean"
# That is of the steps 2 to 4, as before the first all-to-all nothing is counted.
have=$(query '.moe_balance.rows[0].computation_ns')
summary kernel --steps 2-4 --across-ranks --sort total_ns
is true "$(query ".kernel.rows[] | select(.name | startswith(\"work_kernel\")).max_ns / $have | . > 0.99 and . < 1.01")" "computation of the rank, $have ns"
finish
