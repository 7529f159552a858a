/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/stream/stream.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "collector/util/dir.h"
#include "test/unit/decode.h"
#include "test/unit/unit.h"

#define NR_ROWS 8192

static const struct block_ticks same = {.base = 0, .mult = (uint64_t)1 << 32};
static char dir[4300];
static struct decode_block *blocks; /* kept, so that no test need free it */

static void start(const char *below, uint64_t max_bytes)
{
	snprintf(dir, sizeof(dir), "%s%s", unit_temp_dir(), below);
	ck_assert_int_eq(stream_start(dir, max_bytes, &same), 0);
}

/* Rows that do not compress. */
static int write_noise(uint32_t nr_rows, uint64_t seed)
{
	static struct gprof_row_api rows[NR_ROWS];
	static const void *pointers[NR_ROWS];

	for (uint32_t i = 0; i < nr_rows; i++) {
		rows[i].begin = unit_random(&seed) >> 1;
		rows[i].dur = rows[i].begin + (unit_random(&seed) >> 40);
		rows[i].thread = (uint32_t)unit_random(&seed);
		rows[i].correlation = (uint32_t)unit_random(&seed);
		pointers[i] = &rows[i];
	}
	return stream_write(GPROF_TABLE_api, pointers, nr_rows, true);
}

static int write_string(uint32_t id, const char *text)
{
	struct gprof_row_string row = {.id = id, .text = {.bytes = text, .nr_bytes = strlen(text)}};
	const void *rows[] = {&row};

	return stream_write(GPROF_TABLE_string, rows, 1, false);
}

static mode_t mode_of(const char *path)
{
	struct stat status;

	ck_assert_msg(!stat(path, &status), "%s", path);
	return status.st_mode & 07777;
}

START_TEST(file_is_private_named_by_host_and_pid_and_part_until_closed)
{
	char part[5000], host[65] = "", *base;

	umask(0);
	start("/a/b", 0);
	ck_assert_str_eq(stream_dir(), dir);
	snprintf(part, sizeof(part), "%s", stream_path());
	ck_assert_str_eq(part + strlen(part) - 11, ".gprof.part");
	ck_assert_uint_eq(mode_of(part), 0600);
	ck_assert_uint_eq(mode_of(dir), 0700);
	gethostname(host, sizeof(host) - 1);
	base = strrchr(part, '/') + 1;
	ck_assert_int_eq(atoi(strchr(base, '-') + 1), getpid());
	ck_assert_int_eq(stream_finish(), 0);
	ck_assert_int_eq(access(part, F_OK), -1);
	ck_assert_str_eq(stream_path() + strlen(stream_path()) - 6, ".gprof");
	ck_assert_int_eq(access(stream_path(), F_OK), 0);
	ck_assert_int_eq(stream_finish(), -EBADF);
}
END_TEST

START_TEST(file_that_was_removed_meanwhile_is_known)
{
	start("", 0);
	ck_assert_int_eq(write_noise(100, 5), 0);
	ck_assert_int_eq(stream_finish(), 0);
	ck_assert(!stream_was_removed());
	start("", 0);
	ck_assert_int_eq(write_noise(100, 5), 0);
	ck_assert_int_eq(unlink(stream_path()), 0);
	ck_assert_int_eq(stream_finish(), -ENOENT);
	ck_assert(stream_was_removed());
}
END_TEST

START_TEST(blocks_come_back_in_their_order)
{
	struct gprof_file_header header;
	size_t nr_blocks;

	start("", 0);
	ck_assert_int_eq(write_string(1, "one"), 0);
	ck_assert_int_eq(write_noise(100, 5), 0);
	ck_assert_int_eq(write_string(2, "two"), 0);
	ck_assert_int_eq(write_noise(50, 6), 0);
	ck_assert_uint_eq(stream_rows(), 150);
	ck_assert_int_eq(stream_finish(), 0);
	blocks = decode_file(stream_path(), &header, &nr_blocks);
	ck_assert_uint_eq(header.stream_id, stream_id());
	ck_assert_uint_eq(header.pid, (uint32_t)getpid());
	ck_assert_uint_eq(nr_blocks, 4);
	for (size_t b = 0; b < nr_blocks; b++) {
		ck_assert_uint_eq(blocks[b].header.sequence, b);
	}
	ck_assert_uint_eq(blocks[3].header.rows_before, 100);
	ck_assert_str_eq(decode_string(blocks, nr_blocks, 2), "two");
}
END_TEST

