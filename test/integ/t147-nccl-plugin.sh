#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gprof as NCCL's profiler plugin: a program that plays NCCL opens it, takes each version of the interface, and counts
# what must have been recorded, in order and in disorder.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ
export GPROF_NCCL=channels
host=$B/integ/s_nccl_plugin

sql()
{
	"$REPORT" sql --format csv "$1" "$GPROF_DIR" 2>"$T/err.sql" | tail -n +2 | tr -d '"'
}

# play VERSION WAY [NUMBER]: what it has counted is what is in the stream.
play()
{
	rm -rf "$GPROF_DIR"
	record "$host" "$@"
	is 0 "$rc" "status of $*"
	is "" "$(grep -v '^gprof' "$T/err")" "errors of $*"
	{
		sql "SELECT 'ops ' || count(*) FROM nccl_op"
		sql "SELECT 'kernels ' || count(*) FROM nccl_channel WHERE what = 0"
		sql "SELECT 'sends ' || count(*) FROM nccl_channel WHERE what = 1"
		sql "SELECT 'receives ' || count(*) FROM nccl_channel WHERE what = 2"
		sql "SELECT 'steps ' || coalesce(sum(steps), 0) FROM nccl_channel"
		sql "SELECT 'bytes ' || coalesce(sum(bytes), 0) FROM nccl_channel"
		sql "SELECT 'gpu_ns ' || coalesce(sum(gpu_ns), 0) FROM nccl_channel"
	} >"$T/have"
	is "$(tail -7 "$T/out")" "$(cat "$T/have")" "rows of $*"
}

# What each version says, and what it does not.
masks=(0 30 30 222 222 1758 5854)
names=(0 0 0 0 second second second)
for version in 1 2 3 4 5 6; do
	play $version play
	is "mask ${masks[version]}" "$(head -1 "$T/out")" "mask of version $version"
	is "1,7,1,1,4,8,3,$version" "$(sql "SELECT DISTINCT kind, datatype, algorithm, protocol, channels, warps, peer, version FROM nccl_op WHERE kind = 1")" \
		"a collective of version $version"
	is 4000 "$(sql "SELECT DISTINCT bytes FROM nccl_op WHERE kind = 1")" "its bytes"
	is "9,40,2,255" "$(sql "SELECT DISTINCT kind, bytes, peer, algorithm FROM nccl_op WHERE kind = 9")" "a send of version $version"
	is 20 "$(sql "SELECT count(DISTINCT sequence) FROM nccl_op WHERE kind = 1")" "its numbers"
	is 0 "$(sql "SELECT count(*) FROM nccl_channel WHERE op NOT IN (SELECT op FROM nccl_op WHERE kind = 1)")" "channels of unknown operations"
	is "0 1 2 3" "$(sql "SELECT DISTINCT channel FROM nccl_channel ORDER BY 1" | xargs)" "channels of version $version"
	is 0 "$(sql "SELECT count(*) FROM nccl_channel WHERE what = 1 AND (own_gpu_ns = 0 OR network_ns = 0 OR data_ns != 0 OR peer_ns = 0)")" \
		"sends of version $version wait for others than their states say"
	is 0 "$(sql "SELECT count(*) FROM nccl_channel WHERE what = 2 AND (own_gpu_ns = 0 OR network_ns = 0 OR data_ns = 0 OR peer_ns != 0)")" \
		"receives of version $version wait for others than their states say"
	is 0 "$(sql "SELECT count(*) FROM nccl_channel WHERE own_gpu_ns + peer_ns + network_ns + data_ns > dur_ns * 1.01 + 2000")" \
		"transfers of version $version that waited longer than they took, with a step at a time"
	if [ $version -ge 4 ]; then
		is "77,1,4 78,1,4" "$(sql "SELECT DISTINCT hash, comm_rank, nr_ranks FROM nccl_comm ORDER BY 1" | xargs)" "communicators of version $version"
		is "${names[version]}" "$(sql "SELECT name FROM nccl_comm WHERE hash = 78")" "name of the second"
	else
		is 77 "$(sql "SELECT DISTINCT hash FROM nccl_comm")" "communicators of version $version"
	fi
done
is 40 "$(sql "SELECT count(*) FROM nccl_op WHERE algorithm = 7 AND kind = 4")" "operations of the copy engine"

for version in 1 2 3 4 5 6; do
	play $version hostile
