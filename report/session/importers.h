/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_SESSION_IMPORTERS_H
#define REPORT_SESSION_IMPORTERS_H

#include "report/stream/stream.h"

/* The formats of other profilers that every command reads, for stream_open. */
extern stream_importer *const stream_importers[];

#endif
