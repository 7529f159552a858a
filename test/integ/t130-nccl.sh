#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# NCCL's calls in one process and in several: what they moved, what they launched, who was late.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

# row KIND FIELD
row()
{
	query ".communication.rows[] | select(.name == \"$1\").$2"
}

export SIM_DEVICES=2
plain "$B/prog/collectives"
record "$B/prog/collectives"
is 0 "$rc" "status"
is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output"
summary communication
is "AllGather AllReduce Send and Recv" "$(query '[.communication.rows[].name] | sort | join(" ")')" "kinds"
is "2 2 4" "$(row AllReduce calls) $(row AllGather calls) $(row "Send and Recv" calls)" "calls"
is "8192 16384 16384" "$(row AllReduce bytes) $(row AllGather bytes) $(row "Send and Recv" bytes)" "sizes"
is 1 "$(query '[.communication.rows[].communicator] | unique | length')" "communicators"

# Rank 1 comes half a second late to everything. The others wait for it; what they move takes 8 ms
# from then on.
for nr in 2 4; do
	rm -rf "$GPROF_DIR"
	plain "$B/prog/collectives" ranks $nr
	SIM_NCCL_SLOW=1:500 SIM_NCCL_GBPS=0.000512 record "$B/prog/collectives" ranks $nr
	is 0 "$rc" "status of $nr ranks"
	is "$(sort "$T/plain.out")" "$(sort "$T/out")" "output of $nr ranks"
	summary communication
	is 0 "$report_rc" "the reporter's status for $nr ranks"
	is "$nr $nr" "$(row AllReduce ranks) $(row AllReduce calls)" "ranks of $nr"
	is $((nr * 4096)) "$(row AllReduce bytes)" "sizes of $nr ranks"
	is $((nr * nr * 4096)) "$(row AllGather bytes)" "sizes of parts of $nr ranks"
	is 1 "$(query '[.communication.rows[].communicator] | unique | length')" "one communicator of $nr ranks"
	is "1 1" "$(row AllReduce late_rank) $(row AllGather late_rank)" "late of $nr ranks"
	is true "$(query ".communication.rows | map(.waiting_ns > ($nr - 1) * 200000000) | all")" "waiting of $nr ranks"
	is true "$(query '.communication.rows | map(.time_ns == .waiting_ns + .transfer_ns) | all')" "parts of $nr ranks"
	is true "$(query ".communication.rows | map(.transfer_ns >= $nr * 7900000) | all")" "transfer of $nr ranks"
	summary communication,distributed
	for what in bytes waiting_ns transfer_ns; do
		is true "$(query "([.communication.rows[].$what] | add) == ([.distributed.rows[].$what] | add)")" "$what by GPU of $nr ranks"
	done
	is 0 "$(query '.distributed.rows[] | select(.rank == 1).waiting_ns')" "waiting of the late rank of $nr ranks"
	summary arrivals,communication
	is "1 2" "$(query '[.arrivals.rows[].number] | sort | join(" ")')" "collectives of $nr ranks one by one"
	is "$(query '[.communication.rows[] | "\(.name) \(.waiting_ns)"] | sort | join(" ")')" \
		"$(query '[.arrivals.rows[] | "\(.name) \(.waiting_ns)"] | sort | join(" ")')" "waiting of $nr ranks one by one"
	is "1 1" "$(query '[.arrivals.rows[].last_rank] | join(" ")')" "last of $nr ranks"
	is true "$(query '.arrivals.rows | map(.spread_ns * (.ranks - 1) >= .waiting_ns and .first_rank != 1 and .transfer_ns >= .ranks * 1900000) | all')" "spread of $nr ranks"
	is true "$(query '.communication.rows | map(.algbw_bytes_per_s <= .ranks * 520000) | all')" "bandwidth of $nr ranks"
done

# The same by step, and on the pages of TensorBoard.
rm -rf "$GPROF_DIR"
GPROF_STEP=api:cudaStreamSynchronize SIM_NCCL_SLOW=1:500 SIM_NCCL_GBPS=0.000512 record "$B/prog/collectives" ranks 2
summary distributed --detail
is 12288 "$(query '.distributed.rows[] | select(.rank == 1 and .bytes != null).bytes')" "sizes by step"
is true "$(query '[.distributed.rows[] | select(.bytes != null)] | map(.waiting_ns + .transfer_ns - .communication_ns | fabs < 100000) | length == 2 and all')" "waiting and transfer of a step"
"$REPORT" --style tensorboard --view distributed --format csv "$GPROF_DIR" >"$T/pages"
is "2 2" "$(grep -c '^"AllReduce",1,4096,4096.*,[0-9]' "$T/pages") $(grep -c '^"AllGather",1,8192,8192.*,[0-9]' "$T/pages")" "operations on TensorBoard's page"
is 2 "$(grep -c 'Synchronizing Time' "$T/pages")" "synchronizing time on TensorBoard's page"