START_TEST(many_rows_become_several_blocks)
{
	static struct gprof_row_step rows[40000];
	static const void *pointers[40000];
	struct gprof_file_header header;
	size_t nr_blocks;

	for (uint32_t i = 0; i < 40000; i++) {
		rows[i].step = i;
		pointers[i] = &rows[i];
	}
	start("", 0);
	ck_assert_int_eq(stream_write(GPROF_TABLE_step, pointers, 40000, true), 0);
	ck_assert_int_eq(stream_finish(), 0);
	blocks = decode_file(stream_path(), &header, &nr_blocks);
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_step), 40000);
	ck_assert_uint_eq(decode_value(blocks, nr_blocks, GPROF_TABLE_step, "step", 39999), 39999);
}
END_TEST

START_TEST(limit_stops_events_but_not_definitions_and_counts)
{
	struct gprof_file_header header;
	struct stream_lost lost;
	size_t nr_blocks;

	start("", 200000);
	for (int i = 0; i < 20; i++) {
		write_noise(1000, 77 + (uint64_t)i);
	}
	ck_assert_int_eq(write_noise(10, 1), -EFBIG);
	ck_assert_int_eq(write_string(1, "still"), 0);
	lost = stream_take_lost();
	ck_assert_uint_eq(lost.limit + stream_rows(), 20010);
	ck_assert_uint_eq(lost.disk, 0);
	ck_assert_uint_eq(stream_take_lost().limit, 0);
	ck_assert_int_eq(stream_finish(), 0);
	blocks = decode_file(stream_path(), &header, &nr_blocks);
	ck_assert_uint_le(stream_bytes(), 200000);
}
END_TEST

START_TEST(limit_holds_for_definitions_too_and_leaves_room_for_the_end)
{
	struct gprof_file_header header;
	struct stream_lost lost;
	size_t nr_blocks;
	int rc = 0;

	start("", 200000);
	for (uint32_t i = 1; i < 10000 && !rc; i++) {
		rc = write_string(i, "a text like many others, and yet another one");
	}
	ck_assert_int_eq(rc, -EFBIG);
	lost = stream_take_lost();
	ck_assert_uint_eq(lost.limit_facts, 1);
	ck_assert_uint_eq(lost.limit + lost.facts, 0);
	ck_assert_uint_le(stream_bytes(), 200000 - 200000 / 32);
	stream_begin_end();
	ck_assert_int_eq(write_string(10000, "the end"), 0);
	ck_assert_int_eq(stream_finish(), 0);
	blocks = decode_file(stream_path(), &header, &nr_blocks);
	ck_assert_uint_le(stream_bytes(), 200000);
}
END_TEST

START_TEST(tail_takes_the_place_of_the_last_one)
{
	struct gprof_file_header header;
	size_t nr_blocks;
	uint64_t bytes;

	start("", 0);
	ck_assert(!stream_cut_tail());
	ck_assert_int_eq(write_string(1, "stays"), 0);
	bytes = stream_bytes();
	for (uint32_t i = 0; i < 100; i++) {
		stream_begin_tail();
		ck_assert_int_eq(write_string(2 + i, "goes"), 0);
		ck_assert_int_eq(write_noise(10, i), 0);
		ck_assert(stream_cut_tail());
		ck_assert_uint_eq(stream_bytes(), bytes);
	}
	ck_assert(!stream_cut_tail());
	ck_assert_int_eq(write_string(200, "last"), 0);
	ck_assert_int_eq(stream_finish(), 0);
	blocks = decode_file(stream_path(), &header, &nr_blocks);
	ck_assert_uint_eq(nr_blocks, 2);
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_string), 2);
}
END_TEST

START_TEST(full_disk_loses_blocks_counts_them_and_goes_on_when_there_is_room)
{
	struct rlimit limit = {.rlim_cur = 100000, .rlim_max = RLIM_INFINITY};
	struct rlimit none = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
	struct gprof_file_header header;
	uint64_t nr_lost = 0;
	size_t nr_blocks;

	start("", 0);
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (int i = 0; i < 10; i++) {
		nr_lost += write_noise(2000, 7 + (uint64_t)i) ? 2000 : 0;
	}
	ck_assert_uint_gt(nr_lost, 0);
	ck_assert_uint_lt(nr_lost, 20000);
	ck_assert_uint_eq(stream_take_lost().disk, nr_lost);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
	ck_assert_int_eq(write_noise(100, 3), 0);
	ck_assert_int_eq(stream_finish(), 0);
	blocks = decode_file(stream_path(), &header, &nr_blocks);
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_api), 20000 - nr_lost + 100);
	/* Blocks are numbered without a gap, and the rows tell where some are missing. */
	ck_assert_uint_eq(blocks[nr_blocks - 1].header.sequence, nr_blocks - 1);
	ck_assert_uint_eq(blocks[nr_blocks - 1].header.rows_before, 20000);
}
END_TEST

