#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# paddle.profiler row by row: every table in its layout, on a simulated GPU, against the events that it is made of
# (paddle_tables.py), and every option of its summary. Prints TAP.
# shellcheck disable=SC2317 # functions that tap calls
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ PYTHON
[ -x "$B/integ/s_paddle" ] || skip "s_paddle is not built"
version="paddle:"
n=0
bad=0
# shellcheck source=test/tap.sh
. test/tap.sh

# train FOLDER STEPS [VARIABLE=VALUE]...: its dump is $T/FOLDER. Its kernels last longer than their code
# does on the CPU, also the first time and under a sanitizer.
train()
{
	GPROF_DIR=$T/$1 SIM_KERNEL_NS=2000000 record env "${@:3}" "$B/integ/s_paddle" "$2"
}

# printed FOLDER [OPTION]...: the tables in Paddle's layout.
printed() { "$REPORT" summary --style paddle "${@:2}" "$T/$1"; }

# numbers FOLDER QUERY: of its only column.
numbers() { "$REPORT" sql --format csv "$2" "$T/$1" | grep -xE '[0-9]+' | paste -sd,; }

# query_sql FOLDER FILE QUERY: rows as JSON.
query_sql() { "$REPORT" sql --format json "$3" "$T/$1" >"$T/$1.events/$2"; }

# read_events FOLDER: for paddle_tables.py.
read_events()
{
	local calls="" table
	mkdir -p "$T/$1.events"
	query_sql "$1" op "SELECT o.start_ns, o.dur_ns, o.tid, o.depth, o.scope, s.value AS name
		FROM op o JOIN StringIds s ON s.id = o.name"
	query_sql "$1" kernel "SELECT k.start_ns, k.dur_ns, k.correlation, k.device, k.stream, s.value AS name
		FROM kernel k JOIN StringIds s ON s.id = k.kernel_name"
	query_sql "$1" memcpy "SELECT start_ns, dur_ns, correlation, copy_kind FROM memcpy"
	query_sql "$1" memset "SELECT start_ns, dur_ns, correlation, value FROM memset"
	query_sql "$1" step "SELECT step, time_ns FROM step ORDER BY step"
	for table in api api_launch api_copy api_set api_alloc api_sync; do
		calls+="${calls:+ UNION ALL }SELECT c.start_ns, c.dur_ns, c.tid, c.correlation, s.value AS name
			FROM $table c JOIN StringIds s ON s.id = c.name WHERE s.value LIKE 'cuda%'"
	done
	query_sql "$1" call "$calls"
}

# by_hand ROW FOLDER [ARGUMENT]...: what is in FOLDER.events/tables.
by_hand() { python3 test/integ/paddle_tables.py "$1" "$T/$2.events" "${@:3}"; }

# has FILE PATTERN...: a line each.
has()
{
	local pattern
	for pattern in "${@:2}"; do
		grep -qE -- "$pattern" "$1" || { echo "no line '$pattern' in:" && cat "$1" && return 1; }
	done
}

# titles FILE: of the tables, in their order.
titles() { sed -nE 's/^[-=]+([A-Z][A-Za-z ]* Summary)( - Place\(.*\))?[-=]+$/\1/p' "$1" | paste -sd,; }

# ---- schedule ----

# recorded FOLDER: the steps in which operators ran.
recorded()
{
	numbers "$1" "SELECT DISTINCT step FROM op WHERE scope = 9 ORDER BY step"
}

# records STEPS VARIABLE=VALUE: of 20.
records()
{
	train schedule 20 "$2"
	[ "$(recorded schedule)" = "$1" ] || { recorded schedule; cat "$T/err"; rm -rf "$T/schedule"; return 1; }
	rm -rf "$T/schedule"
}

tap records 6,7,8,12,13,14,18,19 GPROF_SCHEDULE=skip_first=3,closed=2,ready=1,record=3 \
	"schedule: the steps of skip_first=3, closed=2, ready=1, record=3"
