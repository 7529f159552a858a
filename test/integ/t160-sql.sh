#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Queries: their numbers are those of summary and of an exported database; what is selected, what is
# damaged, what is wrong and what is refused.
. "$(dirname "$0")/lib.sh"
need REPORT REPORT_ALONE JQ PYTHON
[ -x "$B/gen_stream" ] || skip "gen_stream is not built (make tests)"
"$REPORT" sql 'SELECT 1' test/golden/v1/small.gprof 2>&1 | grep -q "built without SQLite" && skip "no SQLite"

mkdir "$T/dump"
"$B/gen_stream" "$T/dump/ops.gprof" ops
"$B/gen_stream" "$T/training.gprof" 20000
GPROF_DIR=$T/dump

# rows QUERY [OPTION]... [PATH]...: as CSV without its title and names
rows()
{
	"$REPORT" sql --format csv "$@" 2>"$T/err" | sed 1d | grep -v '^$'
}

# ---- two witnesses ----

cat >"$T/witness.py" <<'END'
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.create_function("string", 1, lambda id: next(iter(database.execute("SELECT value FROM StringIds WHERE id = ?", (id,))), (None,))[0])
for row in database.execute(sys.argv[2]):
    print(",".join("" if cell is None else '"%s"' % cell.replace('"', '""') if isinstance(cell, str) else repr(cell) for cell in row))
END

# same QUERY PATH: asked here and of the exported database
same()
{
	rows "$1" "$2" | sed "s/^\"'=/\"=/" >"$T/here" # what a spreadsheet would run
	python3 "$T/witness.py" "$T/$(basename "$2").sqlite" "$1" >"$T/there"
	is "$(cat "$T/there")" "$(cat "$T/here")" "$1 of $(basename "$2")"
}

tables=$("$REPORT" sql --schema --format json | jq -r '.schema.rows[] | select(.column == "").table')
ok test "$(echo "$tables" | wc -l)" -gt 40
counts=$(echo "$tables" | grep -v '^StringIds$' | sed "s/.*/SELECT '&', count(*) FROM & UNION ALL/; "'$s/ UNION ALL//')
for stream in "$T/dump/ops.gprof" "$T/training.gprof" test/golden/v1/small.gprof; do
	"$REPORT" export -o "$T/$(basename "$stream").sqlite" "$stream"
	same "$counts" "$stream"
	same 'SELECT string(kernel_name), count(*), sum(dur_ns), min(start_ns), max(start_ns) FROM kernel GROUP BY 1 ORDER BY 3, 1' "$stream"
	same 'SELECT step, count(*), sum(bytes) FROM memcpy GROUP BY step ORDER BY step' "$stream"
	same 'SELECT count(*), sum(k.start_ns - a.start_ns) FROM kernel k JOIN api_launch a ON a.correlation = k.correlation AND a.pid = k.pid' "$stream"
	same 'SELECT count(*), sum(k.start - r."end") FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId' "$stream"
	same "SELECT count(*) FROM kernel k JOIN StringIds s ON s.id = k.mangled_name WHERE s.value LIKE '%e%'" "$stream"
	same 'SELECT count(*) FROM kernel WHERE correlation = 101 OR dur_ns > 12000 OR pid = 1' "$stream"
	same 'SELECT count(*), total(dur_ns) FROM kernel WHERE start_ns BETWEEN 20000 AND 90000.5' "$stream"
done
same 'SELECT r.name IS NULL, count(*), sum(k.dur_ns) FROM nvtx_range r JOIN kernel k ON k.pid = r.pid AND k.start_ns BETWEEN r.start_ns AND r.start_ns + r.dur_ns GROUP BY 1' "$T/training.gprof"

# Texts are texts, whether the query compares them, or their numbers; StringIds joins either.
long=$(rows "SELECT name FROM op GROUP BY name ORDER BY count(*) DESC, name LIMIT 1" | tr -d '"')
calls=$(rows "SELECT count(*) FROM op WHERE string(name_id) = '$long'")
ok test "$calls" -gt 0
for condition in "name = '$long'" "name IN ('$long', '')" "name = '$long' OR name = 'none'" "name LIKE '$long'" "name = upper('$long') COLLATE NOCASE" \
	"NOT name <> '$long'" "CASE name WHEN '$long' THEN 1 END" "lower(name) = lower('$long')" "string(name) = '$long'" \
	"name_id = (SELECT id FROM StringIds WHERE value = '$long')" "name IN (SELECT value FROM StringIds WHERE value = '$long')"; do
	is "$calls" "$(rows "SELECT count(*) FROM op WHERE $condition")" "operators with $condition"
done
for join in "s.id = o.name" "s.id = o.name_id" "s.value = o.name"; do
	is "$calls" "$(rows "SELECT count(*) FROM op o JOIN StringIds s ON $join WHERE s.value = '$long'")" "operators joined by $join"
	is "$calls" "$(rows "SELECT count(*) FROM StringIds s CROSS JOIN op o ON $join WHERE s.value = '$long'")" "operators behind StringIds by $join"
