/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the driver says of its GPUs and of itself, where CUPTI's device record does not: versions,
 * shared memory that a kernel may opt in to, and everything when CUPTI refused. The drain's own.
 */
#ifndef COLLECTOR_DEVICE_H
#define COLLECTOR_DEVICE_H

#include <stdbool.h>

/*
 * Adds rows of tables attribute and info, and of device unless CUPTI gives those (has_cupti). Uses
 * the libcuda and libcudart that are mapped already; does nothing without them.
 */
void device_add(bool has_cupti);

#endif
