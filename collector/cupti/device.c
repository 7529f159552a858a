/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls the mapped driver through pointers from device_find(), since gprof is not linked with it.
 * device_is_gone() finds its teardown, after which the drain calls CUPTI no more.
 */
#include "collector/cupti/device.h"

#include <dlfcn.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collector/stream/batch.h"
#include "collector/stream/dictionary.h"
#include "collector/stream/facts.h"
#include "collector/util/file_text.h"
#include "collector/util/log.h"
#include "collector/util/notice.h"

/* CUDA_ERROR_DEINITIALIZED */
#define DEINITIALIZED 4

enum { PCI_BUS = 33, PCI_SLOT = 34, PCI_DOMAIN = 50 };

/* CUdevice_attribute numbers; the names are those of table attribute. */
static const struct {
	int number;
	const char *name;
} attributes[] = {
	{1, "max_threads_per_block"},
	{8, "shared_bytes_per_block"},
	{10, "warp_threads"},
	{12, "registers_per_block"},
	{13, "core_clock_khz"},
	{16, "multiprocessors"},
	{36, "memory_clock_khz"},
	{37, "memory_bus_bits"},
	{38, "l2_bytes"},
	{39, "max_threads_per_multiprocessor"},
	{40, "copy_engines"},
	{75, "capability_major"},
	{76, "capability_minor"},
	{81, "shared_bytes_per_multiprocessor"},
	{82, "registers_per_multiprocessor"},
	{97, "shared_bytes_per_block_optin"},
	{106, "max_blocks_per_multiprocessor"},
	{111, "reserved_shared_bytes_per_block"},
};

/* The driver's functions that are called; all of them harmless without a context. */
static struct driver {
	int (*get_version)(int *version);
	int (*get_count)(int *count);
	int (*get_attribute)(int *value, int attribute, int device);
	int (*get_name)(char *name, int bytes, int device);
	int (*get_uuid)(char uuid[16], int device);
	int (*get_memory)(size_t *bytes, int device);
	int (*get_context)(void **context);
	int (*get_primary)(int device, unsigned int *flags, int *is_active);
} driver;

static uint64_t seen; /* a bit for each device with a context that CUPTI reported */

/* In the driver, which stays, even if the program closes it: the drain calls it later. */
static void *find(const char *name)
{
	void *handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	void *function = handle ? dlsym(handle, name) : NULL;

	if (handle) {
		dlclose(handle); /* our own count only */
	}
	return function;
}

/* The version of the mapped runtime, 0 if there is none. The program closes it. */
static int runtime_version(void)
{
	static const char *const names[] = {
		"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"};
	int version = 0;

	for (size_t i = 0; !version && i < sizeof(names) / sizeof(names[0]); i++) {
		void *handle = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
		int (*get)(int *version) = NULL;

		if (handle) {
			*(void **)&get = dlsym(handle, "cudaRuntimeGetVersion");
			version = get && !get(&version) ? version : 0;
			dlclose(handle);
		}
	}
	return version;
}

void device_find(void)
{
	*(void **)&driver.get_version = find("cuDriverGetVersion");
	*(void **)&driver.get_count = find("cuDeviceGetCount");
	*(void **)&driver.get_attribute = find("cuDeviceGetAttribute");
	*(void **)&driver.get_name = find("cuDeviceGetName");
	/* For a MIG instance, only the newer function returns the instance's. */
	*(void **)&driver.get_uuid = find("cuDeviceGetUuid_v2");
	if (!driver.get_uuid) {
		*(void **)&driver.get_uuid = find("cuDeviceGetUuid");
	}
	*(void **)&driver.get_primary = find("cuDevicePrimaryCtxGetState");
	seen = 0;
	*(void **)&driver.get_memory = find("cuDeviceTotalMem_v2");
	*(void **)&driver.get_context = find("cuCtxGetCurrent");
}

bool device_is_gone(void)
{
	void *context = NULL;

	return driver.get_context && driver.get_context(&context) == DEINITIALIZED;
}

void device_saw(uint32_t device)
{
	if (device < DEVICE_MAX) {
		seen |= (uint64_t)1 << device;
	}
}

