/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file that `reduce` writes. Numbers are packed as in pack.h; fixed ones are little-endian:
 *
 *     "GPROFSUM", the version (32 bits), the number of bytes of the body (64 bits)
 *     the number of rows; rows by view, name and kind, each: view, kind, name, sketch of times,
 *         failed, untimed, sums, number of processes, least and most (ns, rank, "host:pid"),
 *         sketch of the times of processes
 *     the number of processes; processes by rank, host, pid, start and stream id, each: number of
 *         bytes, bytes
 *     CRC-32 of everything before it (32 bits)
 *
 * Rows and processes are unique.
 *
 * Version 1 has no sketches of processes, no rows of communication and no facts of processes; these
 * are unknown. Version 2 has no time budget of processes. Version 3 has no launches and no garbage
 * collection, and divides idle time also where many of these lack their activity. Version 4 does
 * not know of waits for Python's lock, version 5 not of compilations, and version 6 divides no
 * communication. The reader refuses versions after its own.
 */
#include "report/reduce/reduced.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "report/stream/dumpdir.h"
#include "report/util/err.h"
#include "report/util/string_pool.h"
#include "report/util/files.h"
#include "report/util/sort.h"

#define MAGIC DUMPDIR_SUMMARY_MAGIC

enum {
	MAGIC_BYTES = DUMPDIR_SUMMARY_MAGIC_BYTES,
	HEAD_BYTES = MAGIC_BYTES + 4 + 8,
	TAIL_BYTES = 4
};

/* ---- a process ---- */

static void pack_name(struct buf *out, uint32_t name)
{
	size_t nr_bytes;
	const char *text = string_pool_text(name, &nr_bytes);

	pack_text(out, text, nr_bytes);
}

static uint32_t unpack_name(struct unpack *from)
{
	size_t nr_bytes;
	const char *text = unpack_text(from, &nr_bytes);

	return string_pool_intern(text, nr_bytes);
}

/* A bit for each value says whether it is known; the known ones follow. */
static void pack_known(struct buf *out, const uint64_t *values, unsigned int nr)
{
	uint64_t known = 0;

	for (unsigned int i = 0; i < nr; i++) {
		known |= values[i] != UINT64_MAX ? 1ull << i : 0;
	}
	pack_uint(out, known);
	for (unsigned int i = 0; i < nr; i++) {
		if (known >> i & 1) {
			pack_uint(out, values[i]);
		}
	}
}

void reduced_pack_process(const struct reduced_process *process, struct buf *out)
{
	uint64_t before = 0;

	pack_int(out, process->rank);
	pack_int(out, process->world);
	pack_name(out, process->host);
	pack_uint(out, process->pid);
	pack_uint(out, process->start_ns);
	pack_uint(out, process->stream_id);
	pack_name(out, process->command);
	pack_uint(out, process->duration_ns);
	pack_uint(out, process->nr_events);
	pack_uint(out, process->missing);
	pack_uint(out, process->state);
	pack_uint(out, process->has_no_devices);
	pack_known(out, process->facts, NR_REDUCED_FACTS);
	pack_uint(out, process->nr_steps);
	for (size_t i = 0; i < process->nr_steps; i++) {
		pack_int(out, (int64_t)(process->steps[i].step - before));
		pack_known(out, process->steps[i].ns, NR_REDUCED_TIMES);
		before = process->steps[i].step;
	}
}

static void unpack_known(struct unpack *from, uint64_t *values, unsigned int nr)
{
	uint64_t known = unpack_uint(from);

	from->is_bad |= known >> nr != 0;
	for (unsigned int i = 0; i < nr; i++) {
		values[i] = known >> i & 1 ? unpack_uint(from) : UINT64_MAX;
	}
}

bool reduced_unpack_process(
	struct reduced_process *process, struct unpack *from, unsigned int version)
{
	static const unsigned int nr_facts[REDUCED_VERSION + 1] = {[2] = REDUCED_PARTS,
		[3] = NR_REDUCED_FACTS_3,
		[4] = NR_REDUCED_FACTS_4,
		[5] = NR_REDUCED_FACTS_5,
		[6] = NR_REDUCED_FACTS_6,
		[7] = NR_REDUCED_FACTS};
	uint64_t before = 0, pid, state;

