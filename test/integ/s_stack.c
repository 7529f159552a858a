/* SPDX-License-Identifier: Apache-2.0 */
/*
 *	s_stack ROUNDS [os | LIBRARY]
 *
 * Built without frame pointers. Calls CUDA from planted places: in an inlined function, below a
 * frame that is aligned and one whose size is known only when it runs, by a tail call, in a
 * function that the C library's qsort calls, deep in a recursion, in a thread with a small stack,
 * on the stack of a signal handler and in a coroutine. All that ROUNDS times. A forked child makes
 * the first of these calls, too. With LIBRARY, it calls only in functions of libraries that are
 * unloaded: LIBRARY1.so and LIBRARY2.so. With "os", it calls the C library from such places
 * instead, and waits in each call for 100 us or more, but for one short call of each round.
 *
 * It prints for each call that has a stack of its own thread the functions that are on it, as
 * backtrace() finds them by the compiler's own library: "THREAD CALL inner;outer;...;main".
 */
#include "test/prog/prog.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

/* Exported, so that backtrace_symbols knows the names. */
#define PLACE(type, name, ...)                                                            \
	__attribute__((visibility("default"), noinline, noclone)) type name(__VA_ARGS__); \
	type name(__VA_ARGS__)

#define MOST 300

/* No tail call: the frame that calls it stays. */
#define STAY(value) __asm__ volatile("" : "+r"(value))

static __thread const char *thread_name = "main";
static bool calls_os;	    /* in place of CUDA */
static char *last_line[64]; /* each is printed once */

/* "./s_stack(level_one+0x12) [0x55...]" */
static void add_name(char *line, const char *symbol)
{
	const char *begin = strchr(symbol, '('), *end = begin ? strpbrk(begin, "+)") : NULL;

	if (end && end > begin + 1) {
		snprintf(line + strlen(line), 4096 - strlen(line), "%.*s;", (int)(end - begin - 1),
			begin + 1);
	}
}

/* Prints who calls `call` next. */
PLACE(void, witness, const char *call)
{
	void *addresses[MOST];
	int nr = backtrace(addresses, MOST);
	char **symbols = backtrace_symbols(addresses, nr), line[4096];
	size_t at = 0;

	snprintf(line, sizeof(line), "%s %s ", thread_name, call);
	for (int i = 1; i < nr; i++) {
		add_name(line, symbols[i]);
	}
	free(symbols);
	while (at < 64 && last_line[at] && strcmp(last_line[at], line)) {
		at++;
	}
	if (at < 64 && !last_line[at]) {
		last_line[at] = strdup(line);
		puts(line);
	}
}

#define CALL(name, ...) (witness(#name), (int)name(__VA_ARGS__))

static char device_bytes[64];
static void *device;

static inline __attribute__((always_inline)) int sync_inlined(void)
{
	return CALL(cudaStreamSynchronize, NULL);
}

PLACE(int, level_four, unsigned int nr)
{
	volatile char *room = __builtin_alloca(nr % 64 + 1);
	int rc;

	room[0] = 0;
	rc = (calls_os ? CALL(usleep, 100) : sync_inlined()) + room[0];
	STAY(rc);
	return rc;
}

PLACE(int, level_three, unsigned int nr)
{
	volatile char room[128] __attribute__((aligned(64)));
	int rc;

	room[nr % sizeof(room)] = 0;
	rc = level_four(nr) + room[nr % sizeof(room)];
	STAY(rc);
	return rc;
}

PLACE(int, level_two, unsigned int nr)
{
	int rc = level_three(nr) + level_three(nr + 40);

	STAY(rc);
	return rc;
}

/* Is none of the stack: the call is the last thing that it does. */
PLACE(int, tail, void)
{
	return cudaDeviceSynchronize();
}

PLACE(int, calls_tail, void)
{
	int rc = (witness("cudaDeviceSynchronize"), tail());

	STAY(rc);
	return rc;
}

PLACE(int, compare, const void *a, const void *b)
{
	const struct timespec time = {.tv_nsec = 100000};
	int rc = calls_os ? CALL(nanosleep, &time, NULL)
			  : CALL(cudaMemcpy, device, device_bytes, 8, 1);

	STAY(rc);
	return *(const int *)a - *(const int *)b + rc;
}

