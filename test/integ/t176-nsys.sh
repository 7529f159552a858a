#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Exports of Nsight Systems: made ones of old and new versions, hostile ones, gprof's own, whose tables are those of the
# stream, and a real one in $GPROF_NSYS, or in nsys beside $GPROF_TRACES.
real=${GPROF_NSYS:-${GPROF_TRACES:+$(dirname "$GPROF_TRACES")/nsys}}
. "$(dirname "$0")/lib.sh"
need REPORT PYTHON JQ
"$REPORT" sql 'SELECT 1' test/golden/v1/small.gprof 2>&1 | grep -q "built without SQLite" && skip "no SQLite"

# ---- gprof's own export has the tables of the stream ----

views=kernel,api,memcpy,user-ranges,nvtx,sync,overview,threads,device,steps,gpu-trace,api-trace,idle,breakdown,launch-latency,queue,critical-path,headline

cat >"$T/same.py" <<'END'
import json, sys
want, have = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:])


def by_texts(rows):
    """Rows that are sorted by a time change places where that differs by the one."""
    if not all(isinstance(row, dict) and "calls" in row for row in rows):
        return rows
    return sorted(rows, key=lambda row: [str(row[key]) for key in sorted(row) if isinstance(row[key], str)])


def same(a, b, where):
    """Clocks of the target are mapped to ns before an export, so that times may be off by one each."""
    if where.endswith(".threads.rows[0].start_ns"):
        return  # of its first event: an export does not have when it began
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(set(a) | set(b)):
            # The export has another name and other tables; it writes names for terminals; ends without a begin it has not.
            if key not in ("file", "events") and not str(a.get("name")).startswith("=cmd"):
                same(a.get(key), b.get(key), f"{where}.{key}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(by_texts(a), by_texts(b))):
            same(x, y, f"{where}[{i}]")
    elif isinstance(a, (int, float)) and isinstance(b, (int, float)) and not isinstance(a, bool):
        if abs(a - b) > max(2, abs(a) / 1000):
            print(where, a, b)
    elif a != b and not (where.endswith(".nvtx.note") and "without a start" in a):
        print(where, repr(a)[:200], repr(b)[:200])


same(want, have, "")
END

mkdir "$T/own"
# same VIEWS STREAM
same()
{
	local name
	name=$(basename "$2" .gprof)
	ok "$REPORT" export -o "$T/own/$name.sqlite" "$2"
	"$REPORT" --view "$1" --top 0 --format json "$2" >"$T/want" 2>"$T/err"
	"$REPORT" --view "$1" --top 0 --format json "$T/own/$name.sqlite" >"$T/have" 2>"$T/err"
	is "" "$(python3 "$T/same.py" "$T/want" "$T/have" 2>&1 | head -20)" "$name, read back"
}

for stream in test/golden/v1/small.gprof test/golden/v2/nested.gprof; do
	same "$views" "$stream"
done
# Operators, without what their inputs' shapes say.
same steps,model test/golden/v2/ops.gprof
operators()
{
	"$REPORT" --view operator --top 0 --format json "$1" 2>"$T/err" | jq -c '[.operator.rows[] | [.name, .calls, .total_ns, .self_ns, .gpu_total_ns]]'
}
is "$(operators test/golden/v2/ops.gprof)" "$(operators "$T/own/ops.sqlite")" "operators, read back"
# Calls of the system that have times, and how many samples of the CPU each thread has.
os_calls()
{
	"$REPORT" --view os-runtime --format json "$1" 2>"$T/err" | jq -c '[.os_runtime.rows[] | [.name, .calls - (.short // 0), .total_ns, .kind, (.caller // "" | if test("[.]py") then "" else . end)]]'
}
ok "$REPORT" export -o "$T/own/os.sqlite" test/golden/v2/os.gprof
is "$(os_calls test/golden/v2/os.gprof)" "$(os_calls "$T/own/os.sqlite")" "calls of the system, read back"
samples()
{
	"$REPORT" --view cpu-threads --format json "$1" 2>"$T/err" | jq -c '[.cpu_threads.rows[] | [.tid, .samples, .cpu_ns]]'
}
ok "$REPORT" export -o "$T/own/cpu.sqlite" test/golden/v2/cpu.gprof
is "$(samples test/golden/v2/cpu.gprof)" "$(samples "$T/own/cpu.sqlite")" "CPU samples, read back"
# CPU samples are events of the stream, and their stacks are in none of the export's views of nsys's names.
export GPROF_CPU_HZ=0
for program in copies graphs threads; do
	if [ -e "$SIM/libcudart.so.13" ] && [ -x "$B/prog/$program" ]; then
		GPROF_DIR=$T/$program
		ok record "$B/prog/$program"
		was_late || same kernel,memcpy,memset,api "$T/$program"/*.gprof
	fi
done

# ---- made exports ----

for kind in old new emit bad names other; do
	ok python3 test/integ/nsys_db.py "$kind" "$T/$kind.sqlite"
done

GPROF_DIR=$T/old.sqlite
summary kernel,api,memcpy,nvtx,steps,notices
is 0 "$report_rc" "an old export"
is "4 200" "$(query '.kernel.rows[] | "\(.calls) \(.total_ns)"')" "kernels of an old export"
is "HtoD Pinned Device n/a 1,HtoD Pinned Device yes 2" "$(query '[.memcpy.rows[] | "\(.direction) \(.source) \(.target) \(.async) \(.calls)"] | sort | join(",")')" "its copies, one of which begins before its call, and one has none"
is "cudaLaunchKernel 4,cudaMemcpyAsync 2,cudaStreamSynchronize 1" "$(query '[.api.rows[] | "\(.name) \(.calls)"] | sort | join(",")')" "its calls"
is "0 1" "$(query '[.api.rows[].failed | tostring] | unique | join(" ")')" "its results"
is "0 400,1 400,2 400" "$(query '[.steps.rows[] | "\(.step) \(.duration_ns)"] | join(",")')" "its steps"
is "crosses 810 start,here null mark,inner 30 push" "$(query '[.nvtx.rows[] | select(.name | startswith("iter") | not) | "\(.name) \(.total_ns) \(.style | ascii_downcase | sub("end"; "") | sub("pop"; ""))"] | sort | join(",")')" "its ranges"
is 1 "$(query '[.notices.rows[] | select(.text | contains("OSRT_API"))] | length')" "what it lacks"

# Calls of the system and of libraries are calls in a timeline, too, and no operators.
calls_of()
{
	"$REPORT" --view api,operator --rank 0 --top 0 --format json "$1" 2>"$T/err" |
		jq -c '([.api.rows[] | [.name, .calls, .total_ns, .api]] | sort), .operator.rows'
}
"$REPORT" timeline --rank 0 -o "$T/again.json" "$T/new.sqlite" 2>"$T/err"
is "pthread_cond_wait thread" "$(calls_of "$T/again.json" | head -1 | jq -r '.[] | select(.[3] == "thread") | "\(.[0]) \(.[3])"')" \
	"calls of the system in a timeline"
is "$(calls_of "$T/new.sqlite")" "$(calls_of "$T/again.json")" "calls and operators of a timeline"

GPROF_DIR=$T/new.sqlite
summary kernel,api,memcpy,communication,steps,sync,utilization,gpu-trace,threads
is "4242 0 2 node7,4243 1 2 node7" "$(query '[.processes.rows[] | "\(.pid) \(.rank) \(.world_size) \(.host)"] | join(",")')" "processes and ranks of a new export"
is "gemm(float*) 6 6000" "$(query '.kernel.rows[] | select(.name | startswith("gemm(float*)")) | "\(.name) \(.calls) \(.total_ns)"')" "its kernels"
is "(CUDA graph 5 as a whole) 6 6000" "$(query '.kernel.rows[] | select(.name | startswith("(CUDA")) | "\(.name) \(.calls) \(.total_ns)"')" "its graphs"
is 1 "$(query '[.kernel.rows[].untimed] | add')" "a kernel without times"
is "cudaGraphLaunch 6 2880" "$(query '.api.rows[] | select(.name == "cudaGraphLaunch") | "\(.name) \(.calls) \(.total_ns)"')" "a call with a call chain counts once"
is "thread" "$(query '.api.rows[] | select(.name == "pthread_cond_wait").api')" "a call of the system"
is "Pinned Device" "$(query '[.memcpy.rows[] | "\(.source) \(.target)"] | unique | join(",")')" "kinds by the export's own list"
is "Stream Sync" "$(query '.sync.rows[] | select(.recorded_by == "CUPTI").name')" "types by the export's own list"
is "AllReduce 6 2 4096" "$(query '.communication.rows[] | "\(.name) \(.calls) \(.ranks) \(.avg_bytes)"')" "collectives by NCCL's payloads"
is 6 "$("$REPORT" sql --format csv 'SELECT count(DISTINCT pid || "group") AS groups FROM nccl WHERE bytes > 0' "$T/new.sqlite" 2>/dev/null | tail -1)" "groups of collectives after a simulated one"
is "0 1 2 0 1 2" "$(query '[.steps.rows[].step] | join(" ")')" "its steps"
is 60 "$(query '[.utilization.rows[] | select(.metric == "busy, sampled")][0].avg')" "samples of a GPU"
is "61 10" "$(query '.utilization.rows[] | select(.metric == "SM active") | "\(.avg) \(.samples)"' | head -1)" "a counter of the hardware"
is 1 "$("$REPORT" --view notices --format json "$T/new.sqlite" 2>/dev/null | grep -c '10 samples of GPU_METRICS, of metrics')" "metrics that are not read"
is "0 0,1 0" "$(query '[.gpu_trace.rows[] | select(.rank != null) | "\(.rank) \(.device)"] | unique | join(",")')" "devices as the process numbers them"
# CPU samples, with the stacks of their own process; what nsys could not name has the name of its file.
cpu_of()
{
	"$REPORT" --view cpu,cpu-threads --rank "$1" --top 0 --format json "$T/new.sqlite" 2>"$T/err" >"$T/cpu"
	jq -r "$2" "$T/cpu"
}
for rank in 0 1; do
	is "do_syscall_64 1 1,libcuda.so.1.1 (unresolved) 3 3,main 0 10,work(int) 6 10" "$(cpu_of $rank '[.cpu.rows[] | "\(.name) \(.samples) \(.total_samples)"] | sort | join(",")')" "functions of CPU samples, rank $rank"
	is "10000 10" "$(cpu_of $rank '.cpu_threads.rows[] | "\(.cpu_ns) \(.samples)"')" "CPU time by the median between samples, rank $rank"
done
is "[kernel.kallsyms],app,libcuda.so.1.1" "$(cpu_of 0 '[.cpu.rows[].file] | unique | join(",")')" "their files"
is true "$(cpu_of 0 '.cpu.note | contains("10 samples") and (test("kernel|user mode|frame pointers") | not)')" "what is not known of them"
is "" "$("$REPORT" --view notices "$T/new.sqlite" 2>&1 | grep -E 'COMPOSITE|SAMPLING')" "samples are read"
# A database of `export` has them and their stacks, too.
"$REPORT" export --format sqlite -o "$T/cpu.sqlite" test/golden/v2/cpu.gprof 2>"$T/err"
for file in test/golden/v2/cpu.gprof "$T/cpu.sqlite"; do
	"$REPORT" --view cpu --top 0 --format json "$file" 2>"$T/err" | jq -c '.cpu.rows' >"$T/$(basename "$file").rows"
done
ok cmp "$T/cpu.gprof.rows" "$T/cpu.sqlite.rows"
# So do API calls.
"$REPORT" export --format sqlite -o "$T/stacks.sqlite" test/golden/v2/stacks.gprof 2>"$T/err"
for file in test/golden/v2/stacks.gprof "$T/stacks.sqlite"; do
	"$REPORT" sql --format csv "SELECT name, stack, count(*) FROM api_sync GROUP BY 1, 2 UNION ALL SELECT name, stack, count(*) FROM api_copy GROUP BY 1, 2
		UNION ALL SELECT name, stack, count(*) FROM api_launch GROUP BY 1, 2" "$file" 2>"$T/err" >"$T/$(basename "$file").calls"
done
ok grep -q 'launch_add <- model::forward() <- main' "$T/stacks.sqlite.calls"
ok grep -q 'wait_for_loss <- main' "$T/stacks.sqlite.calls"
ok cmp "$T/stacks.gprof.calls" "$T/stacks.sqlite.calls"
ok grep -q 'MPI_P2P_EVENTS' <<<"$("$REPORT" check "$T/new.sqlite")"
# From the first time that a thread leaves a CPU to the last one.
"$REPORT" --view cpu-waits --rank 0 --format json "$T/new.sqlite" >"$T/out" 2>"$T/err"
is "18000 29 null" "$(jq -r '.cpu_waits.rows[] | "\(.cpu_ns) \(.cpu_share_pct | round) \(.wait_ns)"' "$T/out")" "time on CPUs"
for process in 4242 4243; do
	ok grep -q "new.sqlite, process $process: passed" <<<"$("$REPORT" check "$T/new.sqlite")"
	ok grep -q "new.sqlite', process $process: 1 name is not valid UTF-8" "$T/report.err"
done
ok grep -q 'began *2023-11-14 ' <<<"$("$REPORT" info "$T/new.sqlite" 2>/dev/null)"
ok grep -q 'began *not recorded' <<<"$("$REPORT" info "$T/old.sqlite" 2>/dev/null)"
is "1 3" "$("$REPORT" --rank 1 --view steps --format json "$T/new.sqlite" 2>/dev/null | jq -r '[.steps.rows[].rank] | "\(unique[0]) \(length)"')" "one rank of a file"

# PyTorch's emit_nvtx: its ranges are the operators, by their names alone; ranges of the user are none, and may be steps.
GPROF_DIR=$T/emit.sqlite
summary operator,user-ranges,steps
is "AddmmBackward0 3 300,aten::addmm 3 300,aten::linear 3 0,autograd::engine::evaluate_function: AddmmBackward0 3 0" \
	"$(query '[.operator.rows[] | "\(.name) \(.calls) \(.gpu_self_ns)"] | sort | join(",")')" "operators of emit_nvtx"
is "0 1 2" "$(query '[.steps.rows[].step] | join(" ")')" "steps of emit_nvtx"
is "my block 3,plain, with a comma 3,train_step 3" "$(query '[.user_ranges.rows[] | "\(.name) \(.calls)"] | sort | join(",")')" \
	"ranges of the user beside them"

# Every command takes it, and one file against another.
for output in timeline.json html export reduce flame.svg; do
	"$REPORT" "${output%.*}" -o "$T/out.$output" "$T/new.sqlite" >"$T/out" 2>"$T/err"
	rc=$?
	ok test "$rc" = 0 -o "$rc" = 3 # a name is not UTF-8, which some say
	ok test -s "$T/out.$output"
done
"$REPORT" diff "$T/old.sqlite" "$T/new.sqlite" >"$T/out" 2>"$T/err"
is 3 $? "diff: $(head -2 "$T/err")"
mkdir "$T/folder" && cp "$T/old.sqlite" "$T/folder/report.sqlite"
ok "$REPORT" --view kernel "$T/folder" >"$T/out"
# By its content, not by its name.
cp "$T/old.sqlite" "$T/folder/trace.json"
ok "$REPORT" --view kernel "$T/folder/trace.json" >"$T/out"

# ---- what is not what it seems ----

GPROF_DIR=$T/bad.sqlite
summary kernel,nvtx,losses
is 3 "$report_rc" "a hostile export"
is 2 "$(query '[.kernel.rows[].calls] | add')" "kernels that have sense"
ok grep -q 'far more work than its size explains' "$T/report.err"
GPROF_DIR=$T/names.sqlite
summary kernel
is "3 4" "$report_rc $(query '[.kernel.rows[].calls] | add')" "a table of names that cannot be read"
ok grep -q 'cannot be read to its end: integer overflow' "$T/report.err"
"$REPORT" info "$T/other.sqlite" >"$T/out" 2>"$T/err"
is "1 1" "$? $(grep -c 'no export of Nsight Systems' "$T/err")" "another database"
for bytes in 16 100 4096 20000; do
	head -c "$bytes" "$T/new.sqlite" >"$T/cut.sqlite"
	"$REPORT" info "$T/cut.sqlite" >"$T/out" 2>"$T/err"
	rc=$?
	ok test "$rc" = 1 -o "$rc" = 3
	ok test -s "$T/err"
done
sha=$(sha256sum "$T/new.sqlite")
chmod a-w "$T/new.sqlite"
"$REPORT" "$T/new.sqlite" >"$T/out" 2>/dev/null
is "$sha" "$(sha256sum "$T/new.sqlite")" "the file is as before"
is "" "$(find "$T" -maxdepth 1 -name 'new.sqlite-*')" "nothing is beside it"

# ---- a real one ----

[ -d "${real:-}" ] || [ -f "${real:-}" ] || skip_real=1
for file in $([ -n "${skip_real:-}" ] || find "$real" -name '*.sqlite'); do
	is "" "$(python3 - "$REPORT" "$file" <<'END'
import json, sqlite3, subprocess, sys
report, path = sys.argv[1:3]
tables = json.loads(subprocess.run([report, "--view", "kernel,memcpy,api,nvtx", "--top", "0", "--format", "json", path], capture_output=True, check=False).stdout)
database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
database.text_factory = lambda text: text.decode(errors="replace")


def rows(sql):
    return {name: (calls, total) for name, calls, total in database.execute(sql)}


def have(view, key="name"):
    sums = {}
    for row in tables[view]["rows"]:
        old = sums.get(row[key], (0, 0))
        sums[row[key]] = (old[0] + row["calls"], old[1] + (row["total_ns"] or 0))
    return sums


def same(what, want, got):
    if want != got:
        print(what, want, got)


same("kernels", sorted(rows('SELECT demangledName, count(*), sum("end" - start) FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY 1').values()), sorted(have("kernel").values()))
same("copies", sorted(rows('SELECT copyKind || "," || srcKind || "," || dstKind, count(*), sum("end" - start) FROM CUPTI_ACTIVITY_KIND_MEMCPY GROUP BY 1').values()), sorted(have("memcpy").values()))
# A call with a call chain has two rows with its correlation ID; CUPTI's own is the inner one.
same("calls", rows('''SELECT CASE WHEN s.value GLOB '*_v[0-9][0-9][0-9]*' THEN substr(s.value, 1, instr(s.value, '_v') - 1) ELSE s.value END,
    count(*), sum(r."end" - r.start) FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = r.nameId WHERE r.eventClass <> 67 GROUP BY 1'''), have("api"))
same("ranges", rows('''SELECT ifnull((SELECT d.text || ':' FROM NVTX_EVENTS d WHERE d.eventType = 75 AND d.domainId = n.domainId), '') || ifnull(n.text, s.value),
    count(*), sum(n."end" - n.start) FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId WHERE n.eventType IN (59, 60) GROUP BY 1'''), have("nvtx"))
# Calls count their chains from 0 there, and the chains from 1: what a call is named after is in its stack.
stacks = json.loads(subprocess.run([report, "sql", "--format", "json", """SELECT count(stack) AS stacks, sum(stack LIKE '%<- ' || name || ' <- %') AS fit
    FROM (SELECT name, stack FROM api UNION ALL SELECT name, stack FROM api_launch UNION ALL SELECT name, stack FROM api_copy
    UNION ALL SELECT name, stack FROM api_alloc)""", path], capture_output=True, check=False).stdout)["result"]["rows"][0]
same("stacks of calls", (database.execute("SELECT count(callchainId) FROM CUPTI_ACTIVITY_KIND_RUNTIME").fetchone()[0],) * 2, tuple(stacks.values()))
if "a100" in path and sum(total for _, total in have("kernel").values()) != 88573480:
    print("the sum of all kernels")
END
)" "$(basename "$file")"
done
[ $failed != 0 ] || [ -z "${skip_real:-}" ] || echo "no real export (GPROF_NSYS)"
finish
