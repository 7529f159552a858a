/* SPDX-License-Identifier: Apache-2.0 */
#include "report/util/gzip_out.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "test/unit/unit.h"

/* Nearly all of it repeats what lies some pieces before. */
static char *make_bytes(size_t nr_bytes, uint64_t seed)
{
	char *bytes = calloc(nr_bytes + 1, 1);

	for (size_t i = 0; i < nr_bytes; i++) {
		bytes[i] = (char)(unit_random(&seed) % 16 ? i * 7 % 1000 : unit_random(&seed));
	}
	return bytes;
}

static size_t read_file(const char *path, char **bytes)
{
	FILE *file = fopen(path, "r");
	size_t nr_bytes;

	ck_assert_ptr_nonnull(file);
	fseek(file, 0, SEEK_END);
	nr_bytes = (size_t)ftell(file);
	rewind(file);
	*bytes = malloc(nr_bytes);
	ck_assert_uint_eq(fread(*bytes, 1, nr_bytes, file), nr_bytes);
	fclose(file);
	return nr_bytes;
}

/* Writes bytes in lengths of up to `most` and compares what zlib reads of the one member. */
static void check(size_t nr_bytes, size_t most)
{
	char path[4096], *bytes = make_bytes(nr_bytes, nr_bytes + 1), *packed;
	char *found = malloc(nr_bytes + 1);
	uint64_t seed = most;
	struct gzip_out *out;
	z_stream stream = {0};

	snprintf(path, sizeof(path), "%s/x.gz", unit_temp_dir());
	ck_assert_int_eq(gzip_out_open(&out, path), 0);
	for (size_t i = 0; i < nr_bytes;) {
		size_t nr = unit_random(&seed) % most + 1;

		nr = nr < nr_bytes - i ? nr : nr_bytes - i;
		ck_assert_int_eq(gzip_out_write(out, bytes + i, nr), 0);
		i += nr;
	}
	ck_assert_int_eq(gzip_out_close(out), 0);
	stream.avail_in = (uInt)read_file(path, &packed);
	stream.next_in = (Bytef *)packed;
	stream.next_out = (Bytef *)found;
	stream.avail_out = (uInt)nr_bytes + 1;
	ck_assert_int_eq(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
	ck_assert_int_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
	ck_assert_uint_eq(stream.avail_in, 0);
	ck_assert_uint_eq(stream.total_out, nr_bytes);
	ck_assert_int_eq(memcmp(found, bytes, nr_bytes), 0);
	inflateEnd(&stream);
	free(packed);
	free(found);
	free(bytes);
}

static const size_t sizes[] = {
	0, 1, 1000, 32767, 32768, 262143, 262144, 262145, 524288, 300000, 5000000};

static void check_sizes(void)
{
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		check(sizes[i], 100);
		check(sizes[i], 1000000);
	}
}

START_TEST(what_is_written_is_read_from_one_member)
{
	check_sizes();
}
END_TEST

START_TEST(one_core_packs_alone)
{
	cpu_set_t all, one;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &all)) {
			CPU_SET(i, &one);
			break;
		}
	}
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	check_sizes();
}
END_TEST

START_TEST(a_piece_repeats_what_the_one_before_ended_with)
{
	/* 32 kB of noise again and again: it packs only if each piece knows the end of the last. */
	char path[4096], *noise = malloc(32000), *packed;
	uint64_t seed = 5;
	struct gzip_out *out;
	size_t nr_packed;

	for (size_t i = 0; i < 32000; i++) {
		noise[i] = (char)unit_random(&seed);
	}
	snprintf(path, sizeof(path), "%s/x.gz", unit_temp_dir());
	ck_assert_int_eq(gzip_out_open(&out, path), 0);
	for (int i = 0; i < 100; i++) {
		ck_assert_int_eq(gzip_out_write(out, noise, 32000), 0);
	}
	ck_assert_int_eq(gzip_out_close(out), 0);
	nr_packed = read_file(path, &packed);
	ck_assert_uint_lt(nr_packed, 32000 * 2);
	free(packed);
	free(noise);
}
END_TEST

START_TEST(a_full_disk_is_told)
{
	char *bytes = make_bytes(5000000, 3);
	struct gzip_out *out;

	if (access("/dev/full", W_OK)) {
		return;
	}
	ck_assert_int_eq(gzip_out_open(&out, "/dev/full"), 0);
	gzip_out_write(out, bytes, 5000000);
	ck_assert_int_eq(gzip_out_close(out), -ENOSPC);
	ck_assert_int_eq(gzip_out_open(&out, "/dev/full"), 0);
	ck_assert_int_eq(gzip_out_close(out), -ENOSPC);
	free(bytes);
}
END_TEST

START_TEST(a_file_that_cannot_be_made_is_told)
{
	struct gzip_out *out;

	ck_assert_int_eq(gzip_out_open(&out, "/nonexistent/x.gz"), -ENOENT);
}
END_TEST

UNIT_SUITE("report/gzip_out", what_is_written_is_read_from_one_member, one_core_packs_alone,
	a_piece_repeats_what_the_one_before_ended_with, a_full_disk_is_told,
	a_file_that_cannot_be_made_is_told)
