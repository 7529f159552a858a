#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copies on several streams: every one has its record with its bytes and its stream.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON PROGRAMS
same streams "$BIN/shared/vector_add"
check copies
same threads "$BIN/shared/threads"
check copies
finish