done
is 0 "$(rows "SELECT count(*) FROM op WHERE name = 'none'")" "a text that is not there"
is "$(rows 'SELECT count(*) FROM op a JOIN op b ON a.name_id = b.name_id')" "$(rows 'SELECT count(*) FROM op a JOIN op b USING (name)')" "operators of one name"
is '"text","integer"' "$(rows 'SELECT typeof(name), typeof(name_id) FROM op LIMIT 1')" "types"

# Summary agrees, also on what is selected and on a trace of another profiler.
for options in "" "--steps 1" "--steps -2"; do
	# shellcheck disable=SC2086 # they are words
	summary kernel $options
	# shellcheck disable=SC2086
	is "$(query '[.kernel.rows[] | "\(.calls),\(.total_ns)"] | sort | join(" ")')" \
		"$(rows 'SELECT count(*), sum(dur_ns) FROM kernel GROUP BY kernel_name' $options | sort | tr '\n' ' ' | sed 's/ $//')" "kernels $options"
done
is "4" "$(rows 'SELECT count(*) FROM kernel WHERE step = 1')" "a step by a condition"
is "" "$(rows 'SELECT count(*) FROM kernel' --rank 7)" "a rank that is not there"
cat >"$T/trace.json" <<'END'
{"schemaVersion": 1, "traceEvents": [
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": 100, "dur": 5, "args": {"correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 110, "dur": 20, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 1, "grid": [1, 2, 3], "block": [4, 5, 6]}}]}
END
is '"gemm",20000,2,5000' \
	"$(rows 'SELECT string(k.kernel_name), k.dur_ns, k.grid_y, k.start_ns - c.end_ns FROM kernel k JOIN api_launch c ON c.correlation = k.correlation' "$T/trace.json")" "a trace"

# A column of text shows its texts where it stands in the result, also behind a name of its own or a group; computed with, it is a number.
is '"gemm","gemm",1' "$(rows 'SELECT kernel_name, string(name), name > 0 FROM (SELECT kernel_name, kernel_name AS name FROM kernel)' "$T/trace.json")" "texts of a result"
is '"gemm",1' "$(rows 'SELECT short_name AS k, count(*) FROM kernel GROUP BY short_name ORDER BY 2' "$T/trace.json")" "texts of groups"
is 1 "$(rows "SELECT count(*) FROM kernel WHERE string(kernel_name) = 'gemm'" "$T/trace.json")" "a condition on a text"

# ---- functions, formats, files ----

is "2.5,1.29099444873581,4.0,1.0" "$(rows "SELECT median(x), stddev(x), percentile(x, 99), percentile(x, 0) FROM (VALUES (1), (2), (3), (4)) v, (SELECT 1) w, (SELECT column1 AS x FROM (VALUES (1), (2), (3), (4))) GROUP BY v.column1 LIMIT 1")" "functions"
is '{"a":1,"a_2":-2,"b":"x","c":null,"d":1.5}' \
	"$("$REPORT" sql --format json "SELECT 1 AS a, -2 AS a, 'x' AS b, NULL AS c, 1.5 AS d" "$T/dump" | jq -c '.result.rows[0]')" "JSON"
ok grep -q '| *1 | *2 |' <("$REPORT" sql --format markdown 'SELECT 1, 2' "$T/dump")
printf -- '-- two\nSELECT 1 AS one;\n\nSELECT 2 AS two; -- end\n' >"$T/two.sql"
is "1 2" "$("$REPORT" sql -f "$T/two.sql" --format json "$T/dump" | jq -r '"\(.result.rows[0].one) \(.result_2.rows[0].two)"')" "a file"
is "1 2" "$("$REPORT" sql -f - --format json "$T/dump" <"$T/two.sql" | jq -r '"\(.result.rows[0].one) \(.result_2.rows[0].two)"')" "stdin"
"$REPORT" sql -o "$T/out.csv" --format csv 'SELECT 7 AS seven' "$T/dump"
is '"seven" 7' "$(sed '/^$/d' "$T/out.csv" | tr '\n' ' ' | sed 's/ $//')" "-o"
is "" "$("$REPORT" sql --schema --format json | jq -r '.schema.rows[] | select(.meaning == "") | "\(.table).\(.column)"')" "columns without a meaning"
is "kernel" "$("$REPORT" sql '.schema kernel' --format json | jq -r '[.schema.rows[].table] | unique | join(" ")')" ".schema of a table"
# Long results go through a file.
is "600000 180000300000" "$(rows 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 600000) SELECT x, printf("%.60d", x) FROM n' | awk -F, '{ sum += $1 } END { printf "%d %.0f\n", NR, sum }')" "many rows"

# The queries of the manual run.
python3 - "$T" <<'END'
import re, sys
text = open("docs/sql.md", encoding="utf-8").read()
for number, query in enumerate(re.findall(r"```sql\n(.*?)```", text, re.S)):
    open(f"{sys.argv[1]}/manual{number}.sql", "w", encoding="utf-8").write(query)
END
is 11 "$(find "$T" -name 'manual*.sql' | wc -l)" "queries of the manual"
for file in "$T"/manual*.sql; do
	"$REPORT" sql -f "$file" "$T/training.gprof" >"$T/out" 2>"$T/err"
	is "0 " "$? $(cat "$T/err")" "$(basename "$file")"
