#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tables of random traces, against slow and plain computations of the same. Prints TAP.
#
#     test/oracle/run.sh [NUMBER-OF-TRACES]
set -u
cd "$(dirname "$0")/../.." || exit 1
command -v python3 >/dev/null || { echo "SKIP no python3"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/gprof-oracle-XXXXXX")
trap 'rm -rf "$work"' EXIT
PYTHONDONTWRITEBYTECODE=1 python3 test/oracle/check.py "${B:-build}/gprof-report" "$work" "${1:-12}"
