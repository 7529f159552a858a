#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: check_bounds.sh [ROOT]. Checks that "Bounds" in docs/internals.md or test/bounds_not.txt, the list of numbers that
# bound no data, has each fixed size of preload/ and collector/, and that sizes and tests named there exist. Without ROOT
# it checks this project, then plants violations of each kind in a copy and checks that it refuses them.
#
# A fixed size is a macro whose value has a number in it, an enumerator that is the size of an array, and an array of a
# file, a struct or a function's statics whose size is above 8, or a limit of the system, such as PATH_MAX.
set -u
cd "${1:-$(dirname "$0")/..}" || exit 1
bad=0

refuse()
{
	echo "$*"
	bad=1
}

files=$(find preload collector -type f -name '*.[ch]' ! -name '*_abi.h' ! -path 'preload/abi/*' | sort)

# "NAME FILE" for each fixed size. In the project's style a function's body lies between two braces at the left edge.
# shellcheck disable=SC2086 # names without blanks
found=$(awk '
	function plain(line) { # without strings and comments
		gsub(/\\./, "", line); gsub(/"[^"]*"/, "\"", line)
		if (is_comment) {
			if (!sub(/^.*\*\//, "", line)) return ""
			is_comment = 0
		}
		while (match(line, /\/\*/)) {
			start = RSTART
			end = index(substr(line, start), "*/")
			if (!end) { is_comment = 1; return substr(line, 1, start - 1) }
			line = substr(line, 1, start - 1) " " substr(line, start + end + 1)
		}
		sub(/\/\/.*/, "", line)
		return line
	}
	function has_number(text) { return text ~ /(^|[^A-Za-z0-9_])[0-9]/ }
	function macro(line, name) {
		if (!match(line, /^[ \t]*#[ \t]*define[ \t]+[A-Za-z_0-9]+[ \t]+/)) return
		name = substr(line, 1, RLENGTH); line = substr(line, RLENGTH + 1)
		sub(/[ \t]+$/, "", name); sub(/.*[ \t]/, "", name)
		defined[name]
		if (has_number(line) && line ~ /^[-A-Za-z0-9_ \t()+*\/%<>|&~]+$/) print name, FILENAME
	}
	function count(text, letter) { return split(text, parts, "[" letter "]") }
	# The sizes are in brackets behind the name: more than one, or also more than one name.
	function arrays(line, name, size, rest, before) {
		for (; match(line, /[A-Za-z_][A-Za-z_0-9]*(\[[^]]*\])+/); line = rest) {
			rest = substr(line, RSTART + RLENGTH)
			before = before substr(line, 1, RSTART - 1)
			if (count(before, "(") > count(before, ")") || count(rest, ")") > count(rest, "(")) continue # a parameter
			size = name = substr(line, RSTART, RLENGTH)
			sub(/\[.*/, "", name); sub(/^[^[]*/, "", size)
			array[++nr_arrays] = name " " FILENAME; sizes[nr_arrays] = size
		}
	}
	FNR == 1 { is_comment = is_body = is_enum = 0 }
	{ line = plain($0) }
	line ~ /^[ \t]*#/ { macro(line); next }
	line ~ /^extern / { next }
	line ~ /^\{/ { is_body = 1 }
	line ~ /^\}/ { is_body = is_enum = 0 }
	line ~ /enum[ a-z_]*\{/ { is_enum = 1 }
	is_enum {
		text = line
		while (match(text, /[A-Z][A-Z0-9_]+/)) {
			enumerator[substr(text, RSTART, RLENGTH)] = FILENAME
			text = substr(text, RSTART + RLENGTH)
		}
		if (line ~ /\}/) is_enum = 0
		next
	}
	(!is_body && line !~ /^[ \t]*[.[]/) || line ~ /^[ \t]+static / { sub(/=.*/, "", line); arrays(line) }
	END {
		for (i = 1; i <= nr_arrays; i++) {
			text = sizes[i]
			while (match(text, /[A-Z][A-Z0-9_]+/)) {
				name = substr(text, RSTART, RLENGTH)
				if (name in enumerator) print name, enumerator[name]
				else if (!(name in defined)) print array[i] # of the system
				text = substr(text, RSTART + RLENGTH)
			}
			text = sizes[i]
			while (match(text, /\[[^]]*[0-9][^]]*\]/)) {
				size = substr(text, RSTART + 1, RLENGTH - 2)
				if (size !~ /[A-Z]/ && size !~ /^[0-8]u?$/) print array[i]
				text = substr(text, RSTART + RLENGTH)
			}
		}
	}' $files | sort -u)

# A row of the table: names, the file, the value, what happens when it is reached, and tests.
rows=$(sed -n '/^## Bounds$/,/^## /p' docs/internals.md | grep -E '^\| `')
listed=$(awk -F'|' '{ n = split($2, name, "`"); split($3, file, "`"); for (i = 2; i <= n; i += 2) print name[i], file[2] }' <<<"$rows")
others=$(grep -v '^#' test/bounds_not.txt | awk '{ print $1, $2 }')

while read -r name file; do
	[ -z "$name" ] || refuse "$file: $name is neither in the table of bounds of docs/internals.md nor in test/bounds_not.txt"
done < <(comm -23 <(echo "$found") <(printf '%s\n' "$listed" "$others" | sort -u))
while read -r name file; do
	[ -z "$name" ] || refuse "docs/internals.md: the table of bounds has $name of $file, which is no fixed size"
done < <(comm -13 <(echo "$found") <(sort -u <<<"$listed"))
while read -r name file; do
	[ -z "$name" ] || refuse "test/bounds_not.txt: there is no $name in $file"
done < <(comm -13 <(echo "$found") <(sort -u <<<"$others"))
while read -r name file; do
	refuse "$file: $name is twice in the table of bounds and test/bounds_not.txt"
done < <(printf '%s\n' "$listed" "$others" | sort | uniq -d)
while read -r name; do
	compgen -G "test/*/$name" >/dev/null || compgen -G "test/*/${name}[-.]*" >/dev/null ||
		refuse "docs/internals.md: the table of bounds names test $name, which does not exist"
done < <(awk -F'|' '{ n = split($6, test, "`"); for (i = 2; i <= n; i += 2) print test[i] }' <<<"$rows" | sort -u)
[ $# = 0 ] || exit $bad

# planted KIND FILE LINE WANT: adds LINE to FILE in a copy, which must be refused with a text that contains WANT.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
# shellcheck disable=SC2086 # names without blanks
planted()
{
	rm -rf "${copy:?}"/*
	cp -r --parents docs/internals.md test/bounds_not.txt test/unit test/integ test/python test/fault $files "$copy"
	printf '%s\n' "$3" >>"$copy/$2"
	if bash test/check_bounds.sh "$copy" >"$copy/out" || ! grep -q "$4" "$copy/out"; then
		refuse "not refused: $1"
	fi
}
planted "a new macro" collector/util/pace.c '#define MAX_NEW 16u' 'pace.c: MAX_NEW '
planted "a new product" preload/hook/hook.h '#define NEW_BYTES (MAX_OLD * 4u) /* so many */' 'hook.h: NEW_BYTES '
planted "a new enumerator" collector/util/pace.c $'enum { ONE, NR_NEW };\nstatic int all[NR_NEW];' 'pace.c: NR_NEW '
planted "a new array" collector/util/pace.c 'static struct new all[4][16];' 'pace.c: all '
planted "a new path" collector/util/pace.c 'char new_path[PATH_MAX + 1];' 'pace.c: new_path '
planted "a number that is no more" test/bounds_not.txt 'NO_MORE collector/util/pace.c' 'no NO_MORE '
exit $bad
