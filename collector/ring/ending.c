/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mark is one word of 64 bits, kind and code. Until there are rings it is a variable here, then
 * a word in the header of their file. A call may fail (exec) and a handler may survive its own
 * signal, so marks can be taken back: ending_unmark(), ending_look().
 */
#include "collector/ring/ending.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A process that crashes should end soon; and its memory may be in any state. */
#define CRASH_PATIENCE_NS 200000000u
#define PATIENCE_NS	  10000000000u
/* A handler that sends itself its own signal anew, now without a handler, returns after so many. */
#define SIGNAL_LOOKS 3u

/* Both halves are written as one word, so that a reader of the file sees them together. */
static struct ending_state {
	uint64_t *_Atomic word; /* in the header, once there is one */
	uint64_t early;		/* until then */
	_Atomic pid_t pid;
	uint64_t seen; /* by ending_look */
	uint32_t nr_seen;
} state COMPAT_AT_START;

_Static_assert(offsetof(struct gprof_rings_header, end_kind) % sizeof(uint64_t) == 0 &&
		       offsetof(struct gprof_rings_header, end_code) ==
			       offsetof(struct gprof_rings_header, end_kind) + sizeof(uint32_t),
	"two halves of a word");

/* Not by the C library, some of which remember it: after a bare clone that is the parent's. */
static pid_t own_pid(void)
{
	return (pid_t)syscall(SYS_getpid);
}

void ending_begin(void)
{
	atomic_store(&state.word, &state.early);
	atomic_store(&state.pid, own_pid());
}

void ending_set_header(struct gprof_rings_header *header)
{
	uint64_t *word = (uint64_t *)(void *)&header->end_kind;
	uint64_t none = 0;

	/* A mark that is made now stands in the header already, and is the later one. */
	atomic_store(&state.word, word);
	__atomic_compare_exchange_n(word, &none, __atomic_load_n(&state.early, __ATOMIC_SEQ_CST),
		false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void ending_forget(void)
{
	atomic_store(&state.pid, 0);
	atomic_store(&state.word, NULL);
	state.early = 0;
	state.nr_seen = 0;
}

COMPAT_START_CODE bool ending_is_ours(void)
{
	pid_t pid = state.pid;

	return pid && pid == own_pid();
}

void ending_mark(enum gprof_end_kind kind, int code)
{
	uint64_t *word = atomic_load(&state.word);

	if (word) {
		__atomic_store_n(
			word, (uint64_t)kind | (uint64_t)(code & 0xff) << 32, __ATOMIC_SEQ_CST);
	}
}

void ending_unmark(void)
{
	uint64_t *word = atomic_load(&state.word);
	uint64_t exec = GPROF_END_EXEC;

	if (word) {
		__atomic_compare_exchange_n(
			word, &exec, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	}
}

void ending_look(void)
{
	uint64_t *word = atomic_load(&state.word);
	uint64_t mark = word ? __atomic_load_n(word, __ATOMIC_SEQ_CST) : 0;

	state.nr_seen = mark == state.seen ? state.nr_seen + 1 : 0;
	state.seen = mark;
	if ((uint32_t)mark == GPROF_END_SIGNAL && state.nr_seen >= SIGNAL_LOOKS) {
		__atomic_compare_exchange_n(
			word, &mark, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	}
}

enum gprof_end_kind ending_kind(int *code)
{
	uint64_t *word = atomic_load(&state.word);
	uint64_t mark = word ? __atomic_load_n(word, __ATOMIC_SEQ_CST) : 0;

	*code = (int)(uint32_t)(mark >> 32);
	return (enum gprof_end_kind)(uint32_t)mark;
}

const char *ending_word(enum gprof_end_kind kind)
{
	switch (kind) {
	case GPROF_END_EXIT:
		return "exit";
	case GPROF_END_UNDERSCORE_EXIT:
		return "_exit";
	case GPROF_END_QUICK_EXIT:
		return "quick_exit";
	case GPROF_END_ABORT:
		return "abort";
	case GPROF_END_EXEC:
		return "exec";
	case GPROF_END_SIGNAL:
		return "signal";
	case GPROF_END_UNKNOWN:
		break;
	}
	return "unknown";
}

static bool is_crash(enum gprof_end_kind kind, int code)
{
	return kind == GPROF_END_ABORT ||
	       (kind == GPROF_END_SIGNAL &&
		       (code == SIGSEGV || code == SIGBUS || code == SIGILL || code == SIGFPE ||
			       code == SIGTRAP || code == SIGSYS));
}

uint64_t ending_patience_ns(void)
{
	int code;
	enum gprof_end_kind kind = ending_kind(&code);

	return is_crash(kind, code) ? CRASH_PATIENCE_NS : PATIENCE_NS;
}
