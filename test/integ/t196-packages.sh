#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the packages and make install have in common: their names, and that each build gives the same bytes.
. "$(dirname "$0")/lib.sh"
need REPORT PLAIN
/usr/bin/python3 -c 'import wheel' 2>/dev/null && command -v dpkg-deb >/dev/null || skip "no python3-wheel or dpkg-dev"

make_package wheel >/dev/null && make_package deb >/dev/null || exit 1
mkdir "$T/installed"
ok make -s install DESTDIR="$T/installed/make" PREFIX=/usr >/dev/null
ok python3 -m zipfile -e "$T"/*.whl "$T/installed/wheel"
mv "$T/installed/wheel/"*.data "$T/installed/wheel/data"
ok dpkg-deb -x "$T"/*.deb "$T/installed/deb"
# binutils has a command gprof, its manual and its documents. The Python module is what a program imports.
is "installed/wheel/gprof" "$(cd "$T" && find installed -iname gprof -o -iname 'gprof.*' -not -name gprof.spdx.json | sort)" "files that are called gprof"
is "Name: gprof-profiler gprof-profiler" "$(grep -h ^Name: "$T/installed/wheel/"*.dist-info/METADATA) $(dpkg-deb -f "$T"/*.deb Package)" "names of the packages"
# All have the same commands, manual pages and completions.
names()
{
	(cd "$T/installed" && find "$@" -type f -o -type l) | sed 's,.*/,,; s/\.gz$//' | grep -vE '^gprof-report-mpi$' | sort
}
is "$(names make/usr/bin make/usr/share/man)" "$(names deb/usr/bin deb/usr/share/man)" "commands and manual of the Debian package"
is "$(names make/usr/bin make/usr/share/man)" "$(names wheel/data/scripts wheel/data/data/share/man)" "commands and manual of the wheel"
is "$(names make/usr/share/bash-completion make/usr/share/zsh make/usr/share/fish)" "$(names deb/usr/share/bash-completion deb/usr/share/zsh deb/usr/share/fish)" "completions of the Debian package"
is "$(names make/usr/share/bash-completion make/usr/share/zsh make/usr/share/fish)" "$(names wheel/data/data/share/bash-completion wheel/data/data/share/zsh wheel/data/data/share/fish)" "completions of the wheel"

# A second build in another folder, of another user's habits.
if [ -n "${PACKAGES:-}" ]; then
	mkdir "$T/elsewhere"
	git ls-files -z | xargs -0 cp -a --parents -t "$T/elsewhere"
	(cd "$T/elsewhere" && umask 077 && TZ=Asia/Shanghai LC_ALL=C.UTF-8 make -s -j2 wheel deb B=build) >"$T/out" 2>&1 || { tail -20 "$T/out"; failed=1; }
	is "" "$(cmp "$T"/*.whl "$T"/elsewhere/build/wheel/*.whl 2>&1)" "the wheel of a second build"
	is "" "$(cmp "$T"/*.deb "$T"/elsewhere/build/deb/*.deb 2>&1)" "the Debian package of a second build"
else
	echo "# PACKAGES=1 bash $0 compares a second build, which takes minutes"
fi
finish
