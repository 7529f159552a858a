#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The same on versions from PyPI: makes a virtual environment for each under build/paddle, then runs run.sh with it.
# They are large (700 MB each), so none is made unless it is asked for.
#
#     test/paddle/versions.sh [VERSION...]        2.6.2 3.3.1; default: those already there
set -u
cd "$(dirname "$0")/../.." || exit 1
base=${B:-build}/paddle
pythons=()

make_venv()
{
	python3 -m venv "$base/$1" &&
		"$base/$1/bin/pip" install -q --disable-pip-version-check "paddlepaddle==$1" 'numpy<2' setuptools &&
		return 0
	rm -rf "${base:?}/$1"
	echo "paddlepaddle $1 cannot be installed" >&2
	return 1
}

for version in "$@"; do
	[ -x "$base/$version/bin/python" ] || make_venv "$version" || exit 1
done
[ $# != 0 ] || {
	for python in "$base"/*/bin/python; do
		[ ! -x "$python" ] || set -- "$@" "$(basename "${python%/bin/python}")"
	done
}
[ $# != 0 ] || {
	echo "SKIP no virtual environment in $base; test/paddle/versions.sh VERSION makes one"
	exit 77
}
for version in "$@"; do
	pythons+=("$base/$version/bin/python")
done
exec test/paddle/run.sh "${pythons[@]}"
