#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# GPROF_TIMER_ONLY=1: steps and nothing else, and CUPTI is left alone.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

GPROF_TIMER_ONLY=1 record "$B/integ/s_loop" 6 5 call sleep=5
summary steps,api,kernel
is 7 "$(query '.steps.rows | length')" "steps"
is 0 "$(query '.api.rows | length')" "calls"
is 0 "$(query '.kernel.rows | length')" "kernels"
is true "$(query '[.steps.rows[] | select(.step > 0 and .duration_ns != null).duration_ns >= 5000000] | all')" "each step takes its 5 ms"
finish
