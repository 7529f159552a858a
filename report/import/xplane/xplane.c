/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Imports traces of XLA's profiler, as JAX and TensorFlow write them: an XSpace (xplane.proto in
 * openxla/xla), plain or gzipped. It becomes a stream of our own format in memory (import/out.h).
 *
 *     /device:GPU:N, "Stream #M"     kernel, memcpy, memset, graph, overhead; device, attribute
 *     /device:TPU:N, "XLA Ops"       kernel; an operation that contains others is left out
 *     /host:..., with a correlation ID and a device    call, api_*
 *     /host:..., "$file.py:12 name"  py_call, py_code
 *     MemoryAllocation, MemoryDeallocation    alloc
 *     /host:..., all others          op
 *     hlo_op of a GPU activity       op as long as the call that launched it
 *     step_num of an event           step, with its own end; else the line "Steps" of a device
 *     Task Environment               the time that all others count from
 *
 * Left out and counted: events of other planes and lines, allocations as CUPTI saw them, events
 * without a name or a time. Marks without a duration and what XLA's tools derive are facts.
 *
 * Memory: the largest plane, the rows that are sorted (see kineto/kineto.c), and 8 bytes a launch.
 */
#include "report/import/xplane/xplane.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "report/stream/block_index.h"
#include "report/util/buf.h"
#include "report/util/err.h"
#include "report/util/files.h"
#include "report/util/progress.h"
#include "report/import/xplane/convert.h"

/* Numbers of fields in xplane.proto. */
enum {
	SPACE_PLANE = 1,
	SPACE_ERROR = 2,
	SPACE_WARNING = 3,
	SPACE_HOST = 4,
	PLANE_ID = 1,
	PLANE_NAME = 2,
};

/* Bytes that distinguish a trace: a plane with its name, which comes before its lines. */
#define FIRST_BYTES 256u
/* Tag and length of a field. */
#define MAX_HEADER 20u
/* Protocol buffers have no larger messages. */
#define MAX_BYTES (1ull << 31)
#define PIECE	  (256u * 1024u)

struct part {
	uint64_t offset, nr_bytes;
	uint32_t field;
	bool is_device;
};

struct xplane {
	int fd; /* of the bytes as they are, unpacked if they were packed */
	uint64_t size;
	struct part *parts;
	size_t nr_parts, capacity;
	struct xplane_convert convert;
	struct import_out *out;
	uint64_t cut_offset; /* where the file ends too early */
	const char *problem; /* of the packed bytes */
	bool is_cut;
	bool is_spoilt; /* rows are missing: no room for temporary files */
};

/* ---- the file ---- */

/* Are these the first bytes of an XSpace? `size` is that of the file, UINT64_MAX if unknown. */
static bool is_space(const unsigned char *bytes, size_t nr_bytes, uint64_t size)
{
	struct wire wire = wire_of(bytes, nr_bytes);
	struct wire name;
	uint64_t tag, plane_bytes, value;

	if (!wire_varint(&wire, &tag) || tag != (SPACE_PLANE << 3 | 2) ||
		!wire_varint(&wire, &plane_bytes) || plane_bytes > size ||
		plane_bytes > MAX_BYTES || !wire_varint(&wire, &tag)) {
		return false;
	}
	if (tag == PLANE_ID << 3 && (!wire_varint(&wire, &value) || !wire_varint(&wire, &tag))) {
		return false;
	}
	if (tag != (PLANE_NAME << 3 | 2) || !wire_varint(&wire, &value) || !value ||
		value > wire_length(&wire) || value >= plane_bytes) {
		return false;
	}
	name = wire_of(wire.at, (size_t)value);
	while (name.at < name.end && *name.at >= ' ' && *name.at <= '~') {
		name.at++;
	}
	return name.at == name.end;
}

/* The first bytes of what a file of gzip contains. */
static size_t unpack_first(const unsigned char *packed, size_t nr_packed, unsigned char *bytes)
{
	z_stream zlib = {0};
	size_t nr_bytes;

	if (inflateInit2(&zlib, 16 + MAX_WBITS) != Z_OK) {
		return 0;
	}
	zlib.next_in = (unsigned char *)(uintptr_t)packed;
	zlib.avail_in = (uInt)nr_packed;
	zlib.next_out = bytes;
	zlib.avail_out = FIRST_BYTES;
	inflate(&zlib, Z_SYNC_FLUSH);
	nr_bytes = FIRST_BYTES - zlib.avail_out;
	inflateEnd(&zlib);
	return nr_bytes;
}

static bool is_trace(const struct stream *stream, bool *is_packed)
{
	unsigned char bytes[FIRST_BYTES], unpacked[FIRST_BYTES];
	ssize_t nr_bytes = pread(stream->fd, bytes, sizeof(bytes), 0);

	if (nr_bytes < 2) {
		return false;
	}
	*is_packed = bytes[0] == 0x1f && bytes[1] == 0x8b;
	return *is_packed ? is_space(unpacked, unpack_first(bytes, (size_t)nr_bytes, unpacked),
				    UINT64_MAX)
			  : is_space(bytes, (size_t)nr_bytes, stream->size);
}

