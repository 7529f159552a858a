/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of other profilers that every command reads. */
#ifndef REPORT_SESSION_IMPORTERS_H
#define REPORT_SESSION_IMPORTERS_H

#include "report/stream/stream.h"

/* For stream_open; ends with NULL. */
extern stream_importer *const stream_importers[];

#endif