done
summary losses
is 1 "$(query '[.losses.rows[] | select(.cause | contains("NCCL communicator cut to 63")) | .count] | add')" "names that are cut"
play 6 threads
play 3 threads
play 6 fork
is "child 3" "$(grep child "$T/out")" "mask of NCCL in a forked child"
play 5 window
is "closed 0 closed 0 handle (nil) open 1" "$(head -4 "$T/out" | xargs)" "the mask closes and opens with the window"
play 6 many 5000
is "lost 904" "$(grep lost "$T/out")" "kernels without a place"
summary losses
is "904" "$(query '[.losses.rows[] | select(.cause | contains("of NCCL beyond 4,096")) | .count] | add')" "are counted as lost"
play 6 comms 520
summary notices
is 1 "$(query '[.notices.rows[] | select(.cause == "NCCL'"'"'s plugin")] | length')" "notices of communicators beyond the room"

# What a transfer as a whole waited for its other side: 30 ms at first, and 20 ms before step 6, however many steps
# waited at a time.
play 6 late
late()
{
	is 1 "$(sql "SELECT count(*) FROM nccl_channel WHERE what = $1 AND $2")" "a late other side, what $1: $2"
}
for what in 1 2; do
	late $what "first_ns >= 30000000 AND pause_ns >= 20000000 AND pause_ns <= later_ns"
	late $what "pause_after_ns >= first_after_ns + first_ns"
	late $what "first_after_ns + first_ns + later_ns <= dur_ns * 1.01 + 2000 AND pause_after_ns + pause_ns <= dur_ns * 1.01 + 2000"
done
late 1 "first_after_ns >= 10000000 AND own_gpu_ns > first_after_ns AND data_ns = 0"
late 2 "data_ns > 2 * first_ns AND peer_ns = 0"
play 6 play
is 0 "$(sql "SELECT count(*) FROM nccl_channel WHERE what > 0 AND (first_ns = 0 OR first_ns + later_ns > CASE what WHEN 1 THEN peer_ns ELSE data_ns END)")" \
	"transfers that wait longer than their steps, with a step at a time"

# Requests to network devices: 20 operations on two channels, each with a send and a receive of two steps over two
# devices, of which one takes longer.
for version in 3 6; do
	play $version devices
	is "160,320,0,1,0" "$(sql "SELECT count(*), sum(requests), count(DISTINCT comm) - 1, min(network), sum(local_low) FROM nccl_net")" "requests to devices, version $version"
	is "$((4 * 20 * 2 << 20)),0" "$(sql "SELECT sum(bytes * (what = 1)), sum(bytes * (what = 2)) FROM nccl_net")" "their bytes"
	is 0 "$(sql "SELECT count(*) FROM nccl_net n WHERE requests != 2 OR queue != 1000 + device OR peer != 2 OR least_ns > most_ns OR most_ns > busy_ns OR busy_ns > dur_ns * 1.01 + 2000 OR busy_ns < CASE WHEN channel = 1 AND device = 1 AND what = 1 THEN 4000000 ELSE 2 END")" \
		"devices whose times are not those of their requests"
	is 0 "$(sql "SELECT count(*) FROM nccl_net n WHERE NOT EXISTS (SELECT 1 FROM nccl_channel c WHERE c.op = n.op AND c.channel = n.channel AND c.what = n.what AND c.peer = n.peer)")" "devices without a transfer"
	summary nccl-network,losses
	is 0 "$(query '.losses.rows | length')" "losses of requests"
	is "send 1 1" "$(query '.nccl_network.rows[] | select(.rate_pct != null and .rate_pct < 50) | "\(.what) \(.channel) \(.device)"')" "slow devices"
	"$REPORT" --view nccl-network "$GPROF_DIR" >"$T/out.text" 2>"$T/err"
	is "device 1 of channel 1 to peer 2" "$(sed -n 's/.*Slow: \(.*\), process.*/\1/p' "$T/out.text")" "the slow device is named"
