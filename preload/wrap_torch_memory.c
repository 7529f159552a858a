/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PyTorch's caching allocator tells c10::reportMemoryUsageToProfiler of all that it gives and takes
 * back, whether or not anybody profiles. libc10_cuda calls it in libc10, so ours comes first; it
 * leaves a row and goes on to the real one, which is found where libc10 is mapped.
 */
#include <errno.h>
#include <link.h>
#include <string.h>

#include "collector/config.h"
#include "preload/elf.h"
#include "preload/hook.h"
#include "preload/torch.h"

/* c10::Device: passed by value, in one register. */
struct device {
	int8_t type;
	int8_t index;
};

/* Until 2.1 the totals are signed, which only their names in the library tell. */
#define FORMS(F)                                                           \
	F(signed, "_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE") \
	F(unsigned, "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE")

typedef void report_fn(void *address, int64_t nr_bytes, uint64_t nr_allocated_bytes,
	uint64_t nr_reserved_bytes, struct device device);

static report_fn *_Atomic reals[2];

enum {
#define F(kind, symbol) FORM_##kind,
	FORMS(F)
#undef F
};

static void find_in(const struct elf *libc10)
{
	void *function;

#define F(kind, symbol)                                                   \
	function = elf_find(libc10, symbol);                              \
	if (function) {                                                   \
		atomic_store(&reals[FORM_##kind], (report_fn *)function); \
	}
	FORMS(F)
#undef F
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *unused)
{
	const char *base = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	struct elf libc10;

	(void)size;
	(void)unused;
	if (base && !strncmp(base + 1, "libc10.so", 9) && elf_open(&libc10, info)) {
		find_in(&libc10);
	}
	return 0;
}

static void record(const void *address, int64_t nr_bytes, uint64_t nr_allocated_bytes,
	uint64_t nr_reserved_bytes, struct device device)
{
	struct ring_self *self = &ring_self;
	struct gprof_row_alloc *row;
	uint32_t mode = hook_mode();
	uint64_t time;

	if (mode & COLLECTOR_COLD) {
		mode = hook_start_slow(); /* the clock's too */
	}
	time = clock_raw();
	if (!(mode & COLLECTOR_RECORD) || ring_is_inside(self) ||
		config_number(CONFIG_TORCH) < TORCH_OPS) {
		return;
	}
	row = (struct gprof_row_alloc *)ring_reserve(self, sizeof(*row));
	if (!row) {
		return;
	}
	*row = (struct gprof_row_alloc){.head = {.bytes = sizeof(*row), .table = GPROF_TABLE_alloc},
		.time = time,
		.address = (uintptr_t)address,
		.bytes = nr_bytes,
		.allocated_bytes = nr_allocated_bytes,
		.reserved_bytes = nr_reserved_bytes,
		.thread = self->id,
		.device_type = (uint8_t)device.type,
		.device = (uint8_t)device.index,
		.framework = GPROF_FRAMEWORK_TORCH};
	ring_commit(self, row, sizeof(*row));
}

static report_fn *real(unsigned int form)
{
	report_fn *function = atomic_load_explicit(&reals[form], memory_order_acquire);

	if (__builtin_expect(!function, 0)) {
		int error = errno;

		/* By every thread that comes before it is known: none may go without. */
		dl_iterate_phdr(look_at_object, NULL);
		torch_look();
		errno = error;
		function = atomic_load_explicit(&reals[form], memory_order_acquire);
	}
	return function;
}

#define F(kind, symbol)                                                                            \
	HOOK_EXPORT report_fn report_##kind __asm__(symbol);                                       \
	void report_##kind(void *address, int64_t nr_bytes, uint64_t nr_allocated_bytes,           \
		uint64_t nr_reserved_bytes, struct device device)                                  \
	{                                                                                          \
		report_fn *function = real(FORM_##kind);                                           \
                                                                                                   \
		if (function) {                                                                    \
			function(                                                                  \
				address, nr_bytes, nr_allocated_bytes, nr_reserved_bytes, device); \
		}                                                                                  \
		record(address, nr_bytes, nr_allocated_bytes, nr_reserved_bytes, device);          \
	}
FORMS(F)
#undef F
