/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Appends whole blocks at `at`. A block that fails leaves `at` where it was, so the next one
 * overwrites its fragment. With GPROF_MAX_MB, events may use seven eighths of the limit,
 * definitions and facts almost all of the rest, and the last blocks what is left. Definitions that
 * the file system refuses wait in `deferred`.
 */
#include "collector/stream/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "collector/ring/correlation_ids.h"
#include "collector/util/clock.h"
#include "collector/util/dir.h"
#include "collector/util/log.h"
#include "collector/util/loss.h"
#include "collector/util/memory.h"
#include "collector/util/pace.h"
#include "collector/util/private_fd.h"

#define SUFFIX	      ".gprof"
#define PART	      ".part"
#define RINGS	      ".rings"
#define ZSTD_LEVEL    1
#define NAME_MAX_NODE 64
/* The shares of the limit that events leave to all other rows, and these to the last blocks. */
#define REST_SHARE 8u
#define END_SHARE  32u
/*
 * Room for definitions that the file system refused: at first enough for some hours of an idle
 * recorder, and at most.
 */
#define DEFERRED_BYTES	   (1u << 20)
#define MAX_DEFERRED_BYTES (32u << 20)

/* Apart from the rest, which is zero at first and so takes no room in the library's file. */
static struct private_fd stream_file = {.fd = -1};

static struct stream_state {
	uint64_t id;
	uint64_t at; /* bytes of whole blocks in the file */
	uint64_t max_bytes;
	uint64_t definition_bytes; /* of `at` */
	uint64_t sequence;
	uint64_t rows_before[GPROF_NR_TABLES];
	uint64_t nr_rows;
	bool is_full, is_ending, is_removed;
	/* At the start of the tail; `at` is 0 if there is none. */
	struct stream_tail {
		uint64_t at;
		uint64_t sequence;
		uint64_t rows_before[GPROF_NR_TABLES];
	} tail;
	struct block_ticks ticks;
	struct block_encoder *encoder;
	bool is_encoder_old; /* a parent's, which may have been at work when it forked */
	char *out;
	size_t out_bytes;
	char *deferred;
	size_t deferred_bytes, deferred_room;
	struct stream_lost lost;
	atomic_uint progress;
	char dir[PATH_MAX];
	char base[NAME_MAX + 1]; /* without suffix */
	char path[PATH_MAX + NAME_MAX];
	char rings[PATH_MAX + NAME_MAX];
} stream;

static int allocate(void)
{
	void *memory = memory_map(block_encoder_bytes());

	/* The largest block a table can make; only what is used is ever touched. */
	for (unsigned int table = 1; table < GPROF_NR_TABLES; table++) {
		size_t bytes = block_bound(table, BLOCK_ENCODE_ROWS, BLOCK_ENCODE_TEXT_BYTES);

		stream.out_bytes = bytes > stream.out_bytes ? bytes : stream.out_bytes;
	}
	stream.out = memory_map(stream.out_bytes);
	stream.deferred = memory_map(DEFERRED_BYTES);
	stream.deferred_room = DEFERRED_BYTES;
	/* Last: it says, to a forked child too, that all of them are there. */
	if (memory && stream.out && stream.deferred) {
		stream.encoder = block_encoder_init(memory, ZSTD_LEVEL);
	}
	return stream.encoder ? 0 : -ENOMEM;
}

static void make_base(uint64_t start_ns)
{
	struct utsname host = {.nodename = "host"};

	uname(&host);
	for (char *c = host.nodename; *c; c++) {
		if (*c == '/' || *c == '-' || (unsigned char)*c <= ' ') {
			*c = '_';
		}
	}
	log_format(stream.base, sizeof(stream.base), "%.64s-%d-%llx", host.nodename, (int)getpid(),
		(unsigned long long)start_ns);
}

static int write_at(const void *bytes, size_t nr_bytes, uint64_t at)
{
	const char *p = bytes;

	while (nr_bytes) {
		ssize_t n = pwrite(stream_file.fd, p, nr_bytes, (off_t)at);

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			return n ? -errno : -ENOSPC;
		}
		atomic_fetch_add_explicit(&stream.progress, 1, memory_order_relaxed);
		pace_look();
		p += n;
		at += (uint64_t)n;
		nr_bytes -= (size_t)n;
	}
	return 0;
}