START_TEST(refused_definitions_are_settled_when_there_is_room)
{
	struct rlimit limit = {.rlim_cur = 150, .rlim_max = RLIM_INFINITY};
	struct rlimit none = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
	struct gprof_file_header header;
	size_t nr_blocks;
	int limit_rc, write_rc, settle_rc;

	start("", 0);
	ck_assert_int_eq(stream_flush_deferred(), 0);
	signal(SIGXFSZ, SIG_IGN);
	/* Check's own file could not grow here either. */
	limit_rc = setrlimit(RLIMIT_FSIZE, &limit);
	write_rc = write_string(1, "a text that is longer than the room that is left");
	settle_rc = stream_flush_deferred();
	limit_rc |= setrlimit(RLIMIT_FSIZE, &none);
	ck_assert_int_eq(limit_rc, 0);
	ck_assert_int_eq(write_rc, -EFBIG);
	ck_assert_int_eq(settle_rc, -EFBIG);
	ck_assert_int_eq(stream_flush_deferred(), 0);
	ck_assert_int_eq(stream_flush_deferred(), 0);
	ck_assert_int_eq(stream_finish(), 0);
	blocks = decode_file(stream_path(), &header, &nr_blocks);
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_string), 1);
}
END_TEST

#define STRINGS_IN_BLOCK 16u

/* Strings with IDs from `first_id` on in one block, of the longest texts, which do not compress. */
static void write_long_strings(uint32_t first_id)
{
	static char text[STRINGS_IN_BLOCK * GPROF_TEXT_BYTES];
	struct gprof_row_string rows[STRINGS_IN_BLOCK];
	const void *pointers[STRINGS_IN_BLOCK];
	uint64_t seed = 1;

	for (size_t i = 0; i < sizeof(text) && !text[sizeof(text) - 1]; i++) {
		text[i] = (char)(1 + unit_random(&seed) % 255);
	}
	for (uint32_t i = 0; i < STRINGS_IN_BLOCK; i++) {
		rows[i] = (struct gprof_row_string){.id = first_id + i,
			.text = {.bytes = text + i * GPROF_TEXT_BYTES,
				.nr_bytes = GPROF_TEXT_BYTES - 1}};
		pointers[i] = &rows[i];
	}
	stream_write(GPROF_TABLE_string, pointers, STRINGS_IN_BLOCK, false);
}

/*
 * More than there is room for at first; beyond the last room they are counted. Each write tries
 * again all that was refused, and sanitizers look at each byte of it, so a block has several.
 */
START_TEST(many_refused_definitions_are_settled_or_counted)
{
	struct rlimit limit = {.rlim_cur = 150, .rlim_max = RLIM_INFINITY};
	struct rlimit none = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
	struct gprof_file_header header;
	uint64_t nr_facts;
	size_t nr_blocks;
	int limit_rc;

	start("", 0);
	signal(SIGXFSZ, SIG_IGN);
	limit_rc = setrlimit(RLIMIT_FSIZE, &limit);
	for (uint32_t i = 1; i <= 10000; i += STRINGS_IN_BLOCK) {
		write_long_strings(i);
	}
	limit_rc |= setrlimit(RLIMIT_FSIZE, &none);
	ck_assert_int_eq(limit_rc, 0);
	ck_assert_int_eq(stream_flush_deferred(), 0);
	ck_assert_int_eq(stream_finish(), 0);
	nr_facts = stream_take_lost().facts;
	ck_assert_uint_gt(nr_facts, 0);
	ck_assert_uint_lt(nr_facts, 4000);
	blocks = decode_file(stream_path(), &header, &nr_blocks);
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_string) + nr_facts, 10000);
}
END_TEST

START_TEST(discarded_file_is_gone)
{
	char part[5000];

	start("", 0);
	snprintf(part, sizeof(part), "%s", stream_path());
	stream_discard();
	ck_assert_int_eq(access(part, F_OK), -1);
	ck_assert_str_eq(stream_path(), "");
	ck_assert_int_eq(stream_finish(), -EBADF);
}
END_TEST

/* The descriptor that is open on `path`. */
static int find_fd(const char *path)
{
	struct stat want, have;

	ck_assert_int_eq(stat(path, &want), 0);
	for (int fd = 3; fd < 1024; fd++) {
		if (!fstat(fd, &have) && have.st_ino == want.st_ino && have.st_dev == want.st_dev) {
			return fd;
		}
	}
	return -1;
}