PLACE(int, sorts, void)
{
	int numbers[2] = {2, 1}, rc;

	qsort(numbers, 2, sizeof(numbers[0]), compare);
	rc = numbers[0] - 1;
	STAY(rc);
	return rc;
}

PLACE(int, recursion, unsigned int depth)
{
	int rc = depth ? recursion(depth - 1) : CALL(cudaMemset, device, 0, 8);

	STAY(rc);
	return rc;
}

PLACE(void *, run_thread, void *unused)
{
	void *memory = NULL;
	int rc;

	(void)unused;
	thread_name = "thread";
	if (calls_os) {
		rc = CALL(poll, NULL, 0, 1);
	} else {
		rc = CALL(cudaMalloc, &memory, 64);
		rc += CALL(cudaFree, memory);
	}
	STAY(rc);
	return NULL;
}

static void run_small_thread(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64 << 10);
	if (!pthread_create(&thread, &attributes, run_thread, NULL)) {
		pthread_join(thread, NULL);
	}
	pthread_attr_destroy(&attributes);
}

/* ---- stacks that are not the thread's own ---- */

static ucontext_t here, there;

PLACE(void, in_coroutine, void)
{
	CHECK(cudaMemsetAsync(device, 0, 16, NULL));
	swapcontext(&there, &here);
}

static void run_coroutine(void (*function)(void))
{
	static char stack[65536];

	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	there.uc_link = &here;
	makecontext(&there, function, 0);
	swapcontext(&here, &there);
}

PLACE(void, on_signal, int signal)
{
	(void)signal;
	CHECK(cudaMemsetAsync(device, 0, 32, NULL));
}

static void begin_signals(void)
{
	static char memory[65536];
	stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
}

/* ---- calls of the C library ---- */

PLACE(int, waits_not, int fd)
{
	int rc = (int)write(fd, "", 1) - 1;

	STAY(rc);
	return rc;
}

PLACE(void, waits_in_coroutine, void)
{
	const struct timespec time = {.tv_nsec = 100000};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
	swapcontext(&there, &here);
}

/* ---- libraries ---- */

/* Both have a function of that name, which calls this one, and lie at the same address. */
PLACE(int, from_library, void)
{
	int rc = cudaMemcpyAsync(device, device_bytes, 24, 1, NULL);

	STAY(rc);
	return rc;
}

static void run_library(const char *path, const char *number)
{
	char text[4096], name[64];
	int (*function)(int (*)(void));
	void *library;

	snprintf(text, sizeof(text), "%s%s.so", path, number);
	snprintf(name, sizeof(name), "in_library_%s", number);
	library = dlopen(text, RTLD_NOW);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	*(void **)&function = dlsym(library, name);
	function(from_library);
	usleep(150000); /* later than the recorder looks */
	dlclose(library);
}

static int run(void)
{
	int rc = level_two(3) + calls_tail() + sorts() + recursion(20) + recursion(200);

	run_small_thread();
	run_coroutine(in_coroutine);
	raise(SIGUSR1);
	return rc;
}

static int run_os(int fd)
{
	int rc = level_two(3) + sorts() + waits_not(fd);

	run_small_thread();
	run_coroutine(waits_in_coroutine);
	return rc;
}

int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 1, rc = 0, fd = open("/dev/null", O_WRONLY), status;
	pid_t child;

	calls_os = argc > 2 && !strcmp(argv[2], "os");
	CHECK(cudaMalloc(&device, 4096));
	begin_signals();
	for (int i = 0; i < nr; i++) {
		if (calls_os) {
			rc += run_os(fd);
		} else if (argc > 2) {
			run_library(argv[2], i % 2 ? "2" : "1");
		} else {
			rc += run();
		}
		usleep(2000);
	}
	child = argc > 2 && !calls_os ? -1 : fork();
	for (int i = 0; !child && i < nr; i++) {
		rc += level_two(3);
		usleep(2000);
	}
	if (child > 0) {
		waitpid(child, &status, 0);
	}
	return rc;
}
