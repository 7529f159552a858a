/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls count what they return, storage counts whole pages, what the kernel reads ahead, and pages
 * of mapped files, which no call reads. So storage may have more than calls do.
 */
#include "report/verdict/storage_reads.h"

#include "report/budget/placement.h"

/* Less is what every program reads of its own files. */
#define MIN_BYTES      (16u << 20)
#define MIN_MISSES_PCT 50u

void storage_reads_add(struct storage_reads *reads, struct process *process)
{
	const struct placement placement = placement_of(process);

	if (placement.has_reads) {
		reads->bytes += placement.read_bytes;
		reads->storage_bytes += placement.storage_bytes;
		reads->ns = placement.read_ns > reads->ns ? placement.read_ns : reads->ns;
	}
}

struct storage_reads storage_reads_of_loops(const struct headline *headline)
{
	struct storage_reads reads = {0};

	for (size_t i = 0; i < headline->nr_processes; i++) {
		if (headline->processes[i].is_main) {
			storage_reads_add(&reads, headline->processes[i].process);
		}
	}
	return reads;
}

bool storage_reads_miss(const struct storage_reads *reads)
{
	return reads->storage_bytes >= MIN_BYTES && reads->ns &&
	       100 * (double)reads->storage_bytes >= MIN_MISSES_PCT * (double)reads->bytes;
}

void storage_reads_add_text(const struct storage_reads *reads, const char *who, struct buf *out)
{
	if (!storage_reads_miss(reads)) {
		return;
	}
	buf_printf(out, "%sstorage delivers %.1f MB (%.1f MB/s)", out->nr_bytes ? "; " : "",
		(double)reads->storage_bytes / 1e6,
		(double)reads->storage_bytes * 1e3 / (double)reads->ns);
	if (reads->bytes > reads->storage_bytes) {
		buf_printf(out, " of the %.1f MB that %s", (double)reads->bytes / 1e6, who);
	} else {
		buf_printf(out, " of what %s", who);
	}
}
