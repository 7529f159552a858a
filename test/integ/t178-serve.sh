#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `serve` answers whoever has its address, with the page and with windows of its timeline, and refuses everybody else.
# Without libmicrohttpd it says what is missing.
. "$(dirname "$0")/lib.sh"
need REPORT_THREADS REPORT PYTHON
[ -x "$B/gen_stream" ] || skip "gen_stream is not built (make tests)"

"$B/gen_stream" "$T/model.gprof" model 20000
"$B/integ/no_server" serve "$T/model.gprof" >"$T/out" 2>"$T/err"
is "1 gprof-report: this gprof-report was built without a server; build it where libmicrohttpd is installed (Debian: apt-get install libmicrohttpd-dev)" \
	"$? $(cat "$T/err" "$T/out")" "a build without the library"
is 0 "$("$B/integ/no_server" html -o "$T/x.html" "$T/model.gprof" >"$T/out"; echo $?)" "its other commands"
printf '#include <microhttpd.h>\n' | gcc -E -x c - >"$T/out" 2>&1 || skip "no libmicrohttpd-dev"

is "" "$(readelf -d "$REPORT" | grep -i microhttpd)" "commands that need no server load no server"
mkdir "$T/files"
is 0 "$(python3 test/integ/serve.py "$REPORT" "$T/files" "$T/model.gprof" >"$T/out" 2>&1; echo $?)" "$(head -5 "$T/out" | tr '\n' ';')"

"$REPORT" serve -o x.html "$T/model.gprof" 2>"$T/err"
is "2 gprof-report: serve writes no file; html does; try: gprof-report help serve" "$? $(cat "$T/err")" "a file"
"$REPORT" serve --port 70000 "$T/model.gprof" 2>"$T/err"
is 2 $? "status of a port that cannot be"
"$REPORT" reduce -o "$T/x.sum" "$T/model.gprof" 2>"$T/err"
"$REPORT" serve "$T/x.sum" 2>"$T/err"
is 2 $? "status of a summary"
timeout 300 "$REPORT" serve "$T/none" >"$T/out" 2>"$T/err"
is 1 $? "status where there is no recording"
finish