START_TEST(descriptor_that_the_host_took_over_is_not_written_to)
{
	struct gprof_file_header header;
	char other[4400];
	struct stat status;
	size_t nr_blocks;
	int fd;

	start("", 0);
	ck_assert_int_eq(write_noise(10, 1), 0);
	fd = find_fd(stream_path());
	ck_assert_int_ge(fd, 500); /* out of the way of the low numbers */
	snprintf(other, sizeof(other), "%s/of-the-host", dir);
	ck_assert_int_eq(dup2(open(other, O_CREAT | O_RDWR, 0600), fd), fd);
	ck_assert_int_eq(write_noise(10, 2), 0);
	ck_assert_int_eq(stream_finish(), 0);
	ck_assert_int_eq(stat(other, &status), 0);
	ck_assert_int_eq(status.st_size, 0);
	ck_assert_int_eq(fstat(fd, &status), 0); /* and it is still open */
	blocks = decode_file(stream_path(), &header, &nr_blocks);
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_api), 20);
}
END_TEST

START_TEST(descriptor_that_the_host_closed_is_opened_again)
{
	start("", 0);
	ck_assert_int_eq(close(find_fd(stream_path())), 0);
	ck_assert_int_eq(write_noise(10, 2), 0);
	ck_assert_int_eq(stream_finish(), 0);
	ck_assert_uint_eq(stream_rows(), 10);
}
END_TEST

START_TEST(directory_that_cannot_be_is_an_error)
{
	char path[4400];

	snprintf(path, sizeof(path), "%s/file", unit_temp_dir());
	close(open(path, O_CREAT | O_WRONLY, 0600));
	strcat(path, "/below");
	ck_assert_int_eq(stream_start(path, 0, &same), -ENOTDIR);
	ck_assert_int_eq(stream_start("", 0, &same), -EINVAL);
	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[PATH_MAX] = 0;
	ck_assert_int_eq(stream_start(path, 0, &same), -ENAMETOOLONG);
	path[PATH_MAX - 20] = 0; /* there is no room for the name of a stream */
	ck_assert_int_eq(stream_start(path, 0, &same), -ENAMETOOLONG);
	path[0] = '.';
	ck_assert_int_eq(stream_start(path, 0, &same), -ENAMETOOLONG);
}
END_TEST

START_TEST(child_makes_a_file_of_its_own)
{
	char parent[5000];

	start("", 0);
	write_noise(10, 1);
	snprintf(parent, sizeof(parent), "%s", stream_path());
	stream_forget();
	ck_assert_int_eq(stream_start(dir, 0, &same), 0);
	ck_assert_str_ne(stream_path(), parent);
	ck_assert_uint_eq(stream_rows(), 0);
	ck_assert_int_eq(stream_finish(), 0);
	ck_assert_int_eq(access(parent, F_OK), 0);
}
END_TEST

/* They are in memory, where that has sixteen times their room. */
START_TEST(rings_lie_in_memory_or_beside_the_stream)
{
	const char *path;

	start("", 0);
	path = stream_rings_path(1 << 20, STREAM_PLACE_DISK);
	ck_assert_ptr_nonnull(path);
	ck_assert_mem_eq(path, stream_dir(), strlen(stream_dir()));
	ck_assert_str_eq(path + strlen(path) - 12, ".gprof.rings");
	path = stream_rings_path(4096, STREAM_PLACE_SHARED);
	ck_assert(!path || !strncmp(path, "/dev/shm/", 9));
	ck_assert(!dir_is_memory("/proc"));
	if (dir_is_memory("/dev/shm")) {
		struct statvfs shared;
		uint64_t room;

		ck_assert_int_eq(statvfs("/dev/shm", &shared), 0);
		room = (uint64_t)shared.f_bavail * shared.f_frsize;
		ck_assert_ptr_null(stream_rings_path(room / 12, STREAM_PLACE_SHARED));
	}
	for (enum stream_place place = 0; place < STREAM_NR_PLACES; place++) {
		ck_assert_ptr_null(stream_rings_path((uint64_t)1 << 62, place));
		ck_assert_ptr_null(stream_rings_path(UINT64_MAX, place));
	}
}
END_TEST

UNIT_SUITE("stream", file_is_private_named_by_host_and_pid_and_part_until_closed,
	file_that_was_removed_meanwhile_is_known, blocks_come_back_in_their_order,
	many_rows_become_several_blocks, limit_stops_events_but_not_definitions_and_counts,
	limit_holds_for_definitions_too_and_leaves_room_for_the_end,
	tail_takes_the_place_of_the_last_one,
	full_disk_loses_blocks_counts_them_and_goes_on_when_there_is_room,
	refused_definitions_are_settled_when_there_is_room,
	many_refused_definitions_are_settled_or_counted, discarded_file_is_gone,
	descriptor_that_the_host_took_over_is_not_written_to,
	descriptor_that_the_host_closed_is_opened_again, directory_that_cannot_be_is_an_error,
	child_makes_a_file_of_its_own, rings_lie_in_memory_or_beside_the_stream)
