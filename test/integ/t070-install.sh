#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make install puts things where they are found, and make uninstall removes them.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

case $B in *san-*) skip "once is enough" ;; esac
ok make -s install DESTDIR="$T/root" PREFIX=/usr >"$T/out" 2>&1
for file in lib/libgprof.so bin/gprof-report bin/gprof-record share/man/man1/gprof-report.1 \
	share/bash-completion/completions/gprof-report share/bash-completion/completions/gprof-record share/zsh/site-functions/_gprof-report \
	share/fish/vendor_completions.d/gprof-report.fish share/fish/vendor_completions.d/gprof-record.fish; do
	[ -e "$T/root/usr/$file" ] || { echo "$file is not installed"; failed=1; }
done
[ ! -e "$B/gprof-report-mpi" ] || [ -e "$T/root/usr/bin/gprof-report-mpi" ] || { echo "gprof-report-mpi is not installed"; failed=1; }
LD_LIBRARY_PATH=$SIM LD_PRELOAD=$T/root/usr/lib/libgprof.so "$B/integ/s_loop" 2 5 >/dev/null 2>"$T/err"
ok "$T/root/usr/bin/gprof-report" "$GPROF_DIR" >"$T/out"
man=$T/root/usr/share/man/man1
for command in $("$B/gprof-report" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
	[ -e "$man/gprof-report-$command.1" ] || { echo "gprof-report $command has no manual page"; failed=1; }
	is "$("$B/gprof-report" help "$command" | grep -c '^  -')" "$(grep -A1 '^\.TP' "$man/gprof-report-$command.1" | grep -c '^.fB\\-')" "options in the manual of $command"
done
is "$("$B/gprof-record" --help | grep -c '^  -')" "$(grep -A1 '^\.TP' "$man/gprof-record.1" | grep -c '^.fB\\-')" "options in the manual of gprof-record"
for page in "$ROOT"/docs/man/*.1.md; do
	[ -e "$man/$(basename "$page" .md)" ] || { echo "$page is not installed"; failed=1; }
done
for guide in "$ROOT"/docs/*.md; do
	ok cmp "$guide" "$T/root/usr/share/doc/gprof-profiler/$(basename "$guide")"
done
page=$man/gprof-report-summary.1
for view in $("$B/gprof-report" help summary | sed -n '/^Views/,$s/^  \([a-z-]*\) .*/\1/p' | sed 's/-/\\\\-/g'); do
	is 1 "$(grep -c "\\\\fB$view\\\\fP" "$page" | sed 's/[1-9].*/1/')" "$view in the manual"
done
is 1 "$(grep -c '^.fBGPROF_HANG_TIMEOUT_S' "$man/gprof-report-env.1")" "a variable in the manual"
for page in "$man"/*.1; do
	command -v groff >/dev/null && is "" "$(groff -man -Tascii -ww "$page" 2>&1 >/dev/null)" "warnings about $page"
done
# gprof-record finds the library that was installed with it.
rm -rf "$GPROF_DIR"
LD_LIBRARY_PATH=$SIM "$T/root/usr/bin/gprof-record" "$B/integ/s_loop" 2 5 >/dev/null 2>"$T/err"
is 1 "$(ls "$GPROF_DIR"/*.gprof | wc -l)" "streams by gprof-record"
# The bare name, as where the loader looks by itself.
rm -rf "$GPROF_DIR"
LD_LIBRARY_PATH=$T/root/usr/lib:$SIM LD_PRELOAD=libgprof.so "$B/integ/s_loop" 2 5 >/dev/null 2>"$T/err"
is 1 "$(ls "$GPROF_DIR"/*.gprof | wc -l)" "streams by the bare name"
ok make -s uninstall DESTDIR="$T/root" PREFIX=/usr >"$T/out" 2>&1
is 0 "$(find "$T/root" -not -type d | wc -l)" "files left after uninstall"
finish
