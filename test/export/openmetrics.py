# SPDX-License-Identifier: Apache-2.0
"""Reads OpenMetrics by Prometheus's own parser, and compares it with the JSON of the same tables: openmetrics.py TEXT JSON"""
import json
import math
import re
import sys

from prometheus_client.openmetrics.parser import text_string_to_metric_families

UNITS = (("_ns", "_seconds", 1e-9), ("ratio_pct", "ratio", 1e-2), ("_pct", "_ratio", 1e-2), ("bytes_per_s", "bytes_per_second", 1), ("_per_s", "_per_second", 1), ("", "", 1))
with open(sys.argv[1], encoding="utf-8") as file:
    families = {family.name: family for family in text_string_to_metric_families(file.read())}
with open(sys.argv[2], encoding="utf-8") as file:
    tables = {name: table["rows"] for name, table in json.load(file).items() if isinstance(table, dict)}
bad = [f"{name} is no gauge" for name, family in families.items() if family.type != "gauge"]
bad += [f"{name} has its unit twice" for name in families if re.search(r"_(seconds|ratio|bytes)_\1$", name)]
nr = 0
for table, rows in tables.items():
    for key in rows[0] if rows else ():
        suffix, name, factor = next(unit for unit in UNITS if key.endswith(unit[0]))
        family = families.get(f"gprof_{table}_{key[:len(key) - len(suffix)]}{name}")
        if not family:
            continue
        want = sorted(row[key] * factor for row in rows if row[key] is not None)
        have = sorted(min(sample.value, 2.0**64) for sample in family.samples)  # JSON has no larger integers
        # JSON rounds ns and bytes to whole ones, and all else to three decimals.
        rounding = 1e-5 if suffix.endswith("_pct") else 1e-9 if suffix == "_ns" else 1 if "bytes" in key else 1e-3
        wrong = [pair for pair in zip(have, want) if not math.isclose(*pair, rel_tol=1e-6, abs_tol=rounding)]
        if wrong or len(want) != len(have):
            bad.append(f"{family.name}: {len(have)} and not {len(want)}: {wrong[:5]}")
        nr += len(have)
if not nr:
    bad.append("no samples")
print("\n".join(bad))
sys.exit(bool(bad))
