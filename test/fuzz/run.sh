#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the fuzz targets over their corpus and over changed copies of it; see fuzz.mk.
cd "$(dirname "$0")/../.." || exit 1
exec ${MAKE:-make} --no-print-directory fuzz-check