tap records 3,4,5 GPROF_SCHEDULE=skip_first=2,ready=1,record=3,repeat=1 "schedule: repeat=1"
tap records 4,5,6,7,8,9 GPROF_SCHEDULE=4-10 "schedule: (4, 10) is from step 4 to step 9"

# cycles: the tables of each window, as Paddle prints them in on_trace_ready; the last step of the run has no end.
cycles()
{
	local window=0 nr
	train cycles 20 GPROF_SCHEDULE=skip_first=3,closed=2,ready=1,record=3
	for nr in 3 3 2; do
		window=$((window + 1))
		printed cycles --view model,operator --window $window >"$T/table"
		has "$T/table" "^ProfileStep +$nr +" "^  Dataloader +$nr +" "^matmul dygraph +$nr +" || return 1
	done
}
tap cycles "schedule: tables of each cycle"

# ---- Benchmark ----

# benchmark FOLDER: the rows as in Paddle, of the steps that its timer counts.
benchmark()
{
	printed "$1" --view benchmark >"$T/table"
	"$REPORT" summary --view steps --format json "$T/$1" >"$T/steps"
	has "$T/table" '^=+Perf Summary=+$' '^Reader Ratio: [0-9]+\.[0-9]{3}%$' '^Time Unit: s, IPS Unit: steps/s$' \
		'^\|                 \|       avg       \|       max       \|       min       \|$' &&
		python3 - "$T/table" "$T/steps" <<-'END'
			import json, re, sys
			lines = open(sys.argv[1]).readlines()
			table = {row[0]: list(map(float, row[1:])) for row in (re.findall(r"[\w.]+", line) for line in lines if line.startswith("|")) if len(row) == 4 and row[0] != "avg"}
			ratio = next(float(line.split()[2][:-1]) for line in lines if line.startswith("Reader Ratio"))
			rows = json.load(open(sys.argv[2]))["steps"]["rows"]
			steps = [(after["start_ns"] - row["start_ns"], row["dataloader_ns"]) for row, after in zip(rows, rows[1:])]
			first = 10 if len(steps) > 20 else 1
			counted = [ns for ns, _ in steps[first:]]
			read = [of for of in steps[first:] if of[1] is not None] or [of for of in steps[1:first] if of[1] is not None]
			mean = lambda of: sum(of) / len(of)
			readers = [ns for _, ns in read]
			want = {"reader_cost": [mean(readers) / 1e9, max(readers) / 1e9, min(readers) / 1e9],
			        "batch_cost": [mean(counted) / 1e9, max(counted) / 1e9, min(counted) / 1e9],
			        "ips": [1e9 / mean(counted), 1e9 / min(counted), 1e9 / max(counted)]}
			print(table, want, ratio)
			good = abs(ratio - 100 * sum(readers) / sum(ns for ns, _ in read)) < 0.01
			for name, least in ("reader_cost", 0.0000101), ("batch_cost", 0.0000101), ("ips", 0.001):
			    good = good and all(abs(have - of) <= least + 1e-5 * of for have, of in zip(table[name], want[name], strict=True))
			sys.exit(not good)
		END
}

train loop 14
tap benchmark loop "Benchmark: reader_cost, batch_cost, ips and Reader Ratio"
train timer 30 GPROF_TIMER_ONLY=1
tap benchmark timer "Benchmark: timer_only has them, too"
nothing_else()
{
	[ "$(numbers timer "SELECT count(*) FROM kernel UNION ALL SELECT count(*) FROM api_launch
		UNION ALL SELECT count(*) FROM op")" = 0,0,30 ] &&
		[ "$(numbers timer "SELECT DISTINCT scope FROM op")" = 1 ]
}
tap nothing_else "Benchmark: timer_only records nothing but steps and fetches"
train samples 14 GPROF_TIMER_ONLY=1 GPROF_BATCH_SIZE=32
samples()
{
	printed samples --view benchmark >"$T/table"
	has "$T/table" 'IPS Unit: samples/s' &&
		"$REPORT" summary --view benchmark --format json "$T/samples" |
		jq -e '.benchmark.rows[0] | (.ips_avg * .batch_cost_avg_ns / 32e9 - 1 | fabs) < 0.001' >/dev/null
}
tap samples "Benchmark: ips in samples a second"