/* Unpacks the file into a temporary one. Returns its descriptor, or negative with err_set. */
static int unpack(struct xplane *xplane, int packed)
{
	int fd = temp_file_open(), own = fcntl(packed, F_DUPFD_CLOEXEC, 0);
	gzFile file = own >= 0 ? gzdopen(own, "rb") : NULL;
	char *piece = mem_zeroed(PIECE, 1);
	int nr = 0;
	bool has_file = file != NULL, is_good = fd >= 0 && has_file, is_damaged;

	while (is_good && xplane->size < MAX_BYTES && (nr = gzread(file, piece, PIECE)) > 0) {
		is_good = temp_file_write(fd, xplane->size, piece, (size_t)nr);
		xplane->size += (uint64_t)nr;
	}
	is_damaged = nr < 0;
	if (has_file) {
		is_damaged = gzclose(file) != Z_OK || is_damaged;
	} else if (own >= 0) {
		close(own);
	}
	if (is_damaged) {
		xplane->problem = "the gzip data are damaged or truncated";
	}
	free(piece);
	if (is_good) {
		return fd;
	}
	if (fd >= 0) {
		close(fd);
	}
	return has_file ? err_set(-ENOSPC, IMPORT_OUT_NO_ROOM)
			: err_set(-ENOMEM, "no memory or no descriptor is left to unpack it");
}

static size_t read_at(const struct xplane *xplane, uint64_t offset, void *bytes, size_t nr_bytes)
{
	char *at = bytes;
	size_t nr = 0;

	while (nr < nr_bytes) {
		ssize_t n = pread(xplane->fd, at + nr, nr_bytes - nr, (off_t)(offset + nr));

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			break;
		}
		nr += (size_t)n;
	}
	return nr;
}

static bool is_device(const struct xplane *xplane, const struct part *part)
{
	unsigned char bytes[FIRST_BYTES];
	size_t nr_bytes = part->nr_bytes < sizeof(bytes) ? (size_t)part->nr_bytes : sizeof(bytes);
	struct wire wire = wire_of(bytes, read_at(xplane, part->offset, bytes, nr_bytes));
	struct wire_field field;

	while (wire_next(&wire, &field)) {
		if (field.number == PLANE_NAME) {
			return xplane_is_device(&field.bytes);
		}
	}
	return false;
}

/* Finds the fields of the XSpace. */
static void find_parts(struct xplane *xplane)
{
	uint64_t offset = 0;

	while (offset < xplane->size && !xplane->is_cut) {
		unsigned char bytes[MAX_HEADER];
		struct wire wire = wire_of(bytes, read_at(xplane, offset, bytes, sizeof(bytes)));
		struct part part = {0};
		uint64_t tag = 0;

		if (!wire_varint(&wire, &tag) || (tag & 7) != 2 || tag >> 3 > SPACE_HOST ||
			!wire_varint(&wire, &part.nr_bytes)) {
			xplane->is_cut = true;
			xplane->cut_offset = offset;
			break;
		}
		part.field = (uint32_t)(tag >> 3);
		part.offset = offset + (uint64_t)(wire.at - bytes);
		if (part.nr_bytes > xplane->size - part.offset) {
			xplane->is_cut = true;
			xplane->cut_offset = xplane->size;
			part.nr_bytes = xplane->size - part.offset;
		}
		part.is_device = part.field == SPACE_PLANE && is_device(xplane, &part);
		xplane->parts = array_grow(
			xplane->parts, xplane->nr_parts, &xplane->capacity, sizeof(*xplane->parts));
		xplane->parts[xplane->nr_parts++] = part;
		offset = part.offset + part.nr_bytes;
	}
}

/* ---- parts ---- */

static void read_part(struct xplane *xplane, const struct part *part, unsigned char *bytes)
{
	struct wire wire =
		wire_of(bytes, read_at(xplane, part->offset, bytes, (size_t)part->nr_bytes));
	struct xplane_plane plane;

	switch (part->field) {
	case SPACE_PLANE:
		xplane_plane_init(&plane, &wire);
		xplane_convert_plane(&xplane->convert, &plane);
		xplane_plane_fini(&plane);
		break;
	case SPACE_ERROR:
	case SPACE_WARNING:
		/* "GPU events dropped", for example. */
		import_out_notice(xplane->out, 0, "XLA's profiler", (const char *)wire.at,
			wire_length(&wire));
		break;
	default:
		import_out_fact(
			xplane->out, "host.name", (const char *)wire.at, wire_length(&wire));
		break;
	}
}