done
play 5 sockets
is "1,8000,8000000,-1,2,127.0.0.1" "$(sql "SELECT count(*), sum(requests), sum(bytes), device, network, (local_low >> 24 & 255) || '.' || (local_low >> 16 & 255) || '.' || (local_low >> 8 & 255) || '.' || (local_low & 255) FROM nccl_net")" "requests over sockets by 8 threads"
summary nccl-network
is "127.0.0.1" "$(query '.nccl_network.rows[].address')" "the address of the device"
for version in 3 6; do
	play $version hostile-devices
	is "unknown 14 beyond 2" "$(head -2 "$T/out" | xargs)" "requests that version $version does not know"
	is "1,7,0 1,9,1" "$(sql "SELECT requests, bytes, op = 0 FROM nccl_net ORDER BY bytes" | xargs)" "rows of hostile requests"
	summary losses
	is "14 3" "$(query '[.losses.rows[] | select(.cause | contains("does not know, or of another version")) | .count] | add') $(query '[.losses.rows[] | select(.cause | contains("4 devices of a transfer")) | .count] | add')" \
		"requests that are counted as lost"
done
play 6 many-requests 5000
is "lost 904" "$(grep lost "$T/out")" "requests without a place"
is "1,4097,40970" "$(sql "SELECT count(*), sum(requests), sum(bytes) FROM nccl_net")" "those with one"

# Calls of a program and what the simulated NCCL says of them belong together by ID: hooked calls, and those of a static
# NCCL by its NVTX ranges; of a group by the call, or before version 5 by the group's end.
joined()
{
	summary communication,nccl-channels,losses
	is 0 "$(query '.losses.rows | length')" "losses of $*"
	is "ring simple 2" "$(query '[.communication.rows[] | select(.name == "AllReduce") | "\(.algorithm) \(.protocol) \(.channels)"] | unique | join(",")')" "how AllReduce ran, $*"
	is 0 "$(query '[.communication.rows[] | select(.own_gpu_pct == null or .peer_pct == null or .network_pct == null or .data_pct != 0)] | length')" \
		"operations whose waits are unknown, $*"
	is 0 "$(sql 'SELECT count(*) FROM nccl_op WHERE comm = 0 OR comm NOT IN (SELECT comm FROM nccl)')" "operations of unknown communicators, $*"
	is "" "$(sql 'SELECT c.kind, o.kind FROM nccl_op o JOIN nccl c ON c.start_ns = o.call_start_ns AND c.process = o.process WHERE c.kind != o.kind AND c.kind != 11')" "operations of other kinds than their calls, $*"
	is 0 "$(sql 'SELECT count(*) FROM nccl_op WHERE call_start_ns NOT IN (SELECT start_ns FROM nccl)')" "operations without a call, $*"
	is "$(sql 'SELECT count(*) FROM nccl WHERE kind < 11')" "$(sql 'SELECT count(*) FROM nccl_op')" "calls and operations, $*"
	[ "$version" -lt 4 ] || is 0 "$(query '[.nccl_channels.rows[] | select(.what == "kernel" and .mean_ns != 2000)] | length')" "kernels of another length, $*"
}

export SIM_DEVICES=2
for version in 1 2 3 4 5 6; do
	for program in collectives collectives_static; do
		rm -rf "$GPROF_DIR"
		SIM_NCCL_PROFILER=$version record "$B/prog/$program" ranks 2
		joined "version $version of $program"
	done
done
rm -rf "$GPROF_DIR"
SIM_NCCL_PROFILER=6 record "$B/prog/collectives"
summary communication
is "ring" "$(query '[.communication.rows[] | select(.name == "AllReduce").algorithm] | unique | join(",")')" "all ranks in one process"

# A real NCCL of 2.28, without a GPU: its own code looks up the symbols, and makes events of older versions.
adapt()
{
	local version=$1 offset
	offset=$(nm "$2" 2>/dev/null | sed -n "s/ t _Z18getNcclProfiler_v${version}Pv\$//p")
	[ -n "$offset" ] || return 0
	rm -rf "$GPROF_DIR"
	record "$T/adapter" "$2" "$offset" "$version"
	is "gprof" "$(cat "$T/out")" "the plugin that a real NCCL finds by version $version"
	is "5,8,5,0,12,16,3,8000,6,$version 10,0,255,255,0,2,10,$version" "$(sql "SELECT kind, datatype, algorithm, protocol, channels, warps, peer, bytes, sequence, version FROM nccl_op WHERE kind = 5" | xargs) $(sql "SELECT kind, datatype, algorithm, protocol, warps, peer, bytes, version FROM nccl_op WHERE kind = 10" | xargs)" \
		"operations of a real NCCL by version $version"
	is "$([ "$version" -lt 3 ] || echo "11,$([ "$version" -lt 4 ] && echo 0 || echo 800)")" "$(sql "SELECT channel, gpu_ns FROM nccl_channel WHERE what = 0")" "a kernel of it"
	is "9,2,1,1,1" "$(sql "SELECT channel, peer, steps, own_gpu_ns > 0, data_ns > 1000000 FROM nccl_channel WHERE what = 2")" "a transfer of it"
}

