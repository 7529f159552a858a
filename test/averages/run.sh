#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The table of `--style torch` against PyTorch's own key_averages of the same run, in every PyTorch that is
# here and writes nanoseconds into traces (2.4 and later). Prints TAP. usage: test/averages/run.sh [PYTHON...]
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
T=$(mktemp -d "${TMPDIR:-/tmp}/gprof-averages-XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
n=0
bad=0

# shellcheck source=test/tap.sh
. test/tap.sh
[ $# != 0 ] || mapfile -t pythons < <(test/venvs.sh torch torch 2>/dev/null; echo /usr/bin/python3)
for python in "${@:-${pythons[@]}}"; do
	version=$("$python" -c 'import torch
assert tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 4)
print("torch", torch.__version__)' 2>/dev/null) || continue
	tap "$python" test/averages/averages.py "$B/gprof-report" "$T" "key_averages"
done
[ $n != 0 ] || {
	echo "SKIP no PyTorch of 2.4 or later; test/torch/versions.sh VERSION makes one"
	exit 77
}
exit $bad
