/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks for the library that fits the CUDA runtime of the process, first near that runtime. Record
 * layouts changed under one soname, so walk() measures the sizes: CUPTI steps over a buffer of
 * made-up records. All calls of CUPTI go through the pointers in `cupti`.
 */
#include "collector/cupti/cupti.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "collector/util/config.h"
#include "collector/util/loaded_objects.h"
#include "collector/util/log.h"
#include "collector/util/notice.h"

/* A folder and a library's path relative to it. */
#define MAX_PATH_BYTES (PATH_MAX + 256)

struct cupti cupti;

static struct library_state {
	atomic_bool is_live;
	uint32_t record_bytes[CUPTI_KIND_END];
	_Atomic uintptr_t low, high; /* address range of its code */
} state;

/* Paths of the CUDA libraries that are already mapped. The loader opens no longer paths. */
static struct mapped {
	char cupti[PATH_MAX];
	char cudart[PATH_MAX];
} mapped;

static int look_at_object(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	if (info->dlpi_name && loaded_objects_begins(info->dlpi_name, "libcupti.so")) {
		strncpy(mapped.cupti, info->dlpi_name, sizeof(mapped.cupti) - 1);
	}
	if (info->dlpi_name && loaded_objects_begins(info->dlpi_name, "libcudart")) {
		strncpy(mapped.cudart, info->dlpi_name, sizeof(mapped.cudart) - 1);
	}
	return 0;
}

/* The loader's lock, which this takes, must not be taken when threads are made: so it is done once.
 */
static int look_at_code(struct dl_phdr_info *info, size_t size, void *data)
{
	const ElfW(Phdr) *segment = loaded_objects_segment(info, (uintptr_t)data);

	(void)size;
	if (segment) {
		atomic_store(&state.low, info->dlpi_addr + segment->p_vaddr);
		atomic_store(&state.high, info->dlpi_addr + segment->p_vaddr + segment->p_memsz);
	}
	return segment != NULL;
}

