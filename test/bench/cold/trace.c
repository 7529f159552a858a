/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace: reads what `valgrind --tool=lackey --trace-mem=yes` says of `launches trace` and prints
 * for launch, device, operator and tensor each, as lines `launch.hook N`:
 *
 *	calls		that were traced
 *	hook		instructions a call on the way to the runtime and back, the median
 *	callbacks	those in callbacks
 *	lines		cache lines that these touch and the program, runtime, CUPTI, PyTorch do not
 *	code, data	of these
 *	changes		changes of buffers
 *	change		instructions of one, the median; calls with one are not in the others
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/bench/cold/cold.h"

#define MAX_CALLS 65536u
#define MAX_LINES 16384u

struct line {
	uint64_t line;
	bool is_code;
};

/* Lines that a call touched, each once. */
struct lines {
	struct line lines[MAX_LINES];
	uint32_t nr;
};

static struct {
	uint32_t counts[COLD_NR_MARKS];
	struct lines ours, theirs;
	unsigned int what; /* COLD_LAUNCH and so on, COLD_NR_CALLS before the first */
} now = {.what = COLD_NR_CALLS};

struct number {
	uint32_t values[MAX_CALLS];
	uint32_t nr;
};

static struct of_calls {
	struct number hook, callbacks, code, data, change;
} all[COLD_NR_CALLS];

static void add(struct number *number, uint32_t value)
{
	if (number->nr < MAX_CALLS) {
		number->values[number->nr++] = value;
	}
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static uint32_t median(struct number *number)
{
	qsort(number->values, number->nr, sizeof(number->values[0]), compare);
	return number->nr ? number->values[number->nr / 2] : 0;
}

static bool has_line(const struct lines *lines, uint64_t line)
{
	for (uint32_t i = lines->nr; i--;) {
		if (lines->lines[i].line == line) {
			return true;
		}
	}
	return false;
}

static void touch(struct lines *lines, uint64_t address, uint32_t bytes, bool is_code)
{
	for (uint64_t line = address / COLD_LINE; line <= (address + bytes - 1) / COLD_LINE;
		line++) {
		if (lines->nr < MAX_LINES && !has_line(lines, line)) {
			lines->lines[lines->nr++] = (struct line){line, is_code};
		}
	}
}

static void end_call(struct of_calls *calls)
{
	uint32_t nr[2] = {0};

	if (now.counts[COLD_CHANGE]) {
		add(&calls->change, now.counts[COLD_CHANGE]);
		return;
	}
	for (uint32_t i = 0; i < now.ours.nr; i++) {
		const struct line *line = &now.ours.lines[i];

		nr[line->is_code] += !has_line(&now.theirs, line->line);
	}
	add(&calls->hook, now.counts[COLD_HOOK]);
	add(&calls->callbacks, now.counts[COLD_CALLBACK]);
	add(&calls->data, nr[false]);
	add(&calls->code, nr[true]);
}

/* What comes after the last call of its kind is not one. */
static void begin_call(unsigned int what)
{
	if (now.what == what) {
		end_call(&all[what]);
	}
	memset(now.counts, 0, sizeof(now.counts));
	now.ours.nr = now.theirs.nr = 0;
	now.what = what;
}

/* "I  04001090,3": an instruction; " L ", " S ", " M ": a load, a store, both */
static void read_line(const char *text)
{
	static unsigned int whose = COLD_TARGET;
	bool is_code = text[0] == 'I';
	uint64_t address;
	uint32_t bytes;
	char *end;

	if ((!is_code && text[0] != ' ') || !text[1] || !text[2] ||
		(now.what == COLD_NR_CALLS && text[1] != 'S')) {
		return;
	}
	address = strtoull(text + 3, &end, 16);
	bytes = *end == ',' ? (uint32_t)strtoul(end + 1, NULL, 10) : 0;
	if (!bytes) {
		return;
	}
	if (address - COLD_MARKS < COLD_NR_MARKS * COLD_LINE) {
		unsigned int mark = (unsigned int)((address - COLD_MARKS) / COLD_LINE);

		if (mark < COLD_NR_CALLS) {
			begin_call(mark);
		}
		whose = mark < COLD_NR_CALLS ? COLD_TARGET : mark;
	} else if (now.what < COLD_NR_CALLS) {
		now.counts[whose] += is_code;
		if (whose != COLD_CHANGE) {
			touch(whose == COLD_TARGET ? &now.theirs : &now.ours, address, bytes,
				is_code);
		}
	}
}

static void print(const char *what, struct of_calls *calls)
{
	uint32_t code = median(&calls->code), data = median(&calls->data);

	printf("%s.calls %u\n%s.hook %u\n%s.callbacks %u\n", what, calls->hook.nr, what,
		median(&calls->hook), what, median(&calls->callbacks));
	printf("%s.lines %u\n%s.code %u\n%s.data %u\n", what, code + data, what, code, what, data);
	printf("%s.changes %u\n%s.change %u\n", what, calls->change.nr, what,
		median(&calls->change));
}

int main(void)
{
	char text[256];

	while (fgets(text, sizeof(text), stdin)) {
		read_line(text);
	}
	print("launch", &all[COLD_LAUNCH]);
	print("device", &all[COLD_DEVICE]);
	print("operator", &all[COLD_OPERATOR]);
	print("tensor", &all[COLD_TENSOR]);
	return !all[COLD_OPERATOR].hook.nr;
}