real=$(ldconfig -p 2>/dev/null | sed -n 's/.*libnccl\.so\.2 .*=> //p' | head -1)
if [[ $B != *san-* ]] && [ -n "$real" ] && grep -q ncclProfiler_v5 "$real" && ! grep -q ncclProfiler_v6 "$real"; then
	gcc -D_GNU_SOURCE -I. -o "$T/adapter" test/integ/nccl_adapter.c "$SIM/libcudart.so.13" -ldl
	for version in 1 2 3 4 5; do
		adapt $version "$real"
	done
else
	echo "# no NCCL of 2.28 here, whose adapters would be tried"
fi

# Instructions of the events of an operation on the program's thread, and of a kernel's channel and of a transfer of ten
# steps on NCCL's own, with those of the program that plays NCCL. 2 us are some 6,000.
cost()
{
	rm -rf "$GPROF_DIR"
	LD_LIBRARY_PATH=$SIM LD_PRELOAD=$(preload) valgrind --tool=callgrind --callgrind-out-file=/dev/null \
		--toggle-collect="$1" "$host" 6 cost 1000 2>&1 >"$T/out" | sed -n 's/.*Collected : //p' >"$T/collected"
	is "ops 1000" "$(head -1 "$T/out")" "operations that are counted for $1"
	is 1000 "$(sql 'SELECT count(*) FROM nccl_op')" "their rows"
	ok test $(($(cat "$T/collected") / 1000)) -gt 50
	ok test $(($(cat "$T/collected") / 1000)) -le "$2"
	echo "# $1: $(($(cat "$T/collected") / 1000)) instructions"
}

if [[ $B != *san-* ]] && command -v valgrind >/dev/null; then
	cost cost_operation 1200
	cost cost_kernel 800
	cost cost_transfer 12000
	cost cost_requests 6000
fi

# A plugin of the program's own gets what it asks for, with its own handles alone, and NCCL a version that both have.
own=$T/libnccl-profiler.so
gcc -D_GNU_SOURCE -I. "${sanitize[@]}" -fPIC -shared -fvisibility=default -o "$own" test/integ/own_plugin.c
for version in 3 5; do
	apis=$((version == 5 ? 40 : 0))
	theirs="theirs: group 40 coll 40 p2p 40 transfer 320 step 0 kernel 160 api $apis, ended $((600 + apis)), states 160, parents 560, wrong 0"
	NCCL_PROFILER_PLUGIN=$own play $version play
	is "mask ${masks[version]}" "$(head -1 "$T/out")" "mask of both in version $version"
	is "$theirs" "$(grep theirs "$T/out")" "events of their plugin in version $version"
	LD_LIBRARY_PATH=$T play $version play
	is "$theirs" "$(grep theirs "$T/out")" "events of a plugin that NCCL would find by itself"
	NCCL_PROFILER_PLUGIN=$own play $version window
	is "closed 74 closed 74" "$(head -2 "$T/out" | xargs)" "outside of windows their mask is left"
	NCCL_PROFILER_PLUGIN=$own play $version hostile
done
NCCL_PROFILER_PLUGIN=$own record "$host" 6 play
is "no plugin" "$(cat "$T/out")" "a version that their plugin has not"
GPROF_NCCL=off NCCL_PROFILER_PLUGIN=$own record "$host" 3 play
is "mask 74" "$(head -1 "$T/out")" "their plugin alone where gprof's is off"
rm -rf "$GPROF_DIR"
NCCL_PROFILER_PLUGIN=$own record "$host" 5 old 65600
summary losses
is "coll 65601 kernel 0 wrong 0, lost 1" "$(sed -n 's/.*\(coll [0-9]*\) .*\(kernel [0-9]*\) .*\(wrong .*\)/\1 \2 \3/p' "$T/out"), lost $(query '[.losses.rows[] | select(.cause | contains("65,536 events")) | .count] | add')" \
	"a kernel of an operation whose handle is gone"
OWN_PLUGIN_BARE=1 NCCL_PROFILER_PLUGIN=$own play 5 play
is "" "$(grep theirs "$T/out")" "a context that their plugin has not made has no end"