done

# ---- damage ----

is 6 "$(rows 'SELECT count(*) FROM kernel' test/golden/v1/bad_flipped.gprof)" "rows of damaged blocks are counted"
"$REPORT" sql --format csv 'SELECT count(*), sum(start_ns) FROM kernel' test/golden/v1/bad_flipped.gprof >"$T/out" 2>"$T/err"
is 3 $? "status with damage"
is "0," "$(sed -n 2p "$T/out")" "damaged columns are left out"
# The first screen says one thing more: that nothing is known of idle time.
"$REPORT" test/golden/v1/bad_flipped.gprof 2>&1 >/dev/null | grep -v 'launches have no GPU activity, so idle time is unknown' >"$T/summary"
is 1 "$("$REPORT" test/golden/v1/bad_flipped.gprof 2>&1 >/dev/null | grep -c 'idle time is unknown')" "lines about idle time"
is "$(cat "$T/summary")" "$(cat "$T/err")" "losses as summary says them"

# ---- what is wrong ----

# wrong TEXT QUERY: one sentence, status 2, nothing on stdout
wrong()
{
	"$REPORT" sql "$2" "$T/dump" >"$T/out" 2>"$T/err"
	is 2 $? "status of $2"
	is "gprof-report: $1" "$(cat "$T/err")" "$2"
	is "" "$(cat "$T/out")" "no output of $2"
}

wrong 'SQL, line 1, column 22: no such table: kernell; did you mean kernel?' 'SELECT count(*) FROM kernell'
wrong 'SQL, line 2, column 1: no such column: dur_n; did you mean dur_ns?' "SELECT
dur_n FROM kernel"
wrong 'SQL, line 1, column 1: near "SELEC": syntax error' 'SELEC 1'
wrong 'SQL: op.name is a text: compare its number, name_id' 'SELECT count(*) FROM op WHERE name = 5'
wrong 'SQL: op.name_id is the number of a text: compare name' "SELECT count(*) FROM op WHERE name_id = 'k'"
wrong 'SQL: op.name_id is the number of a text: compare name' "WITH n(x) AS (VALUES('k')) SELECT count(*) FROM n JOIN op ON name_id = x"
wrong 'SQL, line 1, column 8: no such column: zzzzzzzzzzzz; gprof-report sql --schema lists tables and columns' 'SELECT zzzzzzzzzzzz FROM kernel'
wrong 'the query has no statement' '/* nothing */'
is 2 "$("$REPORT" sql >"$T/out" 2>&1; echo $?)" "no query"
is 1 "$("$REPORT" sql -f "$T/not-there.sql" >"$T/out" 2>&1; echo $?)" "no such file"
is 2 "$("$REPORT" sql --schema=kernell >"$T/out" 2>&1; echo $?)" "no such table"
ok grep -q 'did you mean kernel?' "$T/out"

# ---- what is refused ----

cd "$T" || exit 1
for query in "ATTACH '$T/evil.db' AS evil" "VACUUM INTO '$T/evil.db'" "CREATE TABLE evil(x)" "CREATE TEMP TABLE evil(x)" \
	"CREATE VIRTUAL TABLE evil USING csv(filename='/etc/passwd')" "INSERT INTO process VALUES(1, 1, 1, 1, 1, 1, 1)" "DELETE FROM process" \
	"UPDATE kernel SET dur_ns = 0" "DROP VIEW PROCESSES" "PRAGMA writable_schema = 1" "PRAGMA temp_store_directory = '$T'" "BEGIN" \
	"SELECT load_extension('evil.so')" "DETACH main" "REINDEX" "ANALYZE" "ALTER TABLE process RENAME TO x" \
	"SELECT writefile('$T/evil.db', 'x')" "SELECT readfile('/etc/passwd')" "SELECT fts3_tokenizer('x')" \
	"SELECT * FROM kernel; ATTACH '$T/evil.db' AS evil" "SELECT hex(zeroblob(100000000))"; do
	"$REPORT" sql "$query" "$T/dump" >"$T/out" 2>"$T/err"
	is 2 $? "status of $query"
	is 1 "$(wc -l <"$T/err")" "one sentence for $query"
done
ok test ! -e "$T/evil.db"
cd "$ROOT" || exit 1

# A query without an end stops when asked to, and leaves nothing behind.
mkdir "$T/tmp"
TMPDIR=$T/tmp timeout -s INT 1 "$REPORT" sql 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n' "$T/dump" >"$T/out" 2>&1
is 124 $? "interrupted"
is "" "$(ls "$T/tmp")" "what is left"

# The second of two joins reads its table once: not so many times as the first has rows.
"$B/gen_stream" "$T/long.gprof" 300000
is "$(rows 'SELECT count(*) FROM kernel' "$T/long.gprof")" "$(timeout 60 "$REPORT" sql --format csv 'SELECT count(*) FROM kernel k JOIN api_launch a ON a.process = k.process AND a.correlation = k.correlation' "$T/long.gprof" | sed -n 2p)" "a long join"

finish
