#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What must never run in somebody else's process: ending it, printing through stdio, the host's
# malloc. Looks at the sources, and at what the library really calls.
set -u
cd "$(dirname "$0")/.." || exit 1
bad=0

words='exit|_exit|quick_exit|abort|assert|printf|fprintf|puts|perror|xmalloc|malloc|calloc|realloc|strdup|fopen|system|popen'
if grep -nwE "($words)[[:space:]]*\(" preload/*.[ch] preload/*/*.[ch] collector/*.[ch] collector/*/*.[ch] | grep -vE ':[[:space:]]*(/?\*|//)|/\*.*\*/[[:space:]]*$' |
	grep -vE '__attribute__|format\(printf'; then
	echo "these calls have no place in preload/ and collector/"
	bad=1
fi

called=$(nm -D --undefined-only "${B:-build}/libgprof.so" | awk '{sub(/@.*/, "", $2); print $2}')
case ${B:-build} in
*san-*) ;; # a sanitizer brings its own
*)
	for name in exit _exit abort __assert_fail printf fprintf puts __printf_chk __fprintf_chk; do
		if grep -qx "$name" <<<"$called"; then
			echo "libgprof.so calls $name"
			bad=1
		fi
	done
	;;
esac

if grep -nw 'getenv' preload/*.c preload/*/*.c collector/*.c collector/*/*.c | grep -vE '^(collector/util/config\.c|collector/stream/facts\.c|preload/entry\.c):'; then
	echo "the environment is read in config.c, facts.c and entry.c only"
	bad=1
fi
exit $bad
