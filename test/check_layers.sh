#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Who may include whom. The tables of docs/internals.md are the rules: folders from the bottom to the top, what a
# component may include of another. What the linker joins keeps to the same order, by the objects in build/.
# usage: check_layers.sh [ROOT]; without ROOT it checks this project, and then that it refuses violations of each
# kind, planted in a copy.
set -u
cd "${1:-$(dirname "$0")/..}" || exit 1
B=${B:-build}
bad=0

refuse()
{
	echo "$*"
	bad=1
}

# Folders in their order, "folder" a line; components, "component header-or-folder..." a line.
folders=$(sed -nE 's/^\| `((report|collector|preload)(\/[a-z]+)*)` \|.*[A-Z].*/\1/p' docs/internals.md)
components=$(sed -n '/^| component /,/^$/p' docs/internals.md | grep '^| `' | tr -d '`|,')
files=$(find report collector preload -type f \( -name '*.[ch]' -o -name '*.def' \) | sort)

# "includer header" for each project header that a file includes.
# shellcheck disable=SC2086 # names without blanks
includes=$(grep -HoE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"[^"]+"' $files |
	sed -E 's/:[[:space:]]*#[[:space:]]*include[[:space:]]+"/ /; s/"$//')

# Each file lies in a folder of the tables, with at most 50 others.
while read -r count folder; do
	grep -qxF "$folder" <<<"$folders" || refuse "$folder/ has $count files, but docs/internals.md does not list it"
	[ "$count" -le 50 ] || refuse "$folder/ has $count files, more than 50"
done < <(sed 's#/[^/]*$##' <<<"$files" | sort | uniq -c)

# Includes go upwards in the table, and to other components only where that is allowed.
while IFS= read -r line; do
	refuse "$line"