	*process = (struct reduced_process){.rank = unpack_int(from)};
	process->world = unpack_int(from);
	process->host = unpack_name(from);
	pid = unpack_uint(from);
	process->pid = (uint32_t)pid;
	process->start_ns = unpack_uint(from);
	process->stream_id = unpack_uint(from);
	process->command = unpack_name(from);
	process->duration_ns = unpack_uint(from);
	process->nr_events = unpack_uint(from);
	process->missing = unpack_uint(from);
	state = unpack_uint(from);
	process->state = (uint8_t)state;
	process->has_no_devices = unpack_uint(from) != 0;
	memset(process->facts, 0xff, sizeof(process->facts)); /* unknown */
	if (version > 1) {
		unpack_known(from, process->facts, nr_facts[version]);
	}
	process->nr_steps = unpack_count(from);
	process->steps = mem_zeroed(process->nr_steps, sizeof(*process->steps));
	for (size_t i = 0; i < process->nr_steps; i++) {
		before += (uint64_t)unpack_int(from);
		process->steps[i].step = before;
		unpack_known(from, process->steps[i].ns, NR_REDUCED_TIMES);
	}
	return !from->is_bad && pid <= UINT32_MAX && state < NR_REDUCED_STATES;
}

/* ---- writing ---- */

static int compare_rows(const void *a, const void *b)
{
	const struct reduced_row *x = *(struct reduced_row *const *)a;
	const struct reduced_row *y = *(struct reduced_row *const *)b;
	size_t nr_x, nr_y;
	const char *name_x = string_pool_text(x->key.name, &nr_x),
		   *name_y = string_pool_text(y->key.name, &nr_y);
	int order = COMPARE(x->key.view, y->key.view);

	order = order ? order : memcmp(name_x, name_y, nr_x < nr_y ? nr_x : nr_y);
	order = order ? order : COMPARE(nr_x, nr_y);
	return order ? order : COMPARE(x->key.kind, y->key.kind);
}

static void pack_extreme(struct buf *out, const struct reduced_extreme *extreme)
{
	pack_uint(out, extreme->ns);
	pack_int(out, extreme->who.rank);
	pack_name(out, extreme->who.name);
}

static void pack_row(struct buf *out, const struct reduced_row *row)
{
	pack_uint(out, row->key.view);
	pack_uint(out, row->key.kind);
	pack_name(out, row->key.name);
	sketch_pack(&row->times, out);
	pack_uint(out, row->failed);
	pack_uint(out, row->untimed);
	for (unsigned int i = 0; i < VIEW_MERGE_SUMS; i++) {
		pack_uint(out, row->sums[i]);
	}
	pack_uint(out, row->nr_processes);
	pack_extreme(out, &row->least);
	pack_extreme(out, &row->most);
	sketch_pack(&row->of_processes, out);
}

/*
 * A hash table has rows in the order in which they came. Sorted by name, they are the same in every
 * file of the same streams; numbers of names would depend on the order of reading, too.
 */
static void pack_rows(struct reduced *reduced, struct buf *out)
{
	size_t nr = HASH_COUNT(reduced->rows), i = 0;
	struct reduced_row **rows = mem_zeroed(nr, sizeof(struct reduced_row *));

	for (struct reduced_row *row = reduced->rows; row; row = row->hh.next) {
		rows[i++] = row;
	}
	if (nr) {
		qsort(rows, nr, sizeof(struct reduced_row *), compare_rows);
	}
	pack_uint(out, nr);
	for (i = 0; i < nr; i++) {
		pack_row(out, rows[i]);
	}
	free(rows);
}

static void add_fixed(struct buf *out, uint64_t value, unsigned int nr_bytes)
{
	for (unsigned int i = 0; i < nr_bytes; i++) {
		buf_char(out, (char)(value >> 8 * i));
	}
}

