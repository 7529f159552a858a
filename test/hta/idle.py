# SPDX-License-Identifier: Apache-2.0
"""idle.py TRACE TIMELINE: HolisticTraceAnalysis finds the same times in a trace and in the timeline made of it."""
import logging
import sys
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
from hta.trace_analysis import TraceAnalysis  # noqa: E402

found = [TraceAnalysis(trace_files={0: path}, trace_dir="/", include_last_profiler_step=True)
         .get_temporal_breakdown(visualize=False).iloc[0].to_dict() for path in sys.argv[1:]]
print(f"{'ok' if found[0] == found[1] else 'not ok'} - HTA: {found[0]} and {found[1]}")
sys.exit(found[0] != found[1])
