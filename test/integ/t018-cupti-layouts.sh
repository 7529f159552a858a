#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The record layouts of three CUDA versions give the same tables.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

for layout in 11.8 12.4 13.0; do
	rm -rf "$GPROF_DIR"
	SIM_CUPTI=$layout record "$B/prog/vector_add"
	is 0 $rc "exit status with $layout"
	summary kernel,memcpy,memset,device
	query '[.kernel.rows[], .memcpy.rows[], .memset.rows[] | [.name, .calls, .total_bytes]] | sort' >"$T/rows.$layout"
	is "NVIDIA H200" "$(query '.device.rows[0].name')" "device with $layout"
	is 33 "$(query '.device.rows[0].events')" "events with $layout"
done
ok cmp "$T/rows.11.8" "$T/rows.13.0"
ok cmp "$T/rows.12.4" "$T/rows.13.0"
finish
