/* SPDX-License-Identifier: Apache-2.0 */
/* Imports traces of XLA's profiler: the *.xplane.pb of JAX and TensorFlow. */
#ifndef REPORT_IMPORT_XPLANE_XPLANE_H
#define REPORT_IMPORT_XPLANE_XPLANE_H

struct stream;

/* A stream_importer; see report/stream/block_index.h. */
int xplane_import(struct stream *stream);

#endif
