#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# collector/util/config.def is the list of variables. profiler.env.example, the table of docs/configuration.md and
# `gprof-report env` must agree with it: name, default, allowed values.
set -u
cd "$(dirname "$0")/.." || exit 1
bad=0

# One line a variable: GPROF_NAME=default<tab>allowed
listed=$({
	printf '#define CONFIG(name,type,value,min,max,allowed,help) @GPROF_##name "=" value "\\t" allowed\n'
	printf '#include "collector/util/config.def"\n'
} | ${CC:-gcc} -E -P -I. -x c - | tr '\n' ' ' | sed 's/@/\n/g' | grep GPROF_ |
	sed -E 's/" *"//g; s/ *"//; s/" *$//; s/\\t/\t/')
[ "$(grep -c . <<<"$listed")" -gt 10 ] || { echo "config.def cannot be read"; exit 1; }

example=$(awk '/^# \(.*\)$/ {allowed = $0; sub(/^# \(/, "", allowed); sub(/\)$/, "", allowed)}
	/^#GPROF_/ {print substr($0, 2) "\t" allowed}' profiler.env.example)
if ! diff <(echo "$listed") <(echo "$example"); then
	echo "config.def (<) and profiler.env.example (>) differ"
	bad=1
fi

guide=$(sed -nE 's/^\| (GPROF[A-Z_\\]+) \| ([^|]*)\| (([^|\\]|\\.)*) \| .*/\1=\2\t\3/p' docs/configuration.md |
	sed -E 's/ *\t/\t/; s/\\(.)/\1/g')
if ! diff <(echo "$listed") <(echo "$guide"); then
	echo "config.def (<) and the table of docs/configuration.md (>) differ"
	bad=1
fi

if [ -x "${B:-build}/gprof-report" ]; then
	shown=$("${B:-build}/gprof-report" env | grep -o 'GPROF_[A-Z_]*' | sort -u)
	if ! diff <(cut -d= -f1 <<<"$listed" | sort -u) <(echo "$shown"); then
		echo "config.def (<) and gprof-report env (>) differ"
		bad=1
	fi
fi

# Every variable that the sources read through config.h is in the list, and every one is read: by the recorder,
# or by the reporter as a fact of the stream.
for name in $(cut -d= -f1 <<<"$listed" | sed 's/GPROF_//'); do
	grep -rqw "CONFIG_$name" preload collector --include='*.c' ||
		grep -rq "\"config.GPROF_$name\"" report --include='*.c' || { echo "nothing reads GPROF_$name"; bad=1; }
done
exit $bad
