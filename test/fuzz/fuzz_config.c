/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of the file that GPROF_CONFIG names. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collector/util/config.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/fuzz_recorder.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[64];

	if (fd < 0 || write(fd, bytes, nr_bytes) != (ssize_t)nr_bytes) {
		abort();
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fuzz_recorder_clean();
	setenv("GPROF_CONFIG", path, 1);
	setenv("GPROF_FLUSH_MS", "77", 1);
	config_init();
	config_load();
	if (config_number(CONFIG_FLUSH_MS) != 77) {
		abort(); /* the environment wins */
	}
	fuzz_recorder_use_settings();
	close(fd);
	return 0;
}
