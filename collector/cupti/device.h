/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about GPUs and driver that CUPTI's device record lacks: versions, opt-in shared memory, and
 * everything if CUPTI refused. For the drain thread, except device_find.
 */
#ifndef COLLECTOR_CUPTI_DEVICE_H
#define COLLECTOR_CUPTI_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

/* The number of devices that can be sampled. */
#define DEVICE_MAX 64

/*
 * Finds the functions of the mapped libcuda and libcudart. On the attaching thread, inside cuInit:
 * on the drain, a fork of the target could leave the loader's lock taken in the child.
 */
void device_find(void);

/*
 * Has the driver torn itself down, since the process exits and its handler ran before ours? Then
 * neither it nor CUPTI may be called. After device_find; any thread.
 */
bool device_is_gone(void);

/*
 * Adds rows of tables attribute and info, and of device unless CUPTI gives those (has_cupti). Does
 * nothing if device_find found nothing.
 */
void device_add(bool has_cupti);

/* Adds a row of table attribute. */
void device_add_attribute(int device, const char *name, uint64_t value);

/*
 * Does the process have a context on the device: its primary one, or one that CUPTI reported
 * (device_saw)? False after the teardown, and if device_find found nothing. For the drain thread,
 * as the next two.
 */
bool device_is_used(int device);
void device_saw(uint32_t device);

/* False if the driver does not report it. */
bool device_uuid(int device, uint8_t uuid[16]);

/*
 * For the tests: the NUMA node of a PCI device; false if the kernel does not say it. root: "", or a
 * folder in place of /.
 */
bool device_numa_node(
	const char *root, unsigned int domain, unsigned int bus, unsigned int slot, uint64_t *node);

#endif
