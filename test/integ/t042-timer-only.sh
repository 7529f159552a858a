#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# GPROF_TIMER_ONLY=1: steps and nothing else, and CUPTI is left alone. GPROF_BATCH_SIZE makes them samples.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

GPROF_BATCH_SIZE=40 GPROF_TIMER_ONLY=1 record "$B/integ/s_loop" 6 5 call sleep=5
summary steps,api,kernel,benchmark
is 7 "$(query '.steps.rows | length')" "steps"
is 0 "$(query '.api.rows | length')" "calls"
is 0 "$(query '.kernel.rows | length')" "kernels"
is true "$(query '[.steps.rows[] | select(.step > 0 and .duration_ns != null).duration_ns >= 5000000] | all')" "each step takes its 5 ms"
is 40 "$(query '.benchmark.rows[0].batch_size')" "samples in a step"
is true "$(query '.benchmark.rows[0].ips_max | . > 1000 and . <= 8000')" "40 samples in 5 ms or a bit more"
finish
