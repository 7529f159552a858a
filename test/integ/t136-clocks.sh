#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A job on two hosts whose clocks are off and drift: what is reported of it is what it is of one host,
# all times are on one clock, and what compares ranks says how exactly.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/stragglers.sh"
need SIM REPORT JQ PYTHON PLAIN

# Ranks 4 to 7 have a name, a boot and a network of their own, and the clock of l_clock.c.
echo 11111111-2222-3333-4444-555555555555 >"$T/boot"
cat >"$T/host" <<END
hostname second && mount --bind "$T/boot" /proc/sys/kernel/random/boot_id && exec "\$@"
END
for flags in -mnu -mnru; do
	if unshare $flags sh "$T/host" true 2>/dev/null; then
		namespaces=$flags
		break
	fi
done
[ "${namespaces-}" ] || skip "no namespaces for a second host"
ok gcc -shared -fPIC -D_GNU_SOURCE -o "$T/l_clock.so" test/integ/l_clock.c -lpthread
cat >"$T/rank" <<END
#!/bin/sh
[ "\$2" -ge 4 ] || exec "$ROOT/$B/integ/s_ranks" "\$@"
exec unshare $namespaces sh "$T/host" env "LD_PRELOAD=\$LD_PRELOAD:$T/l_clock.so" "$ROOT/$B/integ/s_ranks" "\$@"
END
chmod +x "$T/rank"
# Notes begin with a capital.
TOLD='locks of 4 processes are aligned by the ends of NCCL operations, of which 95 % agree within '

# Each launch as reported lies between two readings of the true clock. Reported times may be out of that by
# what is said of the clocks, which is of 95 % of the times, and the looks show that they are within 20 us, early and late in
# the run.
# Launches are of first threads, whose number is their process's; the pids of a timeline may be others.
exact()
{
	"$REPORT" timeline -o "$T/trace.json" "$GPROF_DIR" 2>/dev/null
	"$REPORT" summary --view device --format json "$GPROF_DIR" >"$T/json" 2>/dev/null
	python3 - "$T" <<'END'
import collections, json, re, sys

ROUND_NS, NEAR_NS = 200, 20000  # reading and rounding; what the clocks must be found to
trace = json.load(open(sys.argv[1] + "/trace.json"))
ranks = {row["pid"]: row["rank"] for row in json.load(open(sys.argv[1] + "/json"))["processes"]["rows"]}
told, looks = collections.defaultdict(list), collections.defaultdict(list)
for event in trace["traceEvents"]:
    if event["ph"] == "X" and event["name"] in ("cudaLaunchKernel", "cudaMemcpyAsync"):
        begin = round(event["ts"] * 1000) + trace["baseTimeNanoseconds"]
        told[ranks[event["tid"]]].append((begin, begin + round(event["dur"] * 1000)))
for line in open(sys.argv[1] + "/out"):
    if line[0].isdigit():
        rank, step, before, after = map(int, line.split())
        looks[rank].append((before, after))
error = float(re.search(r"within ([0-9.]+) us", trace["gprof"]["clocks"])[1]) * 1000
bad, nr, nr_beyond = False, 0, 0
for rank in range(8):
    if len(told[rank]) != len(looks[rank]):
        sys.exit(f"{len(told[rank])} launches of rank {rank}, not {len(looks[rank])}")
    both = list(zip(sorted(told[rank]), sorted(looks[rank])))
    later = [launch[0] - look[0] for launch, look in both]
    sooner = [look[1] - launch[1] for launch, look in both]
    half = len(both) // 2
    near = max(min(part) for all in (later, sooner) for part in (all[:half], all[half:]))
    beyond = sum(min(each) < -error - ROUND_NS for each in zip(later, sooner))
    nr, nr_beyond = nr + len(both), nr_beyond + beyond
    if beyond or near > NEAR_NS:
        print(f"rank {rank}: begins later by {later}, ends sooner by {sooner} ns; told are {error:.0f}")
    bad |= near > NEAR_NS
sys.exit(bad or nr_beyond > 0.05 * nr)
END
	is 0 $? "exactness of $1"
}

# says WHAT COMMAND...: its output has how exact the clocks are.
says()
{
	"${@:2}" >"$T/said" 2>/dev/null
	is 1 "$(grep -qaF "$TOLD" "$T/said" && echo 1)" "how exact the clocks are, in $1"
}

# All that compares ranks.
compares()
{
	local view
	for view in stragglers distributed communication gpu-trace api-trace; do
		says "$view" "$REPORT" summary --view $view --format markdown "$GPROF_DIR"
	done
	says "--across-ranks" "$REPORT" summary --view device --across-ranks --format markdown "$GPROF_DIR"
	"$REPORT" html -o "$T/page.html" "$GPROF_DIR" 2>/dev/null
	says html cat "$T/page.html"
	says timeline cat "$T/trace.json"
	"$REPORT" timeline -o "$T/trace.pftrace" "$GPROF_DIR" 2>"$T/report.err"
	is 4 "$(grep -aoE 'clock aligned by NCCL operations, 95 % of which agree within [0-9.]+ us' "$T/trace.pftrace" | wc -l)" "aligned processes in Perfetto's trace"
	ok grep -q "the processes belong to 2 hosts (.*): c$TOLD" "$T/report.err"
}

export STEPS=8 SIM_NCCL_GBPS=0.002 CLOCK_SINCE
CLOCK_SINCE=$(date +%s%N)
while IFS=, read -r how ns ppm cause evidence view name; do
	# A machine that stops a rank delays its host, and the report says so: those ranks run again. Any other wrong
	# cause fails at once.
	for try in 1 2 3; do
		rm -rf "$GPROF_DIR"
		CLOCK_OFF=$ns CLOCK_PPM=$ppm record "$B/integ/s_ranks" "$how" "$T/rank"
		summary stragglers --steps 1-7
		[ "$cause" != host ] && [ "$(query '.stragglers.rows[0].cause')" = host ] || break
		echo "try $try of $how: the host"
	done
	straggles "$how" "$cause" "$evidence" "$view" "$name" 7
	exact "$how, $ns ns and $ppm ppm off"
done <<'END'
data-host,-3000000000,100,host,idle_ns,,
pipeline-kernels,1000000,-100,slow kernels,computation_ns,kernel,work_kernel
experts-copies,2500000000,60,slow copies,copies_ns,memcpy,Memcpy HtoD
END
compares

# What too little was done together for.
rm -rf "$GPROF_DIR"
STEPS=1 CLOCK_OFF=1000000000 record "$B/integ/s_ranks" pipeline-kernels "$T/rank"
is 0 "$rc" "status of one step"
"$REPORT" summary --view distributed --format markdown "$GPROF_DIR" >"$T/md" 2>"$T/report.err"
for file in md report.err; do
	ok grep -q '4 processes share too few NCCL operations: they are placed by wall clocks, which may differ' "$T/$file"
done
finish
