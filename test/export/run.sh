#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What `gprof-report export` writes, asked by real engines: SQLite (python3's) and DuckDB (PyPI), against
# the tables of `summary`; the OpenMetrics of `summary`, read by prometheus_client (PyPI);
# snapshots of memory, by the rules of PyTorch's viewer. Prints TAP. Without DuckDB or
# prometheus_client their parts are skipped.
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
lib=$(pwd)/$B/duckdb-lib
T=$(mktemp -d "${TMPDIR:-/tmp}/gprof-export-XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
n=0
bad=0
version="export"
report=$B/gprof-report

# shellcheck source=test/tap.sh
. test/tap.sh
fetch_lib "$lib" duckdb==1.4.4
${MAKE:-make} -s --no-print-directory "$report" "$B/gen_stream" || exit 1

# shellcheck disable=SC2317 # tap calls them
# good STATUS: nothing is missing, or what is missing is reported
good() {
	case $1 in 0 | 3) return 0 ;; *) return 1 ;; esac
}

# shellcheck disable=SC2317
# engines ENGINE NAME INPUT...
engines() {
	local engine=$1 name=$2 target
	shift 2
	target=$T/$name.$engine
	"$report" summary --view kernel,memcpy,memset,api,operator --top 0 --format json "$@" >"$T/$name.json" 2>/dev/null
	good $? || return 1
	rm -rf "$target"
	"$report" export --format "$engine" -o "$target" "$@" 2>"$T/err"
	good $? || { cat "$T/err"; return 1; }
	PYTHONPATH=$lib python3 test/export/check.py "$engine" "$T/$name.json" "$target"
}

# shellcheck disable=SC2317
# survives ENGINE: times and names of a damaged stream may be anything; what is written is whole
survives() {
	"$report" export --format "$1" -o "$T/hostile.$1" "$T/hostile.gprof" 2>"$T/err"
	good $? || return 1
	case $1 in
	sqlite) [ "$(python3 -c 'import sqlite3, sys
print(sqlite3.connect(sys.argv[1]).execute("PRAGMA integrity_check").fetchone()[0])' "$T/hostile.sqlite")" = ok ] ;;
	jsonl) find "$T/hostile.jsonl" -type f -exec cat {} + | python3 -c 'import json, sys
for line in sys.stdin: json.loads(line)' ;;
	esac
}

# shellcheck disable=SC2317
# refused WHAT OPTION...: nothing is written, and one sentence says why
refused() {
	local what=$1
	shift
	! "$report" export "$@" "$T/ops.gprof" >"$T/out" 2>&1 && grep -qe "$what" "$T/out" && [ "$(wc -l <"$T/out")" = 1 ]
}

"$B/gen_stream" "$T/ops.gprof" ops && "$B/gen_stream" "$T/training.gprof" 20000 && "$B/gen_stream" "$T/hostile.gprof" hostile || exit 1
inputs=(ops training)
for engine in sqlite csv jsonl; do
	if [ $engine != sqlite ] && [ ! -d "$lib" ]; then
		n=$((n + 1))
		echo "ok $n - $engine # SKIP DuckDB is not to be had"
		continue
	fi
	for input in "${inputs[@]}"; do
		tap engines "$engine" "$input" "$T/$input.gprof" "$engine of $input"
	done
	tap survives "$engine" "$engine of a damaged stream"
	tap engines "$engine" both "$T/ops.gprof" "$T/training.gprof" "$engine of two processes"
	for trace in $(real_traces); do
		tap engines "$engine" trace "$trace" "$engine of $(basename "$trace")"
	done
done