/* Devices first: calls of the host take the HLO operations of what they launched. */
static void read_parts(struct xplane *xplane)
{
	uint64_t most = 1;
	unsigned char *bytes;

	for (size_t i = 0; i < xplane->nr_parts; i++) {
		most = xplane->parts[i].nr_bytes > most ? xplane->parts[i].nr_bytes : most;
	}
	bytes = mem_resize(NULL, (size_t)most, 1);
	progress_start("reading the trace", xplane->size);
	for (int is_host = 0; is_host < 2; is_host++) {
		for (size_t i = 0; i < xplane->nr_parts; i++) {
			if (xplane->parts[i].is_device != is_host) {
				read_part(xplane, &xplane->parts[i], bytes);
				progress_add(xplane->parts[i].nr_bytes);
			}
		}
	}
	progress_stop();
	free(bytes);
}

/* ---- the rest of the stream ---- */

static void write_losses(struct xplane *xplane)
{
	const struct xplane_convert *convert = &xplane->convert;

	import_out_loss(xplane->out, convert->last_ns, convert->nr_bad,
		"they are not valid protocol buffers");
	import_out_loss(xplane->out, convert->last_ns, convert->nr_incomplete,
		"they have no name or no time in the trace");
	for (size_t i = 0; i < convert->nr_unread; i++) {
		char cause[80];

		snprintf(
			cause, sizeof(cause), "events of %s are not read", convert->unread[i].name);
		import_out_loss(xplane->out, convert->last_ns, convert->unread[i].nr_events, cause);
	}
}

/* The clock of a trace counts from the begin of the profile or since the epoch. */
static uint64_t base_ns(const struct xplane_convert *convert)
{
	return convert->first_ns < convert->profile_ns && convert->profile_ns <= INT64_MAX / 2
		       ? convert->profile_ns
		       : 0;
}

static int finish(struct xplane *xplane)
{
	struct xplane_convert *convert = &xplane->convert;
	struct import_out_end end = {.format = "xplane",
		.first_tick = convert->first_ns <= convert->last_ns ? convert->first_ns : 1,
		.last_tick = convert->last_ns,
		.base_ns = base_ns(convert),
		.pid = convert->pid <= UINT32_MAX ? (uint32_t)convert->pid : 0};

	xplane->is_spoilt = !kineto_rows_write(&convert->rows, &convert->python, xplane->out);
	end.nr_early = convert->rows.nr_early;
	import_steps_write(
		convert->steps.nr ? &convert->steps : &convert->device_steps, xplane->out);
	xplane_threads_write(convert);
	write_losses(xplane);
	import_out_fact_number(
		xplane->out, "trace.derived", convert->nr_derived + convert->rows.nr_twice);
	import_out_fact_number(xplane->out, "trace.marks", convert->nr_marks);
	return import_out_finish(xplane->out, &end);
}

static void add_damages(struct stream *stream, const struct xplane *xplane)
{
	if (xplane->problem) {
		stream_add_damage(stream, 0, 0, xplane->problem);
	} else if (xplane->is_cut) {
		stream_add_damage(stream, xplane->cut_offset, 0, "the trace is truncated here");
	}
	if (xplane->is_spoilt) {
		stream_add_damage(stream, 0, 0, IMPORT_OUT_NO_ROOM);
	}
	import_steps_add_damages(&xplane->convert.steps, stream);
	import_steps_add_damages(&xplane->convert.device_steps, stream);
}

/* Reads xplane->fd; returns the descriptor of the stream, or a negative code. */
static int convert(struct xplane *xplane, struct stream *stream)
{
	int fd;

	xplane->out = import_out_create();
	if (!xplane->out) {
		return -ENOMEM;
	}
	xplane_convert_init(&xplane->convert, xplane->out);
	find_parts(xplane);
	read_parts(xplane);
	fd = finish(xplane);
	if (fd >= 0) {
		add_damages(stream, xplane);
	}
	if (fd >= 0 && !xplane->convert.rows.nr_all) {
		close(fd);
		fd = err_set(-ENODATA, "it contains no trace events");
	}
	xplane_convert_fini(&xplane->convert);
	free(xplane->parts);
	return fd;
}

int xplane_import(struct stream *stream)
{
	struct xplane xplane = {.fd = stream->fd, .size = stream->size};
	bool is_packed = false;
	int fd;

	if (!is_trace(stream, &is_packed)) {
		return 0;
	}
	if (is_packed) {
		xplane.size = 0;
		xplane.fd = unpack(&xplane, stream->fd);
	}
	if (xplane.fd < 0) {
		return xplane.fd;
	}
	fd = convert(&xplane, stream);
	if (is_packed) {
		close(xplane.fd);
	}
	if (fd < 0) {
		return fd;
	}
	import_out_replace(stream, fd);
	stream->is_bare = true;
	return 0;
}
