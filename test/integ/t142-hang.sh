#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ranks of which one does not come to a collective, or is killed: while they hang and after they were
# killed it learns which one, and in which collective.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ
export SIM_DEVICES=2

# pending FIELD: of the only row.
pending()
{
	query ".missing_collectives.rows[0].$1"
}

# check WHEN: three ranks, of which the last did not call the second collective.
check()
{
	is 1 "$(query '.missing_collectives.rows | length')" "rows $1"
	is "2 AllGather 3" "$(pending number) $(pending name) $(pending ranks)" "collective $1"
	is "0-1 2" "$(pending arrived) $(pending absent)" "ranks $1"
	is "" "$(pending unknown)" "ranks that are not recorded, $1"
	is "0-1" "$(pending unfinished)" "ranks that wait $1"
}

for how in stuck killed killed_static; do
	rm -rf "$GPROF_DIR"
	static=${how#killed}
	LD_LIBRARY_PATH=$SIM LD_PRELOAD=$(preload) "$B/prog/collectives${static#stuck}" "${how%_static}" 3 >"$T/out" 2>"$T/err" &
	program=$!
	while summary missing-collectives && [ "$(query '.missing_collectives.rows | length'),$(pending arrived),$(pending unfinished)" != 1,0-1,0-1 ]; do
		kill -0 $program 2>/dev/null || { echo "the program ended"; failed=1; break; }
		sleep 0.1
	done
	check "while it hangs ($how)"
	if [ $how = stuck ]; then
		"$REPORT" watch --interval-ms 50 --hang-timeout-s 1 "$GPROF_DIR" >"$T/watch" 2>"$T/watch.err" &
		watch=$!
		until grep -q ' AllGather ' "$T/watch"; do
			kill -0 $watch 2>/dev/null || { echo "the watch ended"; failed=1; break; }
			sleep 0.1
		done
	fi
	kill_ranks "$program"
	if [ $how = stuck ]; then
		wait $watch
		is 3 $? "status of the watch"
	fi
	summary missing-collectives
	check "after it was killed ($how)"
done
is 1 "$(grep -c '^Hang: no step has ended for' "$T/watch")" "reports of the hang"
# Without --view it is among the tables.
ok grep -q '^Missing collectives' <<<"$("$REPORT" "$GPROF_DIR" 2>/dev/null)"
# The rank that is to blame has no stream.
rm -f "$GPROF_DIR/$(basename "$(query '.processes.rows[] | select(.rank == 2).file')" .part)"*
summary missing-collectives
is "0-1,,2" "$(pending arrived),$(pending absent),$(pending unknown)" "ranks where one has no stream"

# All is well: nothing waits.
rm -rf "$GPROF_DIR"
record "$B/prog/collectives" ranks 3
summary missing-collectives
is 0 "$(query '.missing_collectives.rows | length')" "rows of a job that ended"
"$REPORT" "$GPROF_DIR" >"$T/tables" 2>/dev/null
ok test "$(grep -c '^Missing collectives' "$T/tables")" = 0
finish