static uint32_t checksum(uint32_t crc, const char *bytes, size_t nr_bytes)
{
	return (uint32_t)crc32_z(crc, (const Bytef *)bytes, nr_bytes);
}

/* Moves a part to the output. Returns the checksum so far. */
static uint32_t move(struct buf *out, struct buf *part, uint32_t crc)
{
	crc = checksum(crc, part->bytes, part->nr_bytes);
	buf_add(out, part->bytes, part->nr_bytes);
	buf_flush_if_large(out);
	part->nr_bytes = 0;
	return crc;
}

/*
 * The head has the length of the body. Thus the lengths are added up first; then the processes,
 * most of a large file, go out one by one and are never there twice.
 */
void reduced_write(struct reduced *reduced, struct buf *out)
{
	struct buf rows = {0}, part = {0};
	uint64_t nr_bytes;
	uint32_t crc = 0;

	reduced_sort(reduced);
	pack_rows(reduced, &rows);
	pack_uint(&rows, reduced->nr_processes);
	nr_bytes = rows.nr_bytes;
	for (size_t i = 0; i < reduced->nr_processes; i++) {
		pack_uint(&part, reduced->processes[i].nr_bytes);
		nr_bytes += part.nr_bytes + reduced->processes[i].nr_bytes;
		part.nr_bytes = 0;
	}
	buf_add(&part, MAGIC, MAGIC_BYTES);
	add_fixed(&part, REDUCED_VERSION, 4);
	add_fixed(&part, nr_bytes, 8);
	crc = move(out, &part, crc);
	crc = move(out, &rows, crc);
	for (size_t i = 0; i < reduced->nr_processes; i++) {
		pack_text(&part, reduced->processes[i].bytes, reduced->processes[i].nr_bytes);
		crc = move(out, &part, crc);
	}
	add_fixed(out, crc, TAIL_BYTES);
	buf_fini(&rows);
	buf_fini(&part);
}

/* ---- reading ---- */

static uint64_t get_fixed(const char *bytes, unsigned int nr_bytes)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < nr_bytes; i++) {
		value |= (uint64_t)(unsigned char)bytes[i] << 8 * i;
	}
	return value;
}

static void unpack_extreme(struct unpack *from, struct reduced_extreme *extreme)
{
	extreme->ns = unpack_uint(from);
	extreme->who.rank = unpack_int(from);
	extreme->who.name = unpack_name(from);
}

static void unpack_row(struct reduced *reduced, struct unpack *from, unsigned int version)
{
	uint64_t view = unpack_uint(from), kind = unpack_uint(from);
	struct reduced_row *row;

	from->is_bad |= view >= NR_REDUCED_VIEWS || kind > UINT32_MAX;
	row = reduced_row(reduced, from->is_bad ? REDUCED_OPERATOR : (enum reduced_view)view,
		(uint32_t)kind, unpack_name(from));
	sketch_fini(&row->times);
	sketch_fini(&row->of_processes);
	sketch_unpack(&row->times, from);
	row->failed = unpack_uint(from);
	row->untimed = unpack_uint(from);
	for (unsigned int i = 0; i < VIEW_MERGE_SUMS; i++) {
		row->sums[i] = unpack_uint(from);
	}
	row->nr_processes = unpack_uint(from);
	unpack_extreme(from, &row->least);
	unpack_extreme(from, &row->most);
	if (version > 1) {
		sketch_unpack(&row->of_processes, from);
	}
}