done < <(awk '
	function folder(file) { sub("/[^/]*$", "", file); return file }
	function component(file) { sub("/.*", "", file); return file }
	FILENAME == ARGV[1] { place[$1] = NR; next }
	FILENAME == ARGV[2] { for (i = 2; i <= NF; i++) allowed[$1, $i] = 1; next }
	component($2) == "test" { print $1 ": includes " $2 ", but nobody includes test/"; next }
	component($2) !~ /^(report|collector|preload)$/ { next }
	component($1) == component($2) {
		if (place[folder($2)] > place[folder($1)])
			print $1 ": includes " $2 ", which is in a later folder"
		next
	}
	!((component($1), $2) in allowed) && !((component($1), folder($2)) in allowed) {
		print $1 ": includes " $2 ", which " component($1) "/ may not"
	}' <(echo "$folders") <(echo "$components") <(echo "$includes"))

# No include cycle but within a concept: the files of a folder whose names begin with the same word. Tarjan's algorithm
# finds the strongly connected components of modules (a header and its source).
while IFS= read -r line; do
	refuse "$line"
done < <(awk '
	function module(file) { sub(/\.[a-z]*$/, "", file); return file }
	function concept(file, at) { match(file, ".*/"); at = RLENGTH; return substr(file, 1, at) word(substr(file, at + 1)) }
	function word(name) { sub(/_.*/, "", name); return name }
	function visit(v, i, n, to, w) {
		seen[v] = low[v] = ++time; stack[++depth] = v; waits[v] = 1
		n = split(edges[v], to, " ")
		for (i = 1; i <= n; i++) {
			w = to[i]
			if (!(w in seen)) { visit(w); if (low[w] < low[v]) low[v] = low[w] }
			else if (waits[w] && seen[w] < low[v]) low[v] = seen[w]
		}
		if (low[v] == seen[v]) close_component(v)
	}
	function close_component(v, w, text, mixed) {
		do {
			w = stack[depth--]; waits[w] = 0; text = text " " w
			if (concept(w) != concept(v)) mixed = 1
		} while (w != v)
		if (mixed) print "an include cycle goes through" text
	}
	$2 ~ /^(report|collector|preload)\// && module($1) != module($2) { edges[module($1)] = edges[module($1)] " " module($2) }
	END { for (v in edges) all[v] = 1; for (v in all) if (!(v in seen)) visit(v) }
	' <<<"$includes")

# Declarations alone do not show who calls whom: a function or variable that a file uses is defined in its own folder or
# in one further up. The program's own functions that a hook stands for belong to nobody here.
objects=$(sed -n "s#\(.*\)\.c\$#$B/\1.o#p" <<<"$files" | while read -r object; do [ ! -e "$object" ] || echo "$object"; done)
if [ $# = 0 ] && { [ ! -e "$B/libgprof.so" ] || [ ! -e "$B/libgprof-report.a" ]; }; then
	refuse "what the linker joins was not checked: nothing is built in $B/"
fi
# What the libraries stand in for. A function with a version has another name in C.
hooks=$(for library in "$B/libgprof.so" "$B/libgprof-os.so"; do
	[ ! -e "$library" ] || nm -D --defined-only "$library" | sed -n 's/.* //; s/@.*//; p; s/^p[a-z]*_/os_&/p'
done)
while IFS= read -r line; do
	refuse "$line"
done < <(awk -v B="$B/" '
	function folder(file) { sub("/[^/]*$", "", file); return file }
	function component(file) { sub("/.*", "", file); return file }
	FILENAME == ARGV[1] { place[$1] = NR; next }
	FILENAME == ARGV[2] { hook[$1] = 1; next }
	{
		file = substr($1, length(B) + 1)
		sub(/\.o:.*/, "", file)
		if ($(NF - 1) ~ /^[TDBRCVW]$/ && component(file) != "report") recorder[$NF] = file
		if ($(NF - 1) ~ /^[TDBRCVW]$/ && component(file) != "preload") reporter[$NF] = file
		if ($(NF - 1) == "U" && !($NF in hook)) { user[++nr] = file; used[nr] = $NF }
	}
	END {
		for (i = 1; i <= nr; i++) {
			from = user[i]
			to = component(from) == "report" ? reporter[used[i]] : recorder[used[i]]
			if (to != "" && (component(from) == component(to) ? place[folder(to)] > place[folder(from)] : component(to) != "collector"))
				print from ": uses " used[i] " of " to ", which is in a later folder"
		}
	}' <(echo "$folders") <(echo "$hooks") <([ -z "$objects" ] || xargs nm -A -g <<<"$objects" 2>/dev/null))

# A function or variable that no other file uses is static. Others are also the files of test/, those of programs that are
# not built here, and assembly, which names what C declares.
while IFS= read -r line; do
	refuse "$line"
done < <(awk -v B="$B/" '
	FILENAME == ARGV[1] { used[$1] = 1; next }
	{
		file = substr($1, length(B) + 1)
		sub(/\.o:.*/, "", file)
		sub(/@.*/, "", $NF)
		if ($(NF - 1) == "U" || $(NF - 1) == "W") used[$NF] = 1
		else if ($(NF - 1) ~ /^[TDBR]$/) definer[$NF] = file
	}
	END { for (name in definer) if (!(name in used)) print definer[name] ": " name " could be static" }
	' <(
	echo main
	echo "$hooks"
	sed -nE 's/^TORCH_BEGIN\((\w+)\).*/\1/p; s/.*(\.globl|call|bl)[[:space:]]+(\w+).*/\2/p' $files
	find test -name '*.[ch]' -exec grep -ohE '\w+' {} + 2>/dev/null
	while read -r file; do
		[ -e "$B/${file%.c}.o" ] || grep -ohE '\w+' "$file"
	done < <(grep '\.c$' <<<"$files")
) <([ -z "$objects" ] || xargs nm -A -g <<<"$objects" 2>/dev/null))

# The headers that both sides compile stand alone.
if grep -E '^#include' collector/format/format.h | grep -vE '<std(int|def)\.h>|"collector/format/(codes|ring_file|stream_file)\.h"' ||
	grep -hE '^#include' collector/format/{codes,ring_file,stream_file}.h | grep -v '<stdint\.h>'; then
	refuse "collector/format/format.h may include <stdint.h>, <stddef.h>, codes.h, ring_file.h and stream_file.h only, and these <stdint.h>"
fi
[ $# = 0 ] || exit $bad

# planted KIND FILE LINE WANT: a copy in which FILE has that line, too, is refused with a text that has WANT.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
planted()
{
	rm -rf "${copy:?}"/*
	cp -r --parents docs/internals.md $files "$copy"
	mkdir -p "$copy/$(dirname "$2")"
	printf '%s\n' "$3" >>"$copy/$2"
	if bash test/check_layers.sh "$copy" >"$copy/out" || ! grep -q "$4" "$copy/out"; then
		refuse "not refused: $1"
	fi
}
planted "an include against the order" report/util/buf.c '#include "report/table/table.h"' 'report/util/buf.c: .* later folder'
planted "an include of another component" collector/util/log.c '#include "preload/hook/hook.h"' 'collector/util/log.c: .* may not'
planted "an include of a header that the reader may not see" report/util/buf.c '#include "collector/ring/ring.h"' 'report/util/buf.c: .* may not'
planted "an include of a test" report/cli/main.c '#include "test/prog/prog.h"' 'report/cli/main.c: .* nobody'
planted "a cycle between two concepts" report/util/buf.h '#include "report/util/text.h"' 'cycle .*report/util/buf'
# Two objects whose sources declare what they need themselves.
export B=$copy.build
mkdir -p "$B/report/util" "$B/report/table"
trap 'rm -rf "$copy" "$B"' EXIT
echo 'void planted_above(void); void planted_below(void); void planted_below(void) { planted_above(); }' |
	${CC:-gcc} -x c -c -o "$B/report/util/buf.o" -
echo 'void planted_above(void); void planted_above(void) {}' | ${CC:-gcc} -x c -c -o "$B/report/table/table.o" -
planted "a call against the order" report/util/buf.c '' 'report/util/buf: uses planted_above of report/table/table'
planted "a function that only its own file uses" report/util/buf.c '' 'report/util/buf: planted_below could be static'
planted "a folder that no table has" report/misc/misc.c '' 'report/misc/'
planted "a file beside the folders" report/misc.c '' '^report/ '
exit $bad