# shellcheck disable=SC2317
# parquet INPUT: the commands of docs/sql.md, with DuckDB's module in place of its program
parquet()
{
	local folder=$T/parquet table commands
	mkdir -p "$folder/bin" && cat >"$folder/bin/duckdb" <<-'SHIM' && chmod +x "$folder/bin/duckdb" || return 1
		#!/bin/sh
		exec python3 -c 'import duckdb, sys; duckdb.sql(sys.argv[1])' "$2"
	SHIM
	ln -s "$(realpath "$report")" "$folder/bin/gprof-report"
	cp -r "$1" "$folder/gprof-dump"
	commands=$(sed -n '/^## Parquet/,/^## What/p' docs/sql.md | sed -n '/^```sh/,/^```/p' | grep -v '^```')
	[ -n "$commands" ] && (cd "$folder" && PATH=$folder/bin:$PATH PYTHONPATH=$lib bash -c "$commands") || return 1
	for table in kernel memcpy api_launch op step; do
		[ ! -d "$folder/out/$table" ] || "$report" sql --format json "SELECT '$table' AS name, count(*) AS nr, $(
			[ $table = step ] && echo NULL || echo 'sum(dur_ns)') AS ns, count(DISTINCT step) AS steps FROM $table" "$1" 2>"$T/err"
	done | jq -s '[.[].result.rows[] | {(.name): [.nr, .ns, .steps]}] | add' >"$folder/want.json"
	PYTHONPATH=$lib python3 test/export/parquet.py "$folder"
}
if [ -d "$lib" ]; then
	tap parquet "$T/ops.gprof" "Parquet by DuckDB, by the commands of docs/sql.md"
else
	n=$((n + 1))
	echo "ok $n - Parquet # SKIP DuckDB is not to be had"
fi

# Prometheus's own parser reads the gauges, and has the figures of the JSON.
metrics_lib=$(pwd)/$B/openmetrics-lib
fetch_lib "$metrics_lib" prometheus_client==0.25.0
# shellcheck disable=SC2317
# metrics INPUT [OPTION]...
metrics()
{
	"$report" summary --format openmetrics "$@" >"$T/metrics" 2>"$T/err"
	good $? || return 1
	"$report" summary --format json --top 0 --view headline,step-stats,device,kernel,memcpy,losses "$1" >"$T/metrics.json" 2>"$T/err"
	good $? && PYTHONPATH=$metrics_lib python3 test/export/openmetrics.py "$T/metrics" "$T/metrics.json"
}
for input in ops training hostile; do
	if [ -d "$metrics_lib" ]; then
		tap metrics "$T/$input.gprof" "OpenMetrics of $input"
		tap metrics "$T/$input.gprof" --view headline,step-stats,device,kernel,operator,memcpy,api,losses,steps,breakdown,advice,memory \
			"OpenMetrics of many views of $input"
	else
		n=$((n + 1))
		echo "ok $n - OpenMetrics of $input # SKIP prometheus_client is not to be had"
	fi
done

# shellcheck disable=SC2317
# memory INPUT [TRACE]: PyTorch's memory viewer reads it, and it has what the trace has.
memory()
{
	"$report" export --format memory-viz -o "$T/memory.pickle" "$1" >"$T/out" 2>"$T/err"
	good $? || { cat "$T/err"; return 1; }
	python3 test/export/memory_viz.py "$T/memory.pickle" "${@:2}"
}
# shellcheck disable=SC2317
# without TRACE: nothing is written of memory whose allocations have no addresses.
without()
{
	! "$report" export --format memory-viz -o "$T/x.pickle" "$1" >"$T/out" 2>&1 && grep "have no address" "$T/out" && [ ! -e "$T/x.pickle" ]
}
"$B/gen_stream" "$T/model.gprof" model 20000
tap memory "$T/model.gprof" "memory snapshot"
tap memory "$T/ops.gprof" damaged "memory snapshot of blocks that overlap"
tap memory "$T/hostile.gprof" damaged "memory snapshot of a damaged stream"
for trace in $(real_traces); do
	case $trace in
	*qwen*) tap memory "$trace" "$trace" "memory snapshot of $(basename "$trace")" ;;
	*resnet50*) tap without "$trace" "memory without addresses" ;;
	esac
done

mkdir "$T/full" && touch "$T/full/file"
tap refused "the folder is not empty" --format csv -o "$T/full" "a folder that has files"
tap refused "No such file or directory" --format jsonl -o "$T/no/where" "a folder that cannot be made"
tap refused "unable to open" -o "$T/no/where.sqlite" "a database that cannot be made"
tap refused "unknown format" --format xml -o "$T/x" "an unknown format"
tap refused "name the output" "no output"
tap refused "No such file or directory" --format memory-viz -o "$T/no/where" "a snapshot that cannot be made"
exit $bad