/*
 * Before writing, checks that the file is still open; if the target took its number, opens it
 * again.
 */
static int verify_file(void)
{
	struct private_fd again;
	int rc = private_fd_check(&stream_file);

	if (rc != -EBADF) {
		return rc;
	}
	if (private_fd_open(&again, stream.path, O_WRONLY, PRIVATE_FD_ANYWHERE)) {
		return -EBADF;
	}
	if (again.device != stream_file.device || again.inode != stream_file.inode) {
		private_fd_close(&again);
		return -EBADF;
	}
	stream_file = again;
	return 0;
}

static int write_header(uint64_t start_ns)
{
	struct gprof_file_header header = {.major = GPROF_FORMAT_MAJOR,
		.minor = GPROF_FORMAT_MINOR,
		.header_bytes = sizeof(header),
		.stream_id = stream.id,
		.pid = (uint32_t)getpid(),
		.start_realtime_ns = start_ns,
		.tick_base = stream.ticks.base,
		.tick_mult = stream.ticks.mult};

	memcpy(header.magic, GPROF_FILE_MAGIC, sizeof(header.magic));
	header.crc = block_crc32(&header, offsetof(struct gprof_file_header, crc));
	stream.at = sizeof(header);
	return write_at(&header, sizeof(header), 0);
}

static int begin_file(uint64_t start_ns)
{
	int rc;

	if (fchmod(stream_file.fd, 0600)) {
		return -errno;
	}
	if (stream.is_encoder_old) {
		stream.encoder = block_encoder_init(stream.encoder, ZSTD_LEVEL);
		stream.is_encoder_old = false;
	}
	rc = stream.encoder ? 0 : allocate();
	return rc ? rc : write_header(start_ns);
}

/*
 * The name ends in .part until stream_finish() renames the file: readers see whether the recording
 * ended.
 */
int stream_start(const char *dir, uint64_t max_bytes, const struct block_ticks *ticks)
{
	uint64_t start_ns = clock_realtime_ns();
	int rc;

	stream.ticks = *ticks;
	stream.max_bytes = max_bytes;
	rc = dir_make(dir, stream.dir);
	if (rc) {
		return rc;
	}
	if (syscall(SYS_getrandom, &stream.id, sizeof(stream.id), 1 /* do not wait */) !=
		sizeof(stream.id)) {
		stream.id = start_ns ^ (uint64_t)getpid() << 32;
	}
	make_base(start_ns);
	log_format(stream.path, sizeof(stream.path), "%s/%s" SUFFIX PART, stream.dir, stream.base);
	rc = private_fd_open(
		&stream_file, stream.path, O_WRONLY | O_CREAT | O_EXCL, PRIVATE_FD_ANYWHERE);
	if (rc) {
		return rc;
	}
	rc = begin_file(start_ns);
	if (rc) {
		stream_discard(); /* nobody can read it */
	}
	return rc;
}

static bool make_deferred_room(size_t nr_bytes)
{
	size_t room = stream.deferred_room;
	char *more;

	while (room < nr_bytes) {
		room *= 2;
	}
	if (room == stream.deferred_room) {
		return true;
	}
	more = room <= MAX_DEFERRED_BYTES ? memory_map(room) : NULL;
	if (more) {
		memcpy(more, stream.deferred, stream.deferred_bytes);
		munmap(stream.deferred, stream.deferred_room);
		stream.deferred = more;
		stream.deferred_room = room;
	}
	return more != NULL;
}

/*
 * Later blocks refer to definitions: keeps a refused one, and writes it before anything else once
 * there is room again.
 */
static bool defer_block(size_t nr_bytes)
{
	if (!make_deferred_room(stream.deferred_bytes + nr_bytes)) {
		return false;
	}
	memcpy(stream.deferred + stream.deferred_bytes, stream.out, nr_bytes);
	stream.deferred_bytes += nr_bytes;
	return true;
}

