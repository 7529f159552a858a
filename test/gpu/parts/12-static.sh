#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The same programs with the runtime inside of them: no hook is called, CUPTI's callbacks record.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON PROGRAMS
only_real "the simulator has no driver for a real runtime"
for program in vector_add overlap per_thread threads train; do
	same "static $program" "$BIN/static/$program"
	check callbacks
	check launches
	whole $program
done
finish
