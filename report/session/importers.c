/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the importers: stream/ knows none of them, as their folders come after it, so sessions hand
 * this list down.
 */
#include "report/session/importers.h"

#include "report/import/kineto/kineto.h"
#include "report/import/nsys/nsys.h"
#include "report/import/xplane/xplane.h"

stream_importer *const stream_importers[] = {xplane_import, kineto_import, nsys_import, NULL};
