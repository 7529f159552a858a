/* SPDX-License-Identifier: Apache-2.0 */
/* What wait_sample.h makes of the kernel's texts. test/python looks at real threads. */
#include "collector/sample/wait_sample.h"

#include <string.h>

#include "collector/util/fd_name.h"
#include "test/unit/unit.h"

START_TEST(the_call_of_a_thread_that_waits_is_read)
{
	struct wait_call call;

	ck_assert(wait_call_read("202 0x7f0000000010 0x80 0x0 0x0 0x0 0x0 0x7ffd 0x7f12\n", &call));
	ck_assert_int_eq(call.nr, 202);
	ck_assert_uint_eq(call.arguments[0], 0x7f0000000010);
	ck_assert_uint_eq(call.arguments[1], 0x80);
	ck_assert(wait_call_read("-1 0x7ffd12 0x7f12\n", &call));
	ck_assert_int_eq(call.nr, -1);
}
END_TEST

START_TEST(a_thread_that_runs_waits_for_nothing)
{
	static const char *const texts[] = {"running\n", "", "202", "202\n", "202 \n", "202 0x1\n"};
	struct wait_call call;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ck_assert_msg(!wait_call_read(texts[i], &call), "%s", texts[i]);
	}
}
END_TEST

START_TEST(files_of_a_folder_share_a_name_and_others_have_their_kind)
{
	static const struct {
		const char *name, *shared;
	} names[] = {
		{"/data/train/0001.jpg", "/data/train/*.jpg"},
		{"/data/a.tar.gz", "/data/*.gz"},
		{"/data/.hidden", "/data/*"},
		{"/data/label", "/data/*"},
		{"/data/label.", "/data/*."},
		{"/data/x.0123456789", "/data/*"},
		{"/a", "/*"},
		{"/data.d/x", "/data.d/*"},
		{"/tmp/x.bin (deleted)", "/tmp/*.bin"},
		{"/", "/*"},
		{"/dev/nvidia0", "/dev/nvidia0"},
		{"pipe:[4711]", "pipe"},
		{"anon_inode:[eventpoll]", "[eventpoll]"},
		{"anon_inode:bpf-prog", "bpf-prog"},
		{"10.0.0.3:29500", "10.0.0.3:29500"},
		{"[::1]:80", "[::1]:80"},
		{"unix:@x[", "unix:@x["},
		{"", ""},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char name[FD_NAME_BYTES] = "";
		size_t nr_bytes;

		memcpy(name, names[i].name, strlen(names[i].name));
		nr_bytes = wait_shared_name(name, strlen(names[i].name), sizeof(name));
		ck_assert_uint_eq(nr_bytes, strlen(names[i].shared));
		ck_assert_mem_eq(name, names[i].shared, nr_bytes);
	}
}
END_TEST

START_TEST(a_name_that_fills_its_room_is_not_made_longer)
{
	char name[FD_NAME_BYTES];

	memset(name, 'x', sizeof(name));
	name[0] = name[sizeof(name) - 1] = '/';
	ck_assert_uint_eq(wait_shared_name(name, sizeof(name), sizeof(name)), sizeof(name));
}
END_TEST

UNIT_SUITE("wait_sample", the_call_of_a_thread_that_waits_is_read,
	a_thread_that_runs_waits_for_nothing,
	files_of_a_folder_share_a_name_and_others_have_their_kind,
	a_name_that_fills_its_room_is_not_made_longer)
