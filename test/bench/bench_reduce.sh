#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bench_reduce.sh BUILD: what it costs to reduce the streams of a job, and to put summaries together;
# by ranks, to see what grows with them. RANKS=N is the largest job (1,024; 450 MB in $TMPDIR), each rank with
# 50 steps. RUNS=N: the best of so many.
B=$1
ranks=${RANKS:-1024}
runs=${RUNS:-1}
events=150000 # 50 steps and some
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# cost RANKS LABEL COMMAND...: a million events are 6.7 ranks
cost()
{
	nr=$1
	shift
	"$B/bench/run_cost" "$runs" $((nr * events)) "$@" || exit 1
}

mkdir "$work/all" "$work/parts"
rank=0
while [ "$rank" -lt "$ranks" ]; do
	"$B/gen_stream" "$work/all/$rank.gprof" model $events $rank "$ranks" || exit 1
	rank=$((rank + 1))
done
echo "$ranks ranks, $(($(du -sk "$work/all" | cut -f1) / 1024)) MB of streams, $(nproc) CPUs"
for nr in $((ranks / 16)) $((ranks / 4)) "$ranks"; do
	mkdir "$work/$nr"
	rank=0
	while [ "$rank" -lt "$nr" ]; do
		ln "$work/all/$rank.gprof" "$work/$nr/"
		rank=$((rank + 1))
	done
	cost "$nr" "reduce $nr ranks, one process" "$B/gprof-report" reduce -j 1 -o "$work/$nr.sum" "$work/$nr"
	echo "$(($(stat -c %s "$work/$nr.sum") / nr)) bytes a rank"
done
cost "$ranks" "reduce $ranks ranks, a process a core" "$B/gprof-report" reduce -o "$work/jobs.sum" "$work/all"
cmp "$work/jobs.sum" "$work/$ranks.sum" || exit 1
if command -v mpirun >/dev/null && [ -x "$B/gprof-report-mpi" ]; then
	for nr in 1 2; do
		cost "$ranks" "reduce $ranks ranks, $nr of MPI" mpirun --oversubscribe -n $nr \
			"$B/gprof-report-mpi" reduce -o "$work/mpi.sum" "$work/all"
		cmp "$work/mpi.sum" "$work/$ranks.sum" || exit 1
	done
else
	echo "SKIP reduce with MPI: gprof-report-mpi is not built (make mpi)"
fi
# Summaries of 16 ranks each, as of nodes.
part=0
while [ $((part * 16)) -lt "$ranks" ]; do
	set --
	rank=$((part * 16))
	while [ "$rank" -lt $((part * 16 + 16)) ]; do
		set -- "$@" "$work/all/$rank.gprof"
		rank=$((rank + 1))
	done
	"$B/gprof-report" reduce -o "$work/parts/$part.sum" "$@" || exit 1
	part=$((part + 1))
done
cost "$ranks" "merge $part summaries of 16 ranks" "$B/gprof-report" reduce -j 1 -o "$work/merged.sum" "$work"/parts/*.sum
cmp "$work/merged.sum" "$work/$ranks.sum" || exit 1
cost "$ranks" "show the summary" "$B/gprof-report" "$work/merged.sum"