static int flush_deferred(void)
{
	int rc = write_at(stream.deferred, stream.deferred_bytes, stream.at);

	if (!rc) {
		stream.at += stream.deferred_bytes;
		stream.deferred_bytes = 0;
	}
	return rc;
}

int stream_flush_deferred(void)
{
	int rc = stream.deferred_bytes ? verify_file() : 0;

	return rc ? rc : flush_deferred();
}

static bool has_room(size_t nr_bytes, bool is_event)
{
	uint64_t share = is_event ? REST_SHARE : END_SHARE;
	uint64_t limit =
		stream.max_bytes - (stream.is_ending && !is_event ? 0 : stream.max_bytes / share);
	bool has = !stream.max_bytes || stream.at + stream.deferred_bytes + nr_bytes <= limit;

	stream.is_full = stream.is_full || (is_event && !has);
	return has;
}

/* Rows of losses that were refused are said to be, so that their counts can be written again. */
static void count_refused(const struct block_input *input, uint64_t *count)
{
	if (input->table == GPROF_TABLE_loss) {
		stream.lost.has_losses = true;
	} else if (count) {
		*count += input->nr_rows;
	}
}

/*
 * is_event: the rows count as lost if they are refused, and a limit may refuse them first. Deferred
 * definitions are written before the block.
 */
static int write_block(struct block_input *input, bool is_event)
{
	uint32_t nr_rows = input->nr_rows;
	size_t bytes;
	int rc;

	if (is_event && stream_is_full()) {
		stream.lost.limit += nr_rows;
		return -EFBIG;
	}
	input->ticks = &stream.ticks;
	input->newest_correlation = correlation_ids_newest();
	input->between = pace_look;
	input->sequence = stream.sequence;
	input->rows_before = stream.rows_before[input->table];
	bytes = block_encode(stream.encoder, input, stream.out, stream.out_bytes);
	loss_add(LOSS_REVERSED, block_encoder_take_reversed(stream.encoder));
	if (bytes && !has_room(bytes, is_event)) {
		count_refused(input, is_event ? &stream.lost.limit : &stream.lost.limit_facts);
		return -EFBIG;
	}
	rc = bytes ? verify_file() : -EINVAL;
	rc = rc ? rc : flush_deferred();
	rc = rc ? rc : write_at(stream.out, bytes, stream.at);
	/* Lost rows count in the numbering, so that the reader sees the hole. */
	stream.rows_before[input->table] += nr_rows;
	if (rc) {
		stream.lost.disk += is_event ? nr_rows : 0;
		if (!is_event && bytes && defer_block(bytes)) {
			stream.sequence++;
		} else {
			count_refused(input, is_event ? NULL : &stream.lost.facts);
		}
		return rc;
	}
	stream.sequence++;
	stream.at += bytes;
	stream.definition_bytes += is_event ? 0 : bytes;
	stream.nr_rows += is_event ? nr_rows : 0;
	return 0;
}

int stream_write(unsigned int table, const void *const *rows, uint32_t nr_rows, bool is_event)
{
	int rc = 0;

	while (nr_rows) {
		uint32_t n = nr_rows < BLOCK_ENCODE_ROWS ? nr_rows : BLOCK_ENCODE_ROWS;
		struct block_input input = {.table = table, .rows = rows, .nr_rows = n};
		int this_rc = write_block(&input, is_event);

		rc = rc ? rc : this_rc;
		rows += n;
		nr_rows -= n;
	}
	return rc;
}

int stream_write_columns(
	unsigned int table, union column_values *values, uint32_t nr_rows, bool is_event)
{
	struct block_input input = {.table = table, .values = values, .nr_rows = nr_rows};

	return write_block(&input, is_event);
}

struct stream_lost stream_take_lost(void)
{
	struct stream_lost lost = stream.lost;

	stream.lost = (struct stream_lost){0};
	return lost;
}

void stream_discard(void)
{
	private_fd_close(&stream_file);
	unlink(stream.path);
	stream_forget();
}

void stream_begin_end(void)
{
	stream.is_ending = true;
}

