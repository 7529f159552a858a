#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A CPython of Debian's unstable, with the libraries that it needs, under build/python-debian: debian.sh MINOR prints its path.
# debian.txt names the packages and their sums. The mirror has only the newest ones, so later they must be named anew; then, and
# without a network, the exit status is 1, and stderr says why.
set -u
cd "$(dirname "$0")/../.." || exit 1
root=$PWD/${B:-build}/python-debian/$1 python=usr/bin/python3.$1 loader=usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2

give_up()
{
	rm -rf "$root"
	echo "$*" >&2
	exit 1
}

[ "$(uname -m)" = x86_64 ] || give_up "debian.txt has packages for x86-64 alone"
if [ ! -e "$root/done" ]; then
	command -v patchelf >/dev/null || give_up "no patchelf (Debian: apt-get install patchelf)"
	rm -rf "$root"
	mkdir -p "$root"
	while read -r sum path; do
		curl -sf -m 120 -o "$root/deb" "http://deb.debian.org/debian/$path" || give_up "Debian's mirror has no ${path##*/}: name newer packages in debian.txt"
		[ "$(sha256sum <"$root/deb")" = "$sum  -" ] || give_up "${path##*/} is not the one of debian.txt"
		dpkg-deb -x "$root/deb" "$root" || give_up "${path##*/} cannot be read"
	done < <(grep -E "python3\.$1|^[0-9a-f]+ pool/main/[^p]" test/python/debian.txt)
	patchelf --set-interpreter "$root/$loader" --set-rpath "$root/${loader%/*}" "$root/$python" || give_up "patchelf fails"
	rm -f "$root/deb"
	touch "$root/done"
fi
echo "$root/$python"