/* Never dlclosed: libcupti 13.0 and 13.1 crash then. */
static void *open_library(const char *path)
{
	return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

/* Names for a CUDA major, newest first; up to 11.8 the soname carries the minor. */
static const char *const sonames[][10] = {
	{"libcupti.so.13", NULL},
	{"libcupti.so.12", NULL},
	{"libcupti.so.11.8", "libcupti.so.11.7", "libcupti.so.11.6", "libcupti.so.11.5",
		"libcupti.so.11.4", "libcupti.so.11.3", "libcupti.so.11.2", "libcupti.so.11.1",
		"libcupti.so.11.0", NULL},
};

/* Folders relative to the one that holds the CUDA runtime: toolkit, pip before and since 13, conda.
 */
static const char *const places[] = {"", "../../cuda_cupti/lib/", "../extras/CUPTI/lib64/",
	"../../../extras/CUPTI/lib64/", "../lib64/", "../lib/"};

static void *try_major(const char *folder, unsigned int row)
{
	static char path[MAX_PATH_BYTES];

	for (unsigned int i = 0; sonames[row][i]; i++) {
		void *handle;

		log_format(path, sizeof(path), "%s%s", folder, sonames[row][i]);
		handle = open_library(path);
		if (handle) {
			return handle;
		}
	}
	return NULL;
}

/* A runtime named libcudart.so.12... needs CUPTI 12; -1 if its name has no number. */
static int row_of(const char *cudart)
{
	const char *version = strstr(cudart, ".so.");

	if (version && !strncmp(version, ".so.13", 6)) {
		return 0;
	}
	if (version && !strncmp(version, ".so.12", 6)) {
		return 1;
	}
	return version && !strncmp(version, ".so.11", 6) ? 2 : -1;
}

static void *try_rows(const char *folder, int row)
{
	if (row >= 0) {
		return try_major(folder, (unsigned int)row);
	}
	for (unsigned int i = 0; i < sizeof(sonames) / sizeof(sonames[0]); i++) {
		void *handle = try_major(folder, i);

		if (handle) {
			return handle;
		}
	}
	return NULL;
}

/*
 * Tries the folders beside the program's CUDA runtime first, since a CUPTI there fits it; then the
 * loader's own search, the user's CUDA folder, and the usual one.
 */
static void *open_near(void)
{
	const char *slash = strrchr(mapped.cudart, '/');
	int row = row_of(mapped.cudart);
	const char *home = config_cuda_home();
	static char folder[MAX_PATH_BYTES];
	void *handle = NULL;

	for (unsigned int i = 0; slash && !handle && i < sizeof(places) / sizeof(places[0]); i++) {
		log_format(folder, sizeof(folder), "%.*s/%s", (int)(slash - mapped.cudart),
			mapped.cudart, places[i]);
		handle = try_rows(folder, row);
	}
	handle = handle ? handle : try_rows("", row);
	if (!handle && *home) {
		log_format(folder, sizeof(folder), "%s/extras/CUPTI/lib64/", home);
		handle = try_rows(folder, row);
	}
	if (!handle && *home) {
		log_format(folder, sizeof(folder), "%s/lib64/", home);
		handle = try_rows(folder, row);
	}
	return handle ? handle : try_rows("/usr/local/cuda/extras/CUPTI/lib64/", row);
}

static void *find_library(void)
{
	const char *wanted = config_text(CONFIG_CUPTI_PATH);

	if (*wanted) {
		return open_library(wanted);
	}
	loaded_objects_visit(look_at_object, NULL);
	if (mapped.cupti[0]) {
		return open_library(mapped.cupti);
	}
	return open_near();
}

static const char *resolve(void *handle)
{
#define REQUIRED 1
#define OPTIONAL 0
#define CUPTI(need, name, params)                     \
	*(void **)&cupti.name = dlsym(handle, #name); \
	if (need && !cupti.name) {                    \
		return #name;                         \
	}
#include "collector/cupti/cupti.def"
#undef CUPTI
#undef REQUIRED
#undef OPTIONAL
	return NULL;
}

/*
 * GetNextRecord skips records of any content by their kind alone, and so reveals the size of the
 * library's records: layouts change under one soname. Before 13.3 that needs no driver.
 */
static uint32_t walk(uint32_t kind)
{
	static uint64_t buffer[256];
	struct cupti_record *record = NULL;
	const struct cupti_record *first;

	for (size_t i = 0; i < sizeof(buffer) / sizeof(buffer[0]); i++) {
		buffer[i] = kind; /* little-endian: the kind in each aligned first word */
	}
	if (cupti.cuptiActivityGetNextRecord((uint8_t *)buffer, sizeof(buffer), &record)) {
		return 0;
	}
	first = record;
	if (cupti.cuptiActivityGetNextRecord((uint8_t *)buffer, sizeof(buffer), &record)) {
		return 0;
	}
	return (uint32_t)((const char *)record - (const char *)first);
}

static void probe_records(void)
{
	for (uint32_t kind = 1; kind < CUPTI_KIND_END; kind++) {
		size_t bytes = walk(kind);

		if (!bytes && cupti.cuptiActivityGetStructSize &&
			cupti.cuptiActivityGetStructSize(kind, 0, &bytes)) {
			bytes = 0;
		}
		state.record_bytes[kind] = (uint32_t)bytes;
	}
}

bool cupti_probe_again(void)
{
	if (state.record_bytes[CUPTI_KIND_CONCURRENT_KERNEL]) {
		return true;
	}
	cupti.cuptiGetVersion(&cupti.version);
	probe_records();
	if (!state.record_bytes[CUPTI_KIND_CONCURRENT_KERNEL]) {
		cupti_refuse("record sizes", CUPTI_INVALID_KIND);
		return false;
	}
	return true;
}

int cupti_load(void)
{
	void *handle = find_library();
	struct link_map *map = NULL;
	const char *missing;

	if (!handle) {
		notice_add("no CUPTI", 0,
			"libcupti was not found; kernels and copies have no device times. Install "
			"the CUPTI of the program's CUDA (pip: nvidia-cuda-cupti-cuXX), or set "
			"GPROF_CUPTI_PATH");
		return -ENOENT;
	}
	missing = resolve(handle);
	if (missing) {
		notice_add("CUPTI too old", 0,
			"libcupti lacks %s; CUDA 11.0 is the oldest supported version", missing);
		return -ENOSYS;
	}
	cupti.path = !dlinfo(handle, RTLD_DI_LINKMAP, &map) && map ? map->l_name : "";
	loaded_objects_visit(look_at_code, (void *)(uintptr_t)cupti.cuptiGetVersion);
	cupti.cuptiGetVersion(&cupti.version);
	probe_records();
	atomic_store(&state.is_live, true);
	log_message(LOG_INFO, "CUPTI %u from %s, kernel records of %u bytes", cupti.version,
		cupti.path, state.record_bytes[CUPTI_KIND_CONCURRENT_KERNEL]);
	return 0;
}

uint32_t cupti_record_bytes(uint32_t kind)
{
	return kind < CUPTI_KIND_END ? state.record_bytes[kind] : 0;
}

bool cupti_has_code(uintptr_t address)
{
	return address >= atomic_load_explicit(&state.low, memory_order_relaxed) &&
	       address < atomic_load_explicit(&state.high, memory_order_relaxed);
}

bool cupti_is_live(void)
{
	return atomic_load_explicit(&state.is_live, memory_order_relaxed);
}

uint64_t cupti_timestamp(void)
{
	uint64_t time_ns = 0;

	cupti.cuptiGetTimestamp(&time_ns);
	return time_ns;
}

void cupti_forget(void)
{
	atomic_store(&state.is_live, false);
}

static const char *remedy(uint32_t result)
{
	switch (result) {
	case CUPTI_NOT_INITIALIZED:
		return "no usable driver, or a CUPTI newer than the driver: install the CUPTI of "
		       "the program's CUDA or update the driver";
	case CUPTI_MULTIPLE_SUBSCRIBERS:
		return "another profiler holds CUPTI: run without it (nsys, ncu, a debugger, or "
		       "the framework's own profiler)";
	case CUPTI_INSUFFICIENT_PRIVILEGES:
		return "the driver restricts profiling: load it with "
		       "NVreg_RestrictProfilingToAdminUsers=0, or run as root";
	case CUPTI_VIRTUALIZED_DEVICE:
	case CUPTI_VIRTUALIZED_DEVICE_PRIVILEGES:
		return "the GPU is virtualised: ask the host's administrator to allow profiling";
	case CUPTI_CONFIDENTIAL_COMPUTING:
		return "the GPU runs in confidential-compute mode, which forbids tracing";
	case CUPTI_UNKNOWN:
		return "usually no driver (libcuda.so.1) could be opened";
	default:
		return "see CUPTI's documentation of this code";
	}
}

void cupti_refuse(const char *what, uint32_t result)
{
	const char *text = "?";

	if (!atomic_exchange(&state.is_live, false)) {
		return;
	}
	cupti.cuptiGetResultString(result, &text);
	notice_add("CUPTI refused", (int)result, "%s: %s (%u); %s. Until then, " WITHOUT_CUPTI,
		what, text, result, remedy(result));
}

void cupti_end(const char *why)
{
	if (atomic_exchange(&state.is_live, false)) {
		notice_add("CUPTI ended", 0, "%s. From here on, " WITHOUT_CUPTI, why);
	}
}
