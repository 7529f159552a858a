#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The same on versions from PyPI, in virtual environments (test/venvs.sh) under build/paddle.
#
#     test/paddle/versions.sh [VERSION...]        2.6.2 3.3.1; default: those already there
set -u
cd "$(dirname "$0")/../.." || exit 1
pythons=$(test/venvs.sh paddle paddlepaddle "$@") || exit
# shellcheck disable=SC2086 # a list
exec test/paddle/run.sh $pythons
