/* SPDX-License-Identifier: Apache-2.0 */
/* The importer of databases that Nsight Systems exports; see nsys.c. */
#ifndef REPORT_IMPORT_NSYS_NSYS_H
#define REPORT_IMPORT_NSYS_NSYS_H

#include "report/stream/block_index.h"

stream_importer nsys_import;

#endif
