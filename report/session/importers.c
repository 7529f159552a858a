/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of other profilers that every command reads. */
#include "report/kineto/kineto.h"
#include "report/nsys/nsys.h"
#include "report/stream/block_index.h"
#include "report/xplane/xplane.h"

stream_importer *const stream_importers[] = {xplane_import, kineto_import, nsys_import, NULL};
