/* SPDX-License-Identifier: Apache-2.0 */
/* The importer of PyTorch profiler traces; see kineto.c. */
#ifndef REPORT_IMPORT_KINETO_KINETO_H
#define REPORT_IMPORT_KINETO_KINETO_H

#include "report/stream/block_index.h"

stream_importer kineto_import;

#endif