/* In memory processes are packed as in the newest version. */
static void unpack_packed(struct reduced *reduced, struct unpack *from, unsigned int version)
{
	struct reduced_packed *packed = &reduced->processes[reduced->nr_processes++];
	struct buf ours = {0};
	size_t nr_bytes;
	const char *bytes = unpack_text(from, &nr_bytes);
	struct unpack within = {
		(const unsigned char *)bytes, (const unsigned char *)bytes + nr_bytes, false};

	from->is_bad |=
		!reduced_unpack_process(&packed->who, &within, version) || within.at != within.end;
	if (version == REDUCED_VERSION) {
		buf_add(&ours, bytes, nr_bytes);
	} else {
		reduced_pack_process(&packed->who, &ours);
	}
	packed->bytes = mem_resize(ours.bytes, ours.nr_bytes, 1);
	packed->nr_bytes = ours.nr_bytes;
	free(packed->who.steps);
	packed->who.steps = NULL;
	from->is_bad |=
		packed > reduced->processes && reduced_compare(&packed[-1].who, &packed->who) >= 0;
}

/*
 * A row that comes twice leaves fewer rows than the file says, and processes must rise: both show a
 * file that would count something twice.
 */
static int unpack_body(struct reduced *reduced, struct unpack *from, unsigned int version)
{
	size_t nr = unpack_count(from);

	for (size_t i = 0; i < nr && !from->is_bad; i++) {
		unpack_row(reduced, from, version);
	}
	from->is_bad |= HASH_COUNT(reduced->rows) != nr;
	nr = unpack_count(from);
	reduced->processes = mem_zeroed(nr, sizeof(*reduced->processes));
	reduced->capacity = nr;
	for (; nr && !from->is_bad; nr--) {
		unpack_packed(reduced, from, version);
	}
	if (from->is_bad || from->at != from->end) {
		reduced_fini(reduced);
		return err_set(-EINVAL, "the summary is corrupt: reduce its streams again");
	}
	return 0;
}

/*
 * The checks go from cheap to dear, and each has a message that says what to do. Behind the
 * checksum a file is as it was written, but not by whom: the body is checked all the same.
 */
int reduced_read_bytes(struct reduced *reduced, const char *bytes, size_t nr_bytes)
{
	struct unpack from = {(const unsigned char *)bytes + HEAD_BYTES, NULL, false};
	uint64_t version;

	*reduced = (struct reduced){0};
	if (nr_bytes < HEAD_BYTES + TAIL_BYTES || memcmp(bytes, MAGIC, MAGIC_BYTES) != 0) {
		return err_set(
			-EINVAL, "no summary of gprof-report reduce, or cut within its head");
	}
	version = get_fixed(bytes + MAGIC_BYTES, 4);
	if (!version || version > REDUCED_VERSION) {
		return err_set(-EINVAL,
			"a summary of version %llu, this program knows 1 to %u: reduce its streams "
			"again, or take a newer program",
			(unsigned long long)version, REDUCED_VERSION);
	}
	if (get_fixed(bytes + MAGIC_BYTES + 4, 8) != nr_bytes - HEAD_BYTES - TAIL_BYTES) {
		return err_set(-EINVAL,
			"the summary is truncated or has trailing bytes: reduce its streams again");
	}
	from.end = (const unsigned char *)bytes + nr_bytes - TAIL_BYTES;
	if (checksum(0, bytes, nr_bytes - TAIL_BYTES) !=
		get_fixed((const char *)from.end, TAIL_BYTES)) {
		return err_set(-EINVAL, "the summary is damaged: reduce its streams again");
	}
	return unpack_body(reduced, &from, (unsigned int)version);
}

int reduced_read(struct reduced *reduced, const char *path)
{
	struct buf bytes = {0};
	uint64_t nr_bytes;
	ssize_t nr;
	int fd = plain_file_open(path, &nr_bytes), error;

	*reduced = (struct reduced){0};
	if (fd < 0) {
		return fd;
	}
	do {
		buf_reserve(&bytes, 1u << 16);
		nr = read(fd, bytes.bytes + bytes.nr_bytes, 1u << 16);
		bytes.nr_bytes += nr > 0 ? (size_t)nr : 0;
	} while (nr > 0);
	error = nr < 0 ? err_set(-errno, "%s", strerror(errno)) : 0;
	close(fd);
	error = error ? error : reduced_read_bytes(reduced, bytes.bytes, bytes.nr_bytes);
	buf_fini(&bytes);
	return error;
}
