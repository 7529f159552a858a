/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of other profilers that every command reads. */
#include "report/kineto/kineto.h"
#include "report/nsys/nsys.h"

stream_importer *const stream_importers[] = {kineto_import, nsys_import, NULL};
