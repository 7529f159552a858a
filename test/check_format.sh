#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The stream format: its headers, FORMAT.md, the recorder's facts and the golden streams go together. And the layout of
# sources: licence line, line length, clang-format; and no packages or binaries among them.
set -u
cd "$(dirname "$0")/.." || exit 1
bad=0

number()
{
	sed -n "s/^#define $1[[:space:]]*\([0-9]*\).*/\1/p" collector/format/stream_file.h
}

major=$(number GPROF_FORMAT_MAJOR)
minor=$(number GPROF_FORMAT_MINOR)
grep -q "^Version $major\.$minor\." collector/format/FORMAT.md || {
	echo "stream_file.h says $major.$minor, FORMAT.md something else"
	bad=1
}
grep -qE "^\| *$major\.$minor *\|" collector/format/FORMAT.md || {
	echo "FORMAT.md's table of versions lacks $major.$minor"
	bad=1
}
ls test/golden/v"$major"/*.gprof >/dev/null 2>&1 || {
	echo "there are no golden streams of version $major"
	bad=1
}
# The headers of the format as they were when FORMAT.md and the golden streams were last brought into line with it. A
# change of the lists of tables and columns, of the headers or the enums needs all three.
have=$(cat collector/format/{format,codes,ring_file,stream_file}.h | grep -v '^#include' | ${CC:-gcc} -E -P -x c - | tr -d ' \t\n' | sha256sum | cut -c1-16)
want=$(cat test/golden/format.sum 2>/dev/null)
if [ "$have" != "$want" ]; then
	echo "a header of the format changed: bring FORMAT.md and test/golden into line, then write $have to test/golden/format.sum"
	bad=1
fi

# A key alone identifies a fact.
nr_keys=0
while IFS= read -r key; do
	nr_keys=$((nr_keys + 1))
	grep -qF "\`$key\`" collector/format/FORMAT.md || {
		echo "FORMAT.md lacks the info key $key"
		bad=1
	}
done < <(grep -hoE '(facts_add(_number)?|add(_path|_line)?)\("[a-z]+\.[a-z_]+"|\{"[a-z]+\.[a-z_]+",' collector/*.c collector/*/*.c | grep -oE '[a-z]+\.[a-z_]+')
[ $nr_keys -gt 0 ] || {
	echo "no info key was found in collector/"
	bad=1
}

# One of awk for all: a fork for each file took longer than all else here.
git ls-files -z '*.c' '*.h' '*.def' '*.sh' '*.mk' Makefile .ci/run | xargs -0 awk '
	FNR <= 2 && /SPDX-License-Identifier: Apache-2.0/ { has[FILENAME] = 1 }
	FNR == 2 { nextfile }
	END {
		for (i = 1; i < ARGC; i++) {
			if (!(ARGV[i] in has)) {
				print ARGV[i] ": no licence in the first two lines"
				bad = 1
			}
		}
		exit bad
	}' || bad=1

foreign=$(git ls-files | grep -E '\.(whl|deb|rpm|jar|zip|tar|tgz|[ao]|pyc)$|\.tar\.|\.so(\.|$)')
if [ -n "$foreign" ]; then
	echo "packages or binaries are tracked:"
	echo "$foreign"
	bad=1
fi

if command -v shellcheck >/dev/null; then
	shellcheck -x -S error test/*.sh test/integ/*.sh .ci/run || bad=1
fi

# As `make format` leaves them.
if [ "$(clang-format --version 2>/dev/null | grep -o 'version [0-9]*')" = "version 14" ]; then
	git ls-files '*.[ch]' | xargs clang-format --dry-run -Werror || bad=1
fi
exit $bad