bool device_is_used(int device)
{
	unsigned int flags = 0;
	int count = 0, is_active = 0;

	if (seen >> device & 1) {
		return true;
	}
	return driver.get_primary && driver.get_count && !device_is_gone() &&
	       !driver.get_count(&count) && device < count &&
	       !driver.get_primary(device, &flags, &is_active) && is_active;
}

bool device_uuid(int device, uint8_t uuid[16])
{
	return driver.get_uuid && !device_is_gone() && !driver.get_uuid((char *)uuid, device);
}

void device_add_attribute(int device, const char *name, uint64_t value)
{
	uint32_t id = dictionary_text(name, strlen(name));
	struct gprof_row_attribute *row = batch_add(GPROF_TABLE_attribute);

	row->device = (uint32_t)device;
	row->name = id;
	row->value = value;
}

bool device_numa_node(
	const char *root, unsigned int domain, unsigned int bus, unsigned int slot, uint64_t *node)
{
	char path[PATH_MAX], text[16], *end;

	/* log_format() knows no widths. */
	log_format(path, sizeof(path), "%s/sys/bus/pci/devices/%x%x%x%x:%x%x:%x%x.0/numa_node",
		root, domain >> 12, domain >> 8 & 15, domain >> 4 & 15, domain & 15, bus >> 4,
		bus & 15, slot >> 4, slot & 15);
	if (!file_text_read(path, text, sizeof(text)) || *text < '0' || *text > '9') {
		return false;
	}
	*node = strtoull(text, &end, 10);
	return *end == '\n' || !*end;
}

/* The kernel has -1 where the firmware does not say it. */
static void add_numa_node(int device)
{
	int domain = 0, bus = 0, slot = 0;
	uint64_t node;

	if (!driver.get_attribute(&domain, PCI_DOMAIN, device) &&
		!driver.get_attribute(&bus, PCI_BUS, device) &&
		!driver.get_attribute(&slot, PCI_SLOT, device) &&
		device_numa_node(
			"", (unsigned int)domain, (unsigned int)bus, (unsigned int)slot, &node)) {
		device_add_attribute(device, "numa_node", node);
	}
}

static void add_attributes(int device)
{
	size_t bytes = 0;

	for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
		int value = 0;

		if (!driver.get_attribute(&value, attributes[i].number, device)) {
			device_add_attribute(device, attributes[i].name, (uint64_t)(int64_t)value);
		}
	}
	if (driver.get_memory && !driver.get_memory(&bytes, device)) {
		device_add_attribute(device, "memory_bytes", bytes);
	}
	add_numa_node(device);
}

static void add_device(int device)
{
	struct gprof_row_device *row;
	struct gprof_text uuid_text;
	char name[256] = "";
	char uuid[16] = "";
	uint32_t id;

	driver.get_name(name, sizeof(name) - 1, device);
	if (driver.get_uuid) {
		driver.get_uuid(uuid, device);
	}
	id = dictionary_text(name, strlen(name));
	uuid_text = batch_text(uuid, sizeof(uuid));
	row = batch_add(GPROF_TABLE_device);
	row->id = (uint32_t)device;
	row->name = id;
	row->uuid = uuid_text;
}

/* Names and UUIDs come from CUPTI's device records; without CUPTI, from here. */
void device_add(bool has_cupti)
{
	int count = 0;
	int version = 0;

	if (!driver.get_version || !driver.get_count || !driver.get_attribute || !driver.get_name) {
		return;
	}
	if (!driver.get_version(&version)) {
		facts_add_number("cuda.driver_version", (uint64_t)version);
	}
	version = runtime_version();
	if (version) {
		facts_add_number("cuda.runtime_version", (uint64_t)version);
	}
	if (driver.get_count(&count)) {
		return;
	}
	for (int device = 0; device < count; device++) {
		if (!has_cupti) {
			add_device(device);
		}
		add_attributes(device);
	}
	if (count > DEVICE_MAX) {
		notice_add("many GPUs", 0,
			"the process sees %d GPUs; the first %d can be sampled, the others are not",
			count, DEVICE_MAX);
	}
}
