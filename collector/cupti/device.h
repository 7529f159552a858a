/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the driver says of its GPUs and of itself, where CUPTI's device record does not: versions,
 * shared memory that a kernel may opt in to, and everything when CUPTI refused. The drain's own,
 * but for device_find.
 */
#ifndef COLLECTOR_CUPTI_DEVICE_H
#define COLLECTOR_CUPTI_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#define DEVICE_MAX 64

/*
 * Finds the functions of the libcuda and libcudart that are mapped. On the attaching thread, inside
 * cuInit: on the drain, a fork of the host's could leave the loader's lock taken in the child.
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
 * Has the process a context on it: its primary one, or one that CUPTI told of (device_saw)? Not
 * after the teardown, nor where device_find found nothing. The drain's, as the next two.
 */
bool device_is_used(int device);
void device_saw(uint32_t device);

/* False if the driver does not tell. */
bool device_uuid(int device, uint8_t uuid[16]);

#endif
