/* SPDX-License-Identifier: Apache-2.0 */
/* The list of importers. */
#include "report/session/importers.h"

#include "report/kineto/kineto.h"
#include "report/nsys/nsys.h"
#include "report/xplane/xplane.h"

stream_importer *const stream_importers[] = {xplane_import, kineto_import, nsys_import, NULL};
