#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Calls that only ask for a state are counted, exactly: of each thread the first is timed, and each that fails has a row.
# GPROF_CALLS=all times them, and has CUPTI record synchronizations and events. Rows of events have the handles.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ PLAIN
export GPROF_CPU_HZ=0 # CPU samples are events, too
# Of several modules that call, all but the first have a slower way to their runtime.
gcc -O1 -shared -fPIC -DMODULE -o "$T/libcounted.so" test/calls/counted.c "$SIM/libcudart.so.13" 2>"$T/err" &&
	gcc -O1 -o "$T/counted" test/calls/counted.c "$T/libcounted.so" -Wl,-rpath,"$T" "$SIM/libcudart.so.13" -lpthread 2>"$T/err" ||
	{ cat "$T/err"; exit 1; }

# calls NAME FIELD
calls()
{
	query ".api.rows[] | select(.name == \"$1\").$2"
}

record "$T/counted" 5000
is "0 0 failed" "$rc $(cut -d, -f1 "$T/out")" "status and results"
summary api,losses
is 15000 "$(calls cudaGetDevice calls)" "calls of cudaGetDevice"
is 10000 "$(calls cudaGetLastError calls)" "calls of cudaGetLastError"
is null "$(calls cudaGetDevice total_ns)" "their times"
is 0 "$(calls cudaGetDevice failed)" "failed ones"
ok test "$(calls cudaMalloc total_ns)" -gt 0
is 0 "$(query '[.losses.rows[].count] | add // 0')" "lost"
is 2 "$("$REPORT" sql --format csv "select count(*) from api a join StringIds s on s.id = a.name where s.value = 'cudaGetDevice'" "$GPROF_DIR" | tail -n 1)" "timed ones: the first of each thread"
is "9999 4999" "$("$REPORT" sql --format csv "select sum(nr) from api_count c join StringIds s on s.id = c.name where s.value = 'cudaGetDevice' group by tid order by tid" "$GPROF_DIR" |
	tail -n +2 | paste -sd' ')" "of each thread"
handles=$(sed 's/.*event //; s/ stream //' "$T/out")
is "${handles%,*} (nil)
${handles%,*} ${handles#*,}" "$("$REPORT" sql --format csv "select printf('0x%x', event), iif(stream, printf('0x%x', stream), '(nil)') from api where event != 0 order by correlation" "$GPROF_DIR" |
	tail -n +2 | tr , ' ' | tr -d '"')" "handles of what records an event, and of what waits for it"

# cupti_records: how many of events and of waits
cupti_records()
{
	"$REPORT" sql --format csv "select (select count(*) from event) + (select count(*) from sync)" "$GPROF_DIR" | tail -n 1
}
is 0 "$(cupti_records)" "CUPTI's records of events and waits"

# names_variable VIEW: how often its table names the variable
names_variable()
{
	"$REPORT" summary --view "$1" "$GPROF_DIR" 2>>"$T/err" | grep -c GPROF_CALLS=all
}
is 1 "$(names_variable api)" "the table of calls names the variable that times them"
is 1 "$(names_variable api-trace)" "the table of each call names it"
is 1 "$(names_variable sync)" "the table of waits names the variable that brings CUPTI's records of them"

# Each that fails has a row: when, and with which code.
rm -rf "$GPROF_DIR"
SIM_FAIL=cudaGetDevice:100:3 record "$T/counted" 5000
is "0 1 failed" "$rc $(cut -d, -f1 "$T/out")" "status and results where one fails"
summary api
is "15000 1" "$(calls cudaGetDevice calls) $(calls cudaGetDevice failed)" "calls, and failed ones"

# Nobody writes them at the end.
rm -rf "$GPROF_DIR"
GPROF_FLUSH_MS=200 record "$T/counted" 5000 killed
is 137 $rc "status of a killed program"
summary api
is 15000 "$(calls cudaGetDevice calls)" "calls of it"

# Another program replaces it, at whatever moment of the recorder's: what that has just taken is not lost.
rm -rf "$GPROF_DIR"
gcc -O1 -o "$T/replaced" test/calls/replaced.c "$SIM/libcudart.so.13" || exit 1
for i in {0..99}; do
	GPROF_FLUSH_MS=10 record "$T/replaced" 20 $((2000 + 80 * i)) || exit 1
done
find "$GPROF_DIR" -name "*.gprof" -o -name "*.part" | xargs "$REPORT" summary --view api --format json >"$T/json" 2>>"$T/err"
is 4000 "$(jq '[.api.rows[].calls] | add' "$T/json")" "calls of 100 programs that others replaced"

rm -rf "$GPROF_DIR"
GPROF_CALLS=all record "$T/counted" 5000
summary api
is 15000 "$(calls cudaGetDevice calls)" "calls with GPROF_CALLS=all"
ok test "$(calls cudaGetDevice total_ns)" -gt 0
is 000 "$(names_variable api)$(names_variable api-trace)$(names_variable sync)" "notes about it with GPROF_CALLS=all"
is 3 "$(cupti_records)" "CUPTI's records of events and waits with GPROF_CALLS=all"

# In a full stream counted calls are lost like all others, and counted as lost.
rm -rf "$GPROF_DIR"
gcc -O1 -o "$T/limited" test/calls/limited.c "$SIM/libcudart.so.13" -lpthread || exit 1
GPROF_CUPTI=0 GPROF_MAX_MB=1 GPROF_FLUSH_MS=10 record "$T/limited" 100 700
is 0 $rc "status with a limit"
summary api,losses
is $((2 * 300000 + 2 * 100 * 700)) $(($(query '[.api.rows[].calls] | add') + $(query '[.losses.rows[] | select(.cause | test("^(step, thread|name, sample)") | not).count] | add // 0'))) \
	"calls recorded and lost with a limit"
finish
