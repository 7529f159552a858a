/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the importers: stream/ knows none of them, as their folders come after it, so sessions hand
 * this list down.
 */
#include "report/session/importers.h"

#include "report/kineto/kineto.h"
#include "report/nsys/nsys.h"
#include "report/xplane/xplane.h"

stream_importer *const stream_importers[] = {xplane_import, kineto_import, nsys_import, NULL};