void stream_begin_tail(void)
{
	stream.tail.at = stream.deferred_bytes ? 0 : stream.at;
	stream.tail.sequence = stream.sequence;
	memcpy(stream.tail.rows_before, stream.rows_before, sizeof(stream.rows_before));
}

bool stream_cut_tail(void)
{
	uint64_t at = stream.tail.at;

	stream.tail.at = 0;
	if (!at || stream.deferred_bytes || verify_file() || ftruncate(stream_file.fd, (off_t)at)) {
		return false;
	}
	stream.at = at;
	stream.sequence = stream.tail.sequence;
	memcpy(stream.rows_before, stream.tail.rows_before, sizeof(stream.rows_before));
	return true;
}

/*
 * Cuts the file behind its last whole block, and takes .part off its name. Its number of links says
 * whether somebody removed it meanwhile.
 */
int stream_finish(void)
{
	char done[sizeof(stream.path)];
	struct stat status = {.st_nlink = 1};
	int rc = 0;

	if (stream_file.fd < 0) {
		return -EBADF;
	}
	if (verify_file() == 0) {
		/* glibc has fstat as a symbol only since 2.33. */
		syscall(SYS_fstat, stream_file.fd, &status);
		/* A block that did not fit may have left its beginning behind. */
		if (ftruncate(stream_file.fd, (off_t)stream.at)) {
			rc = -errno;
		}
		close(stream_file.fd);
	}
	stream_file.fd = -1;
	log_format(done, sizeof(done), "%s/%s" SUFFIX, stream.dir, stream.base);
	if (rename(stream.path, done)) {
		stream.is_removed = !status.st_nlink;
		return -errno;
	}
	memcpy(stream.path, done, sizeof(done));
	return rc;
}

bool stream_was_removed(void)
{
	return stream.is_removed;
}

void stream_forget(void)
{
	private_fd_close(&stream_file);
	stream.is_encoder_old = stream.encoder != NULL;
	stream.at = 0;
	stream.definition_bytes = 0;
	stream.deferred_bytes = 0;
	stream.sequence = 0;
	stream.nr_rows = 0;
	stream.is_full = stream.is_ending = stream.is_removed = false;
	stream.tail.at = 0;
	memset(stream.rows_before, 0, sizeof(stream.rows_before));
	memset(&stream.lost, 0, sizeof(stream.lost));
	stream.path[0] = 0;
}

const char *stream_path(void)
{
	return stream.path;
}

const char *stream_dir(void)
{
	return stream.dir;
}

uint64_t stream_id(void)
{
	return stream.id;
}

unsigned int stream_progress(void)
{
	return atomic_load_explicit(&stream.progress, memory_order_relaxed);
}

uint64_t stream_bytes(void)
{
	return stream.at;
}

uint64_t stream_rows(void)
{
	return stream.nr_rows;
}

static bool is_place(const char *dir, uint64_t bytes, enum stream_place place)
{
	if (place == STREAM_PLACE_DISK) {
		return dir_can_reserve(dir) && dir_has_room(dir, bytes, false);
	}
	/* Memory is the program's first: of what is left a small part. */
	return dir_is_memory(dir) && dir_has_room(dir, bytes * STREAM_MEMORY_SHARE, false);
}

const char *stream_rings_path(uint64_t bytes, enum stream_place place)
{
	const char *dir = place == STREAM_PLACE_SHARED ? "/dev/shm" : stream.dir;

	if (bytes > UINT64_MAX / STREAM_MEMORY_SHARE || !is_place(dir, bytes, place)) {
		return NULL;
	}
	log_format(stream.rings, sizeof(stream.rings), "%s/%s" SUFFIX RINGS, dir, stream.base);
	return stream.rings;
}

bool stream_takes_texts(void)
{
	return !stream_is_full() &&
	       (!stream.max_bytes || stream.definition_bytes < stream.max_bytes / 2);
}

bool stream_takes_counts(void)
{
	uint64_t limit = stream.max_bytes - stream.max_bytes / REST_SHARE;

	return !stream_is_full() &&
	       (!stream.max_bytes || stream.at + stream.deferred_bytes < limit);
}

bool stream_is_full(void)
{
	return stream.is_full;
}
