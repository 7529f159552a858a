#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The demo: the same losses with and without us, every launch has its kernel, kernels have times.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON PROGRAMS
export GPROF_STEP=nvtx:step
same demo "$BIN/shared/train"
check launches
whole demo
finish