# NCCL's variable may name gprof where it does not record: NCCL then gets the program's own plugin, or none.
rm -rf "$GPROF_DIR"
named=$ROOT/$B/libgprof.so
alone()
{
	local way=$1
	shift
	env "$@" NCCL_PROFILER_PLUGIN="$named" LD_LIBRARY_PATH="$SIM" "$host" 3 play >"$T/out" 2>"$T/err"
	is 0 $? "status $way"
	is "" "$(cat "$T/err")" "errors $way"
	ok test ! -e "$GPROF_DIR"
}
for way in "without a preload:GPROF_LOG=warning" "switched off:GPROF_ENABLE=0 LD_PRELOAD=$(preload)"; do
	read -ra settings <<<"${way#*:}"
	alone "${way%%:*}" "${settings[@]}"
	is "no plugin" "$(cat "$T/out")" "no plugin ${way%%:*}"
	alone "${way%%:*}, with their plugin" "${settings[@]}" GPROF_NEXT_NCCL_PLUGIN="$own"
	is "mask 74" "$(head -1 "$T/out")" "mask of their plugin ${way%%:*}"
	is "theirs: group 40 coll 40 p2p 40 transfer 320 step 3200 kernel 160 api 0, ended 3800, states 9760, parents 3760, wrong 0" "$(grep theirs "$T/out")" \
		"events of their plugin ${way%%:*}, which NCCL sends here without asking for its mask"
done
rm -rf "$GPROF_DIR"
GPROF_NCCL=off GPROF_NEXT_NCCL_PLUGIN=$own NCCL_PROFILER_PLUGIN=$named record "$host" 3 play
is "mask 74" "$(head -1 "$T/out")" "their plugin in a child that switches gprof's off"
NCCL_PROFILER_PLUGIN=/nowhere.so play 6 play
summary notices
is 1 "$(query '[.notices.rows[] | select(.text | test("named /nowhere.so"))] | length')" "a plugin that cannot be loaded"

# Less is asked of NCCL by default, and nothing where it is switched off or the program wants none.
export GPROF_NCCL=network
record "$host" 6 play
is "mask 5790" "$(head -1 "$T/out")" "mask by default"
export GPROF_NCCL=off
record "$host" 6 play
is "no plugin" "$(cat "$T/out")" "switched off"
unset GPROF_NCCL
NCCL_PROFILER_PLUGIN=none record "$host" 6 play
is "no plugin" "$(cat "$T/out")" "the program wants none"
NCCL_PROFILER_PLUGIN='' record "$host" 6 play
is "mask 5790" "$(head -1 "$T/out")" "an empty variable names none"

# Eight ranks, of which rank 5 is late: what each of the others measures of its waits, alone, is what all of them show
# together, and until its data came. Both divide the same communication.
rm -rf "$GPROF_DIR"
SIM_DEVICES=8 STEPS=4 SIM_NCCL_PROFILER=6 SIM_NCCL_RECEIVES=1 record "$B/integ/s_ranks" data-host
communicates()
{
	summary budget "$@"
	query '.budget.rows[] | select(.part | startswith("Communication")) | "\(.rank) \(.total_ns) \(if .part | endswith("waiting for a rank") then .total_ns else 0 end)"' |
		awk '{ all[$1] += $2; waits[$1] += $3 } END { for (rank in all) { print rank, all[rank], waits[rank] } }'
}
communicates >"$T/together"
for rank in 0 1 2 3 4 6 7; do
	read -r _ all waits < <(grep "^$rank " "$T/together")
	read -r _ all_alone waits_alone < <(communicates --rank $rank)
	is "$all" "$all_alone" "communication of rank $rank alone"
	ok test "$waits" -gt 0
	ok test "$waits_alone" -ge $((waits / 10 * 9))
	ok test "$waits_alone" -le "$all"
done
summary findings --rank 0
is 1 "$(query '.findings.rows[] | select(.cause == "straggler").sentence' | grep -c 'waits .* for data of others; record all ranks')" "the finding of a rank alone"
"$REPORT" reduce -o "$T/all.sum" "$GPROF_DIR" 2>"$T/err"
is 1 "$("$REPORT" "$T/all.sum" 2>"$T/err" | head -5 | grep -c 'waiting for a rank')" "a summary of ranks that were read one by one"
finish
