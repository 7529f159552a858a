#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the guides show comes from the program: README.md and docs/*.md must be as --write would make them.
# usage: test/check_docs.sh [--write]
#
#     <!-- variables -->         up to <!-- end -->: the table of `env --markdown`
#     <!-- budgets -->           up to <!-- end -->: the table of test/bench/cold/budgets
#     ```console dump=NAME,...   the output of each `$ ` line, with streams of test/golden/v1 in gprof-dump, without its
#                                first paragraph, which names the processes
#
# Every view has a section; its columns and what they count stand in `help VIEW` alone. Links between the documents lead somewhere. A translation, NAME.zh-CN.md, has the
# headings, commands, tables, names in `code` and links of the original, in their order; a link may lead to a translation.
# README and the guides for users of these profilers have one.
TRANSLATED="README docs/from-nsys docs/from-paddle docs/from-old-paddle docs/from-mindinsight docs/from-torch docs/from-nvprof"
set -u
root=$(realpath "$(dirname "$0")/..")
report=$(realpath "$root/${B:-build}/gprof-report")
golden=$root/test/golden/v1
cd "$root" || exit 1
[ -x "$report" ] || { echo "no $report: make builds it"; exit 1; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
bad=0

# One `$ ` line of an example, where the streams lie in gprof-dump.
example()
{
	local name
	rm -rf "$work/at"
	mkdir -p "$work/at/gprof-dump" "$work/bin"
	ln -sf "$report" "$work/bin/gprof-report"
	for name in ${1//,/ }; do
		case $name in
		stall*) cp "$golden/$name.gprof" "$work/at/gprof-dump/$name.gprof.part" ;; # of a process that did not end
		*) cp "$golden/$name.gprof" "$work/at/gprof-dump/" ;;
		esac
	done
	(cd "$work/at" && unset GPROF_DIR && PATH=$work/bin:$PATH bash -c "$2" 2>&1)
}

# The file as it should be.
made()
{
	local line dump="" is_made=0
	while IFS= read -r line; do
		case $line in
		'<!-- end -->' | '```') is_made=0 dump="" ;;
		esac
		if [ -n "$dump" ] && [ "${line#\$ }" != "$line" ]; then
			printf '%s\n' "$line"
			example "$dump" "${line#\$ }" | sed 's/ *$//' | sed '1,/^$/c\...' | sed '${/^$/d}'
			continue
		fi
		[ $is_made = 1 ] || [ -n "$dump" ] || printf '%s\n' "$line"
		case $line in
		'<!-- variables -->')
			"$report" env --markdown | sed -E '1,2d; s/ +\|/ |/g; s/-+ \|/--- |/g'
			is_made=1 ;;
		'<!-- budgets -->')
			printf '| gprof adds | at most |\n|---|---|\n'
			awk -F'\t+' '!/^#/ { split($0, words, " "); print "| " $3 " | " words[2] " |" }' test/bench/cold/budgets
			is_made=1 ;;
		'```console dump='*) dump=${line#*dump=} ;;
		esac
	done <"$1"
}

for file in README.md docs/*.md; do
	made "$file" >"$work/made"
	if [ "${1:-}" = --write ]; then
		cmp -s "$file" "$work/made" || { cp "$work/made" "$file" && echo "$file: written"; }
	elif ! diff -u "$file" "$work/made" >"$work/diff"; then
		echo "$file is not what the program prints; test/check_docs.sh --write brings it up to date"
		head -40 "$work/diff"
		bad=1
	fi
done

# Links between the documents lead to files and headings that exist.
text_of()
{
	sed '/^```/,/^```$/d' "$1"
}
anchors()
{
	text_of "$1" | sed -n 's/^##* //p' | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}
for file in README*.md CONTRIBUTING.md CHANGELOG.md docs/*.md test/README.md; do
	while IFS= read -r link; do
		to=$(dirname "$file")/${link%%#*}
		[ -n "${link%%#*}" ] || to=$file
		[ -e "$to" ] || { echo "$file: $link does not exist"; bad=1; continue; }
		[ "${link#*#}" = "$link" ] || anchors "$to" | grep -qx -- "${link#*#}" ||
			{ echo "$file: $link: $to has no such heading"; bad=1; }
	done < <(text_of "$file" | grep -oE '\]\([^)]+\)' | sed 's/^](//; s/)$//' | grep -v '^http')
done

# Its details belong into the guides.
[ "$(wc -l <README.md)" -le 120 ] || { echo "README.md has more than 120 lines"; bad=1; }

# What a translation leaves as it is. Comments of commands are left out, and output in README; a name may move within its
# paragraph.
skeleton()
{
	awk -v is_readme="$([[ $1 != README* ]] || echo 1)" '
		/^```/ { is_code = !is_code; print "```"; next }
		is_code && /^\$ / { sub(/ +#.*/, "") }
		is_code { if (!is_readme || /^\$ /) print; next }
		/^#/ { sub(/[^#].*/, ""); print; next }
		/^\|/ { print "| " gsub(/\|/, "") }
		{
			nr = 0
			while (match($0, /`[^`]*`|\]\([^)]*\)/)) {
				words[++nr] = substr($0, RSTART, RLENGTH)
				$0 = substr($0, RSTART + RLENGTH)
			}
			fflush()
			for (i = 1; i <= nr; i++) print words[i] | "sort"
			close("sort")
		}' "$1" | sed 's/\.zh-CN\.md/.md/'
}
for file in $TRANSLATED; do
	[ -e "$file.zh-CN.md" ] || { echo "$file.md has no translation"; bad=1; }
done
while IFS= read -r file; do
	diff <(skeleton "${file%.zh-CN.md}.md") <(skeleton "$file") >"$work/diff" ||
		{ echo "$file (>) does not go with the original (<):"; head -20 "$work/diff"; bad=1; }
done < <(find README.zh-CN.md docs -maxdepth 1 -name '*.zh-CN.md')

for view in $("$report" help summary | sed -n '/^Views/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do
	grep -qx "### $view" docs/*.md || { echo "no guide has the view $view"; bad=1; }
	"$report" help "$view" | grep -q '^Columns of the table' || { echo "help $view lists no columns"; bad=1; }
done
exit $bad
