#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each program with the runtime as a library prints what it prints without us; launches and kernels agree.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON PROGRAMS
for program in vector_add copies errors graphs overlap per_thread shared_memory threads; do
	same $program "$BIN/shared/$program"
	whole $program
	# Those without kernels outside of graphs are left out.
	case $program in copies | errors | graphs | shared_memory) ;; *) check launches ;; esac
done
finish
