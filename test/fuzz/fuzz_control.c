/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of the file gprof.control, put there while a process is recorded. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/format/block.h"
#include "collector/util/config.h"
#include "collector/step/control.h"
#include "collector/util/notice.h"
#include "collector/step/step.h"
#include "collector/stream/stream.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/fuzz_recorder.h"

static char dir[] = "/tmp/gprof-fuzz-XXXXXX";
static char path[sizeof(dir) + sizeof("/gprof.control")];

static void clean(void)
{
	unlink(path);
	stream_discard();
	rmdir(dir);
}

static uint32_t no_call(const char *name)
{
	(void)name;
	return 0;
}

static void start(void)
{
	const struct block_ticks ticks = {0};

	fuzz_recorder_clean();
	setenv("GPROF_STEP", "interval:1000", 1);
	config_init();
	if (!mkdtemp(dir) || stream_start(dir, 0, &ticks)) {
		abort();
	}
	snprintf(path, sizeof(path), "%s/gprof.control", dir);
	atexit(clean);
	step_init(no_call);
}

/* A new name for it each time, as `gprof-report control` does it: no look takes it for the old. */
static void put(const uint8_t *bytes, size_t nr_bytes)
{
	char new_path[sizeof(path) + 4];
	int fd;

	snprintf(new_path, sizeof(new_path), "%s.new", path);
	fd = open(new_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, bytes, nr_bytes) != (ssize_t)nr_bytes) {
		abort();
	}
	close(fd);
	if (rename(new_path, path)) {
		abort();
	}
}

static int begins(const uint8_t *bytes, size_t nr_bytes, const char *word)
{
	return nr_bytes >= strlen(word) && !memcmp(bytes, word, strlen(word));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	struct control_command command = {0, 0};

	if (!*path) {
		start();
	}
	notice_forget(); /* there is room for a few only */
	unlink(path);
	control_init();
	put(bytes, nr_bytes);
	if (control_look(&command)) {
		bool is_known = begins(bytes, nr_bytes, "start") ||
				begins(bytes, nr_bytes, "stop") ||
				begins(bytes, nr_bytes, "steps ");

		if (!is_known || command.first > command.end || !command.end) {
			abort();
		}
		/* Once is enough. */
		if (control_look(&command)) {
			abort();
		}
	} else if (begins(bytes, nr_bytes, "start\n") || begins(bytes, nr_bytes, "stop\n")) {
		abort();
	}
	return 0;
}
