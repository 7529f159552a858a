/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/python/python_room.h"
#include "test/unit/unit.h"

#define PAGE_BYTES 4096u

static uint32_t room_here(void)
{
	return python_room((uintptr_t)__builtin_frame_address(0));
}

/* What is left is known to the page; of a large stack, at least so much that it does not matter. */
static void check_room(uintptr_t low)
{
	uintptr_t left = (uintptr_t)__builtin_frame_address(0) - low;
	uint32_t room = room_here();

	ck_assert_uint_le(room, left);
	ck_assert_uint_ge(room + 2 * PAGE_BYTES, left < 512u << 10 ? left : 512u << 10);
}

static void *check_thread(void *unused)
{
	pthread_attr_t attributes;
	size_t nr_bytes;
	void *low;

	ck_assert_int_eq(pthread_getattr_np(pthread_self(), &attributes), 0);
	ck_assert_int_eq(pthread_attr_getstack(&attributes, &low, &nr_bytes), 0);
	pthread_attr_destroy(&attributes);
	check_room((uintptr_t)low);
	return unused;
}

static void run_thread(size_t nr_bytes, void *stack)
{
	pthread_attr_t attributes;
	pthread_t thread;

	ck_assert_int_eq(pthread_attr_init(&attributes), 0);
	ck_assert_int_eq(stack ? pthread_attr_setstack(&attributes, stack, nr_bytes)
			       : pthread_attr_setstacksize(&attributes, nr_bytes),
		0);
	ck_assert_int_eq(pthread_create(&thread, &attributes, check_thread, NULL), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	pthread_attr_destroy(&attributes);
}

START_TEST(threads)
{
	python_room_start();
	for (size_t kb = 64; kb <= 16384; kb *= 2) {
		if (kb << 10 >= (size_t)sysconf(_SC_THREAD_STACK_MIN)) { /* aarch64: 128 KB */
			run_thread(kb << 10, NULL);
		}
	}
}
END_TEST

/* A stack of the program's own between pages that are no stack. */
START_TEST(own_stack)
{
	const size_t nr_bytes = 2u << 20; /* sanitizers want some of it */
	char *at = mmap(
		NULL, nr_bytes + 2 * PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(at, MAP_FAILED);
	ck_assert_int_eq(mprotect(at + PAGE_BYTES, nr_bytes, PROT_READ | PROT_WRITE), 0);
	run_thread(nr_bytes, at + PAGE_BYTES);
	munmap(at, nr_bytes + 2 * PAGE_BYTES);
}
END_TEST

/* It grows into what is not mapped yet. */
START_TEST(main_thread)
{
	python_room_start();
	ck_assert_uint_gt(room_here(), 512u << 10);
}
END_TEST

UNIT_SUITE("python_room", threads, own_stack, main_thread)