train window 30 GPROF_SCHEDULE=4-10
tap benchmark window "Benchmark: a schedule that ends in the warm-up"

# ---- the tables ----

read_events loop
printed loop >"$T/loop.events/tables"
train long 300 GPROF_SAMPLE_MS=10
read_events long
printed long --view device >"$T/long.events/tables"
"$REPORT" summary --view utilization --format json --unit ns "$T/long" >"$T/sampled"
tap by_hand device long "$T/sampled" "Device Summary: CPU(Process), CPU(System) and GPU0"
tap by_hand overview loop "Overview Summary: calls, times and ratios of every event type"
tap by_hand model loop "Model Summary: phases, their GPU times, and Others"
tap by_hand distributed loop "Distribution Summary: communication, computation and overlap"
tap by_hand operator loop "Operator Summary: stages and kernels beneath their operators"
types()
{
	"$REPORT" summary --view operator-types --format json "$T/loop" >"$T/json"
	[ "$(query '[.operator_types.rows[] | "\(.type) \(.calls) \(.gpu_activities)"] | sort | join(",")')" = \
		"AllReduce 14 14,MatmulGradNode 14 28,matmul 14 14,sgd 14 14" ] || { cat "$T/json"; false; }
}
tap types "Operator Summary: types are those of operators, with all that their stages launched"
tap by_hand kernel loop "Kernel Summary: by total GPU time"
cut_kernels()
{
	printed loop --view kernel --top 2 | grep '^[A-Za-z_0-9]* *[0-9]* *[0-9.]* / ' >"$T/table"
	[ "$(wc -l <"$T/table")" = 2 ] && ! grep -vxFf "$T/whole" "$T/table"
}
printed loop >"$T/whole"
tap cut_kernels "Kernel Summary: ratios of the first rows are of all kernels"
tap by_hand manipulation loop "Memory Manipulation Summary: copies, and their ratio of the steps"
tap by_hand userdefined loop "UserDefined Summary: the user's ranges, and their ratio of the steps"
memory()
{
	local wide='-{50}  -{12}  (-{15}  ){5}'
	printed loop --view memory >"$T/table"
	has "$T/table" '^-+Memory Summary - Place\(gpu:0\)-+$' '^Peak Allocated Memory: 4096$' '^Peak Reserved Memory: -$' \
		'^Name +Type +Allocation Count  Free Count +Allocation Size  Free Size +Increased Size +$' "^$wide\$" \
		'^matmul kernel launch +Allocated +14 +0 +57344 +0 +57344 +$' \
		'^matmul dygraph +Allocated +14 +0 +57344 +0 +57344 +$' '^backward +Allocated +0 +14 +0 +57344 +-57344 +$'
}
tap memory "Memory Summary: allocations and frees by event"
all="Perf Summary,Device Summary,Overview Summary,Model Summary,Distribution Summary,Operator Summary,Kernel Summary"
all+=",Memory Manipulation Summary,UserDefined Summary,Memory Summary"
tap test "$(titles "$T/loop.events/tables")" = "$all" "summary: all tables in Paddle's order"

# ---- where steps come from elsewhere ----

