#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The same on versions from PyPI, in virtual environments (test/venvs.sh) under build/torch.
#
#     test/torch/versions.sh [VERSION...]        2.2.2 2.6.0 2.15.0; default: those already there
set -u
cd "$(dirname "$0")/../.." || exit 1
pythons=$(test/venvs.sh torch torch "$@") || exit
status=0
for python in $pythons; do
	test/torch/run.sh "$python" || status=1
done
exit $status
