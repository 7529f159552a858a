#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make deb: a package without complaints of lintian, whose files work where it puts them.
. "$(dirname "$0")/lib.sh"
need SIM REPORT PLAIN JQ
command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null || skip "no dpkg-dev"
unset GPROF_FLUSH_MS

ok make -s deb
DEB=$(echo "$B"/deb/gprof-profiler_*.deb)
# Two builds give the same bytes, whatever the time.
if [ "${TEST_TIER:-all}" = all ]; then
	cp "$DEB" "$T/first.deb"
	ok make -s deb
	is "" "$(cmp "$T/first.deb" "$DEB" 2>&1)" "a second build"
fi
if [ "${TEST_TIER:-all}" = all ] && command -v lintian >/dev/null; then
	is "" "$(lintian --allow-root "$DEB" 2>&1)" "what lintian finds"
fi

# Installed by dpkg into a root of its own, whose package database says that what it depends on is there.
depends=$(dpkg-deb -f "$DEB" Depends)
is "" "$(tr ',' '\n' <<<"$depends" | sed 's/^ *//; s/ .*//' | xargs dpkg-query -W -f '${Package} ${Status}\n' | grep -v 'ok installed')" "dependencies that Debian does not have"
root=$T/root
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/triggers"
: >"$root/var/lib/dpkg/status"
ok dpkg --root="$root" --force-not-root --force-depends --force-script-chrootless -i "$DEB" >"$T/dpkg" 2>&1
export -n GPROF_DIR
cd "$T" || exit 1
LD_LIBRARY_PATH=$SIM "$root/usr/bin/gprof-record" "$ROOT/$B/integ/s_loop" 4 3 >out 2>err
is 0 $? "gprof-record of the package"
is 12 "$("$root/usr/bin/gprof-report" --view kernel --format json 2>/dev/null | jq '[.kernel.rows[].calls] | add')" "kernels of gprof-report of the package"
ok test -e "$root/usr/share/man/man1/gprof-report-summary.1.gz"
ok dpkg --root="$root" --force-not-root --force-depends --force-script-chrootless -P gprof-profiler >>"$T/dpkg" 2>&1
is 0 "$(find "$root/usr" -type f 2>/dev/null | wc -l)" "files that dpkg leaves"
finish