# model_of RULE COMMAND...: ProfileStep and Others have all of the steps' time, and copies a share of it.
model_of()
{
	local rule=$1
	rm -rf "$T/rule"
	GPROF_DIR=$T/rule record env "${@:2}" &&
		printed rule --view model,memcpy >"$T/table" &&
		"$REPORT" summary --view steps --format json "$T/rule" >"$T/json" &&
		[ "$(query '[.steps.rows[].rule] | map(select(. != "(start)")) | unique[0]')" = "$rule" ] &&
		python3 - "$T/table" "$T/json" <<-'END'
			import json, sys
			sys.path.insert(0, "test/integ")
			import paddle_tables as p
			found, rows = p.tables(sys.argv[1]), json.load(open(sys.argv[2]))["steps"]["rows"]
			_, model = found["Model Summary"]
			_, copies = found["Memory Manipulation Summary"]
			# The first step begins with the program, so only the others are whole; the last row has no end.
			times = [row["duration_ns"] for row in rows[1:] if row["duration_ns"] is not None]
			total, others = p.five(model[0][1][2]), p.five(model[1][1][2])
			good = [row[0] for _, row in model] == ["ProfileStep", "Others"]
			good = p.check_five(total, times, sum(times), "ProfileStep") and good
			gpu, copy = p.five(model[0][1][3]), p.five(p.rows_of(copies, "GpuMemcpySync:CPU->GPU")[2])
			print(model, copies)
			sys.exit(not (good and others[0] == total[0] and others[4] == 100 and gpu[0] > 0 and gpu[4] == 100 and
			              0 < copy[4] < 100))
		END
}
tap model_of nvtx GPROF_STEP=nvtx:step "$B/integ/s_loop" 6 5 nvtx "Model Summary: steps from NVTX"
tap model_of 'gprof_step()' "$B/integ/s_loop" 6 5 call "Model Summary: steps from calls"
tap model_of api GPROF_STEP=api:cudaDeviceSynchronize "$B/integ/s_loop" 6 5 "Model Summary: steps from an API call"
tap model_of 'launch period' "$B/integ/s_loop" 200 9 sleep=1 "Model Summary: steps from the period of launches"

# ---- options ----

# sorted KEY CELL PLACE ORDER: operators go by that of the five figures of CPU (2) or GPU (3).
sorted()
{
	printed loop --view operator --detail=default --sort "$1" --unit ns >"$T/table"
	python3 - "$T/table" "$2" "$3" "$4" <<-'END'
		import sys
		sys.path.insert(0, "test/integ")
		import paddle_tables as p
		_, table = p.tables(sys.argv[1])["Operator Summary"]
		have = [p.five(row[int(sys.argv[2])])[int(sys.argv[3])] for _, row in table if "Thread:" not in row[0]]
		print(have)
		sys.exit(not (len(have) == 3 and have == sorted(have, reverse=sys.argv[4] == "falling")))
	END
}
sorted_keys()
{
	local place=0 key order
	for key in Total Avg Max Min; do
		order=falling
		[ "$key" != Min ] || order=rising
		sorted "CPU$key" 2 "$place" "$order" && sorted "GPU$key" 3 "$place" "$order" || return 1
		place=$((place + 1))
	done
}
tap sorted_keys "SortedKeys: CPUTotal to GPUMin; the least times come first by Min"
unknown_key() { ! printed loop --view operator --sort CPUMedian >"$T/out" 2>&1 && grep -q -- --sort "$T/out"; }
tap unknown_key "SortedKeys: an unknown key is an error"

views()
{
	local view title
	while IFS=: read -r view title; do
		printed loop --view "$view" >"$T/table"
		[ "$(titles "$T/table")" = "$title" ] || { echo "$view: $(titles "$T/table")"; return 1; }
	done <<-END
		benchmark:Perf Summary
		device:Device Summary
		overview:Overview Summary
		model:Model Summary
		distributed:Distribution Summary
		operator:Operator Summary
		kernel:Kernel Summary
		memcpy:Memory Manipulation Summary
		user-ranges:UserDefined Summary
		memory:Memory Summary
		kernel,device:Device Summary,Kernel Summary
	END
}
tap views "views: each selects its table"

