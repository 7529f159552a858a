/* SPDX-License-Identifier: Apache-2.0 */
/* Converts planes into rows, and counts the events that are not kept. */
#ifndef REPORT_IMPORT_XPLANE_CONVERT_H
#define REPORT_IMPORT_XPLANE_CONVERT_H

#include "report/import/kineto/rows.h"
#include "report/import/steps.h"
#include "report/util/idmap.h"
#include "report/import/xplane/plane.h"

struct xplane_thread;

/* Events of a plane, a line or a kind that is not read. */
struct xplane_unread {
	char name[48]; /* cut, and without characters that no such name has */
	uint64_t nr_events;
};

#define XPLANE_UNREAD_MAX 16u /* all others are counted with the last one */

struct xplane_convert {
	struct import_out *out;
	struct kineto_rows rows;
	struct kineto_python python;
	struct import_steps steps, device_steps;
	struct xplane_thread *threads; /* by line */
	uint32_t nr_threads;
	struct idmap hlo;	       /* string id of the HLO operation, by correlation ID */
	uint64_t pid, profile_ns;      /* 0: unknown; when the profile began, since the epoch */
	uint64_t first_ns, last_ns;    /* of what was kept; first > last: nothing */
	uint64_t nr_derived, nr_marks; /* no view uses them */
	struct xplane_unread unread[XPLANE_UNREAD_MAX];
	size_t nr_unread;
	uint64_t nr_incomplete; /* without a name or a time */
	uint64_t nr_bad;	/* messages that are damaged */
};

void xplane_convert_init(struct xplane_convert *convert, struct import_out *out);
void xplane_convert_fini(struct xplane_convert *convert);

/* Is it a plane of a device? These come before those of the host, which join them. */
bool xplane_is_device(const struct wire *name);

void xplane_convert_plane(struct xplane_convert *convert, struct xplane_plane *plane);

/* Writes a row for each thread. */
void xplane_threads_write(struct xplane_convert *convert);

#endif
