#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The same on versions from PyPI: makes a virtual environment for each under build/torch, then runs
# run.sh with it. They are large (800 MB to 3 GB each), so none is made unless it is asked for.
#
#     test/torch/versions.sh [VERSION...]        2.2.2 2.6.0 2.15.0; default: those already there
set -u
cd "$(dirname "$0")/../.." || exit 1
base=${B:-build}/torch
status=0

make_venv()
{
	python3 -m venv "$base/$1" &&
		"$base/$1/bin/pip" install -q --disable-pip-version-check "torch==$1" 'numpy<2' &&
		return 0
	rm -rf "${base:?}/$1"
	echo "torch $1 cannot be installed" >&2
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
	echo "SKIP no virtual environment in $base; test/torch/versions.sh VERSION makes one"
	exit 77
}
for version in "$@"; do
	test/torch/run.sh "$base/$version/bin/python" || status=1
done
exit $status