cp "$T/loop.events/tables" "$T/whole"
printed loop --detail=default >"$T/loop.events/tables"
tap by_hand operator loop flat "op_detail: False leaves operators alone"
cp "$T/whole" "$T/loop.events/tables"

threads()
{
	local tid
	tid=$(numbers loop "SELECT DISTINCT tid FROM op")
	printed loop --view operator,user-ranges --per-thread >"$T/table"
	[ "$(grep -c "^-*Thread: $tid-*$" "$T/table")" = 2 ] && ! grep -q 'All threads merged' "$T/table" &&
		[ "$(grep -c '^-*Thread: All threads merged-*$' "$T/whole")" = 2 ]
}
tap threads "thread_sep: one block a thread"

units()
{
	local unit factor
	while read -r unit factor; do
		printed loop --view model --unit "$unit" >"$T/table"
		has "$T/table" "^Time unit: $unit\$" &&
			python3 - "$T/table" "$T/whole" "$factor" <<-'END' || return 1
				import sys
				sys.path.insert(0, "test/integ")
				import paddle_tables as p
				have, whole = (p.five(p.tables(path)["Model Summary"][1][0][1][2]) for path in sys.argv[1:3])
				print(have, whole)
				sys.exit(any(abs(h / float(sys.argv[3]) - w) > 0.0051 + 0.0051 / float(sys.argv[3])
				             for h, w in zip(have[:4], whole)) or have[4] != 100)
			END
	done <<-END
		s 0.001
		ms 1
		us 1000
		ns 1000000
	END
}
tap units "time units: s, ms, us and ns"

# ---- Chrome tracing timeline ----

timeline()
{
	"$REPORT" timeline -o "$T/timeline.json" "$T/loop" || return 1
	python3 - "$T/timeline.json" "$(numbers loop "SELECT dur_ns FROM kernel ORDER BY dur_ns")" <<-'END'
		import json, sys
		events = json.load(open(sys.argv[1]))
		durations = [int(ns) for ns in sys.argv[2].split(",")]
		events = events["traceEvents"] if isinstance(events, dict) else events
		slices = [e for e in events if e["ph"] == "X"]
		ops = [e for e in slices if e["name"] == "matmul dygraph"]
		kernels = [e for e in slices if e.get("cat") == "kernel"]
		starts = {e["id"]: e for e in events if e["ph"] == "s"}
		ends = [e for e in events if e["ph"] == "f" and e["id"] in starts]
		named = {e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
		steps = [e for e in slices if e["name"].startswith("ProfilerStep#") and e["cat"] == "user_annotation"]
		print(len(ops), len(kernels), len(ends), sorted(named), len(steps))
		streams = {e["tid"] for e in kernels}
		print({e["dur"] for e in kernels}, durations, streams, min(e["ts"] - starts[e["id"]]["ts"] for e in ends))
		# Where the machine is busy a simulated kernel may take longer than it is told.
		# The clocks of host and GPU are not one, and of a run this short their rates are not well known: what seems to
		# begin before its call has no arrow.
		calls = {e["args"]["correlation"]: e["ts"] for e in slices if e.get("cat", "").startswith("cuda_")}
		late = [e for e in kernels if calls[e["args"]["correlation"]] <= e["ts"]]
		sys.exit(not (len(ops) == 14 and len(kernels) == 70 and
		              sorted(round(1000 * e["dur"]) for e in kernels) == durations and durations[0] > 1990000 and
		              len(ends) >= len(late) > 35 and len(streams) == 2 and any("stream" in n for n in named) and
		              all(starts[e["id"]]["ts"] <= e["ts"] for e in ends) and
		              all(calls[e["args"]["correlation"]] <= e["ts"] + 1000 for e in kernels)))
	END
}
tap timeline "timeline: threads and streams, durations, and a link from a launch to its kernel"

echo "1..$n"
exit $bad
