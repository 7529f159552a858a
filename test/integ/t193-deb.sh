#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make deb: a package without complaints of lintian, whose files work where it puts them.
. "$(dirname "$0")/lib.sh"
need SIM REPORT PLAIN JQ
command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null || skip "no dpkg-dev"
unset GPROF_FLUSH_MS

make_package deb || exit 1
DEB=$(echo "$T"/gprof-profiler_*.deb)
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
# What is linked in is in the bill of materials, with its licence.
doc=$root/usr/share/doc/gprof-profiler
is "libiberty-dev libjs-chart.js libjsmn-dev libzstd-dev uthash-dev" "$(jq -r '.packages[].name' "$doc/gprof-profiler.spdx.json" | grep -v gprof | sort | paste -sd' ')" "bill of materials"
for part in libiberty-dev libjs-chart.js libjsmn-dev libzstd-dev uthash-dev; do
	ok grep -q -- "^---- $part (" "$doc/copyright"
done
ok dpkg --root="$root" --force-not-root --force-depends --force-script-chrootless -P gprof-profiler >>"$T/dpkg" 2>&1
is 0 "$(find "$root/usr" -type f 2>/dev/null | wc -l)" "files that dpkg leaves"
finish
