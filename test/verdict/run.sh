#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Is the first finding right, is no claim false, does no saving exceed its cause, is the time budget true, and do all views
# that print its parts print the same? Prints TAP.
#
#     test/verdict/run.sh [traces|planted [NAME...]|torch]
#
# traces:  those in the table expected.tsv of the folder $GPROF_VERDICT, made by an analysis of its own, and those of
#          cases.tsv, if they are in cases/traces beside that folder; views are also compared on those of $GPROF_TRACES.
#          They are not part of the project.
# planted: programs with one trouble each, in planted.tsv; views are also compared on the golden streams.
# torch:   the same by PyTorch on the CPU, in planted_torch.tsv; `whatif` predicts the programs without their troubles.
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
export PYTHONDONTWRITEBYTECODE=1

skip()
{
	echo "SKIP $1"
	exit 77
}

# judge TABLE FOLDER: its findings and budgets. The reference takes long for large files, so `make test` has the small.
judge()
{
	local file most=999999 files=()
	[ "${TEST_TIER:-all}" = all ] || most=100
	python3 test/verdict/verdict.py "$B/gprof-report" "$1" "$2" || failed=1
	while IFS= read -r file; do
		[ "$(du -ks "$2/$file" | cut -f 1)" -gt $most ] || files+=("$2/$file")
	done < <(tail -n +2 "$1" | cut -f 1)
	python3 test/verdict/budgets.py "$B/gprof-report" "${files[@]}" || failed=1
	mapfile -t files < <(tail -n +2 "$1" | cut -f 1)
	python3 test/verdict/same.py "$B/gprof-report" "${files[@]/#/$2/}" || failed=1
}

command -v python3 >/dev/null || skip "no python3"
[ "${1:-traces}" != planted ] || exec bash test/verdict/planted.sh "${@:2}"
[ "${1:-traces}" != torch ] || exec bash test/verdict/planted_torch.sh
[ -n "${GPROF_VERDICT:-}" ] || skip "GPROF_VERDICT names no folder of recordings"
[ -f "$GPROF_VERDICT/expected.tsv" ] || skip "no expected.tsv in GPROF_VERDICT"
${MAKE:-make} -s --no-print-directory "$B/gprof-report" || exit 1
failed=0
judge "$GPROF_VERDICT/expected.tsv" "$GPROF_VERDICT"
[ ! -d "$GPROF_VERDICT/../cases/traces" ] || judge test/verdict/cases.tsv "$GPROF_VERDICT/../cases/traces"
if [ -d "${GPROF_TRACES:-}" ]; then
	mapfile -t files < <(find "$GPROF_TRACES" -mindepth 1 -maxdepth 1 \( -type d -o -name '*.gz' \) | sort)
	python3 test/verdict/same.py "$B/gprof-report" "${files[@]}" || failed=1
	# Findings of these name operators of gaps, launches and communication.
	mapfile -t files < <(find "$GPROF_TRACES" -name 'qwen_h100.json.gz' -o -name 'overlap_a100_8ranks_rank3.json.gz')
	[ "${TEST_TIER:-all}" != all ] || [ ${#files[@]} = 0 ] || python3 test/verdict/budgets.py "$B/gprof-report" "${files[@]}" || failed=1
fi
exit $failed
