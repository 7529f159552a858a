/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files stay open as long as the thread lives: to open one, even at a high number, takes a low
 * number for an instant. Those of frequencies are of a CPU, and a thread moves; one is opened a
 * second, and none where the kernel has no frequencies, as in most virtual machines.
 */
#include "collector/sample/thread_place.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "collector/format/codes.h"
#include "collector/util/file_text.h"
#include "collector/util/log.h"

/* Fields of stat, as proc(5) numbers them. The name before them may have blanks and brackets. */
#define FIRST_FIELD  3u
#define MAJOR_FAULTS 12u
#define CPU	     39u
/* So much is read of both files; the first lines of sched are enough. */
#define TEXT_BYTES 1024u

static bool lacks_frequencies;

void thread_place_close(struct thread_place *place)
{
	private_fd_close(&place->stat);
	private_fd_close(&place->sched);
}

void thread_place_open(struct thread_place *place, const char *task)
{
	char path[64];

	*place = (struct thread_place){0};
	log_format(path, sizeof(path), "%s/stat", task);
	private_fd_open(&place->stat, path, O_RDONLY, PRIVATE_FD_HIGH);
	log_format(path, sizeof(path), "%s/sched", task);
	private_fd_open(&place->sched, path, O_RDONLY, PRIVATE_FD_HIGH);
	thread_place_look(place);
}

/* Returns the text behind a field, NULL if there are not so many. */
static const char *skip_fields(const char *text, unsigned int nr)
{
	for (; text && nr; nr--) {
		text = strchr(text, ' ');
		text = text ? text + 1 : NULL;
	}
	return text;
}

bool thread_place_read_stat(const char *text, uint32_t *cpu, uint64_t *major_faults)
{
	const char *fields = strrchr(text, ')');
	const char *faults, *processor;
	char *end;

	if (!fields || fields[1] != ' ') {
		return false;
	}
	faults = skip_fields(fields + 2, MAJOR_FAULTS - FIRST_FIELD);
	processor = skip_fields(faults, CPU - MAJOR_FAULTS);
	if (!processor) {
		return false;
	}
	*major_faults = strtoull(faults, &end, 10);
	if (end == faults || *end != ' ') {
		return false;
	}
	*cpu = (uint32_t)strtoull(processor, &end, 10);
	return end != processor && (*end == ' ' || *end == '\n') && *processor != '-';
}

bool thread_place_read_sched(const char *text, uint64_t *migrations)
{
	static const char name[] = "\nse.nr_migrations";
	const char *at = strstr(text, name);
	char *end;

	if (!at) {
		return false;
	}
	at += sizeof(name) - 1;
	at += strspn(at, " ");
	if (*at != ':') {
		return false;
	}
	at++;
	*migrations = strtoull(at, &end, 10);
	return end != at && *end == '\n' && !memchr(at, '-', (size_t)(end - at));
}

void thread_place_look(struct thread_place *place)
{
	char text[TEXT_BYTES];
	uint64_t count;
	uint32_t cpu;

	if (private_fd_read(&place->stat, text, sizeof(text)) &&
		thread_place_read_stat(text, &cpu, &count)) {
		place->cpu = cpu;
		place->major_faults = count;
		place->known |= GPROF_THREAD_CPU_KNOWN;
	}
	if (private_fd_read(&place->sched, text, sizeof(text)) &&
		thread_place_read_sched(text, &count)) {
		place->migrations = count;
		place->known |= GPROF_THREAD_MIGRATIONS_KNOWN;
	}
}

void thread_place_look_at_frequency(struct thread_place *place)
{
	char path[80], text[32];

	place->cpu_khz = 0;
	if (lacks_frequencies || !(place->known & GPROF_THREAD_CPU_KNOWN)) {
		return;
	}
	log_format(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq",
		place->cpu);
	if (file_text_read(path, text, sizeof(text))) {
		place->cpu_khz = (uint32_t)strtoull(text, NULL, 10);
	} else {
		lacks_frequencies = true;
	}
}
