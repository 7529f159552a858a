#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Virtual environments with a framework of PyPI, one a version, under build/NAME. They are large
# (700 MB to 3 GB each), so only those are made that are asked for. Prints the Pythons of the versions, or
# of all that are there; 77 if there is none.
#
#     test/venvs.sh NAME PACKAGE [VERSION...]
set -u
cd "$(dirname "$0")/.." || exit 1
name=$1 package=$2 base=${B:-build}/$1
shift 2

make_venv()
{
	python3 -m venv --without-pip "$base/$1" &&
		python3 -m pip --python "$base/$1/bin/python" install -q --no-compile --disable-pip-version-check "$package==$1" 'numpy<2' setuptools >&2 &&
		return 0
	rm -rf "${base:?}/$1"
	echo "$package $1 cannot be installed" >&2
	return 1
}

for version in "$@"; do
	[ -x "$base/$version/bin/python" ] || make_venv "$version" || exit 1
	echo "$base/$version/bin/python"
done
[ $# = 0 ] || exit 0
for python in "$base"/*/bin/python; do
	[ ! -x "$python" ] || { echo "$python" && found=1; }
done
[ -n "${found:-}" ] || {
	echo "SKIP no virtual environment in $base; test/$name/versions.sh VERSION makes one" >&2
	exit 77
}