# A rank is missing: nobody knows then who was late.
rm -rf "$GPROF_DIR"
record "$B/prog/collectives" ranks 4
summary communication
rm "$(query '.processes.rows[] | select(.rank == 1).file')"
summary communication
is null "$(row AllReduce waiting_ns)" "waiting where a rank is missing"
"$REPORT" --style tensorboard --view distributed --format csv "$GPROF_DIR" >"$T/pages"
ok grep -q 'known for 0 of 2 calls' "$T/pages"
ok grep -q 'collectives lack the calls of some ranks' "$T/json"

# One rank calls in another order.
rm -rf "$GPROF_DIR"
record "$B/prog/collectives" wrong 2
summary communication
ok grep -q 'ranks call different operations in 2 collectives; the first is number 1 of' "$T/json"
is "null null" "$(row AllReduce waiting_ns) $(row AllGather waiting_ns)" "waiting where ranks differ"

is 3 "$report_rc" "the reporter's status where ranks differ"
ok grep -q 'error in the program: .*Al[a-zA-Z]* of [0-9]* bytes on rank 0 and Al[a-zA-Z]* of [0-9]* bytes on rank 1$' "$T/report.err"

# Sends and receives wait for their other sides: that of rank 1, half a second late to each.
rm -rf "$GPROF_DIR"
SIM_NCCL_SLOW=1:500 SIM_NCCL_GBPS=0.000512 record "$B/prog/collectives" pairs 3
is 0 "$rc" "status of sends and receives"
is "$(plain "$B/prog/collectives" pairs 3; sort "$T/plain.out")" "$(sort "$T/out")" "output of sends and receives"
summary communication
is 0 "$report_rc" "the reporter's status for sends and receives"
is "2 2 6" "$(row Send calls) $(row Recv calls) $(row "Send and Recv" calls)" "calls of sends and receives"
is "1 1" "$(row Send late_rank) $(row Recv late_rank)" "late to sends and receives"
is true "$(query '.communication.rows | map(.waiting_ns > 200000000) | all')" "waiting for other sides"
is true "$(query '.communication.rows | map(.time_ns == .waiting_ns + .transfer_ns) | all')" "parts of sends and receives"
is true "$(query '.communication.rows | map(select(.name != "Send and Recv").transfer_ns >= 2 * 7900000) | all')" "transfer of sends and receives"
rm -rf "$GPROF_DIR"
record "$B/prog/collectives" unequal 2
summary communication
is 3 "$report_rc" "the reporter's status where a receive is smaller than its send"
ok grep -q 'error in the program: 1 sends differ in size from their receives; the first is number 1 of .* from rank 0 to rank 1, Send of 4096 bytes and Recv of 2048$' "$T/report.err"

# A captured call runs nothing; each launch of its graph is an operation without a number.
for nr in 1 2; do
	rm -rf "$GPROF_DIR"
	plain "$B/prog/collectives" graph $nr
	GPROF_STEP=api:cudaGraphLaunch record "$B/prog/collectives" graph $nr
	is "$(sort "$T/plain.out")" "$(sort "$T/out")" "output of $nr ranks with a graph"
	summary communication,arrivals
	is "$((5 * nr)) $((4 * nr)) $((4 * nr))" "$(row AllReduce calls) $(row AllReduce in_graphs) $(row AllGather calls)" "collectives of graphs of $nr ranks"
	is "4096 true" "$(row AllReduce avg_bytes) $(query '.communication.rows | map(.time_ns > 0) | all')" "their size and time"
	is 1 "$(query '[.communication | .. | strings | select(test("^'$((8 * nr))' operations of CUDA graphs have no number"))] | length')" "the note about them"
	# The capture lies in another step.
	summary communication --steps 2-3
	is "$((2 * nr)) $((2 * nr)) $((2 * nr))" "$(row AllReduce calls) $(row AllReduce in_graphs) $(row AllGather calls)" "collectives of graphs in two steps"
done

# The communicator is made before the first step that is recorded.
# On a busy machine such a short program may have ended before its recorder started; then it runs again.
for _ in 1 2 3 4 5; do
	rm -rf "$GPROF_DIR"
	GPROF_STEP=api:cudaStreamSynchronize GPROF_SCHEDULE=1-100 record "$B/prog/collectives" ranks 2
	was_late || break
done
summary communication,losses
is "2 2" "$(row AllReduce ranks) $(row AllReduce calls)" "a communicator from before the window"
is true "$(query '.communication.rows | map(.waiting_ns != null) | all')" "matched with it"

# Switched off.
rm -rf "$GPROF_DIR"
plain "$B/prog/collectives" ranks 4
GPROF_ENABLE=0 record "$B/prog/collectives" ranks 4
is "$(sort "$T/plain.out")" "$(sort "$T/out")" "output while off"
ok test ! -e "$GPROF_DIR"
finish
