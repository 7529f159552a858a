#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program with NCCL in it, whose calls no hook sees: its NVTX ranges give what the hooks give of the
# same program with a shared NCCL, and what they do not say is unknown.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

# The recorded operations without times; communicators by the order of their first rows.
told()
{
	# Communicators by their place among operations in the order of names, whichever took longest.
	query '[.communication.rows | sort_by([.name, .bytes, .calls])[].communicator] as $names | .communication.rows[] | [.name, .ranks, .calls, .bytes,
		.late_rank, .waiting_ns == null] + [.communicator as $name | if $name == "" then "unknown"
		else $names | index($name) end] | map(tostring) | join(" ")' | sort
}

# The calls in the order of each process's threads, with their columns; a communicator by its rank.
calls()
{
	"$REPORT" timeline -o "$T/trace.json" "$GPROF_DIR" 2>"$T/report.err"
	jq -r '[.traceEvents[] | select(.cat == "nccl")] | sort_by(.pid, .ts) | .[] | [.name, .args.bytes, .args["sequence number"],
		(.args.communicator // "none" | sub("^[0-9a-f]{16}"; "key"))] | map(tostring) | join(" ")' "$T/trace.json" | sort
}

# run PROGRAM ARGUMENT...: again where the machine was so busy that the program went on before the
# recorder had started, and calls are missing for that.
run()
{
	for _ in 1 2 3 4 5; do
		rm -rf "$GPROF_DIR"
		record "$B/prog/$1" "${@:2}"
		summary communication,missing-collectives,notices,losses
		query '.losses.rows[].cause' | grep -q 'while the recorder was starting' || return 0
	done
}

notices()
{
	query '[.notices.rows[] | select(.cause | contains("NCCL"))] | length'
}

export SIM_DEVICES=2
ok test 0 = "$(nm -D "$B/prog/collectives_static" | grep -c nccl)"

# Each rank a process of one device. Rank 1 comes late to everything.
for how in "ranks 2" "ranks 4" "pairs 3" "wrong 2" "unequal 2" "grouped 2" "grouped 1"; do
	# shellcheck disable=SC2086 # two words
	SIM_NCCL_SLOW=1:500 SIM_NCCL_GBPS=0.000512 run collectives $how
	is "0 0" "$rc $(query '.losses.rows | length')" "status and losses of $how, shared"
	is 0 "$(notices)" "notices of $how where the hooks see the calls"
	sort "$T/out" >"$T/shared.out"
	told >"$T/shared.told"
	# Who is made by a call that the range does not name knows who it is from another one.
	calls | sed -E 's/^(ncclCommInit|ncclCommSplit) .*/\1/' >"$T/shared.calls"
	shared_rc=$report_rc
	# shellcheck disable=SC2086
	SIM_NCCL_SLOW=1:500 SIM_NCCL_GBPS=0.000512 run collectives_static $how
	is "0 0" "$rc $(query '.losses.rows | length')" "status and losses of $how, static"
	is "$shared_rc" "$report_rc" "the reporter's status for $how"
	is "${how#* }" "$(notices)" "notices of $how, one a rank"
	is "$(cat "$T/shared.out")" "$(sort "$T/out")" "output of $how"
	is "$(cat "$T/shared.told")" "$(told)" "operations of $how"
	is "$(cat "$T/shared.calls")" "$(calls | sed -E 's/^(ncclCommInit|ncclCommSplit) .*/\1/')" "calls of $how"
	is true "$(query '.communication.rows | length > 0')" "that there are any of $how"
done

# A group that was only simulated is over: the calls after it are none of it.
is "AllGather AllReduce ReduceScatter" "$(query '[.communication.rows[].name] | sort | join(" ")')" "operations after a simulated group"

# Several devices in one process: which of its ranks a call is of is not said, nor guessed.
run collectives_static
is 0 "$rc" "status of several devices"
is "AllGather 2 2 16384 null true 0
AllReduce 2 2 8192 null true 0
Send and Recv 2 4 16384 null true 0" "$(told)" "operations on several devices"
is "" "$(calls | grep -v ' null ' | grep '^nccl[A-Z][a-z]*[A-Z]')" "numbers on several devices"

# The ranges of 2.21 name no communicators, and there are ranges within ranges.
SIM_NCCL_RANGES=old run collectives_static pairs 3
is "2 Recv null 1 4096 null true unknown
2 Send null 1 4096 null true unknown
3 Send and Recv null 2 8192 null true unknown" "$(told | uniq -c | sed 's/^ *//' | sort)" "operations of an old NCCL"
is 6 "$(notices)" "notices of an old NCCL"
ok grep -q 'name no communicator' "$T/json"
# What is of all ranks is not known where nobody says how many there are.
SIM_NCCL_RANGES=old run collectives_static ranks 2
sizes='.communication.rows[] | "\(.name) \(.bytes) \(.avg_bytes) \(.algbw_bytes_per_s == null)"'
is "2 AllGather null null true
2 AllReduce 4096 4096 false" "$(query "$sizes" | sort | uniq -c | sed 's/^ *//')" "sizes of an old NCCL"
ok "$REPORT" reduce -o "$T/old.sum" "$GPROF_DIR"
is "AllGather null null true
AllReduce 8192 4096 false" "$("$REPORT" --view communication --format json "$T/old.sum" | jq -r "$sizes" | sort)" "sizes in a summary"
SIM_NCCL_RANGES=old run collectives pairs 3
is 0 "$(notices)" "notices of an old NCCL that is shared"
is 6 "$(query '.communication.rows[] | select(.name == "Send and Recv").calls')" "calls of an old NCCL that is shared"

# No ranges, no calls.
plain "$B/prog/collectives_static" ranks 2
for off in NCCL_NVTX_DISABLE=1 GPROF_NVTX=0; do
	rm -rf "$GPROF_DIR"
	record env $off "$B/prog/collectives_static" ranks 2
	is "0 $(sort "$T/plain.out")" "$rc $(sort "$T/out")" "output with $off"
	summary communication
	is 0 "$(query '.communication.rows | length')" "operations with $off"
done
finish
