/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interns texts for the whole report: equal texts of all streams are one number, so views group and
 * compare by number. Names are demangled when they are first shown, since many never are; the
 * result stays with the name. A hostile name may grow without bound when it is demangled, so the
 * output is cut off by longjmp() and the raw name shown.
 */
#include "report/util/string_pool.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"
#include "report/util/hash.h"

/* Longer demangled names are likely an attack on the reporter. */
#define READABLE_BYTES (64u * 1024u)

struct name {
	char *raw;
	uint32_t nr_raw;
	uint32_t nr_readable;
	char *readable; /* NULL until needed; may equal `raw` */
	uint32_t number;
	UT_hash_handle hh;
};

static struct names_state {
	struct name **all;
	size_t nr, capacity;
	struct name *by_text;
	bool mangled;
} names;

struct demangling {
	struct buf out;
	jmp_buf too_long;
};

static struct name *add(const char *bytes, size_t nr_bytes)
{
	struct name *name = mem_zeroed(1, sizeof(*name));

	name->raw = mem_zeroed(nr_bytes + 1, 1);
	if (nr_bytes) {
		memcpy(name->raw, bytes, nr_bytes);
	}
	name->nr_raw = (uint32_t)nr_bytes;
	name->number = (uint32_t)names.nr;
	names.all = array_grow(names.all, names.nr, &names.capacity, sizeof(struct name *));
	names.all[names.nr++] = name;
	HASH_ADD_KEYPTR(hh, names.by_text, name->raw, name->nr_raw, name);
	return name;
}

uint32_t string_pool_intern(const char *bytes, size_t nr_bytes)
{
	struct name *name = NULL;

	if (!names.nr) {
		add("", 0);
	}
	if (!nr_bytes) {
		return 0;
	}
	HASH_FIND(hh, names.by_text, bytes, nr_bytes, name);
	return name ? name->number : add(bytes, nr_bytes)->number;
}

uint32_t string_pool_nr(void)
{
	return (uint32_t)names.nr;
}

static void add_piece(const char *piece, size_t nr_bytes, void *context)
{
	struct demangling *job = context;

	if (job->out.nr_bytes + nr_bytes > READABLE_BYTES) {
		longjmp(job->too_long, 1); /* the demangler holds no heap memory while it prints */
	}
	buf_add(&job->out, piece, nr_bytes);
}

static void demangle(struct name *name)
{
	struct demangling job = {0};
	volatile int done = 0; /* must survive the longjmp */

	name->readable = name->raw;
	name->nr_readable = name->nr_raw;
	if (strncmp(name->raw, "_Z", 2) != 0 || strlen(name->raw) != name->nr_raw) {
		return;
	}
	if (!setjmp(job.too_long)) {
		done = cplus_demangle_v3_callback(
			name->raw, DMGL_PARAMS | DMGL_ANSI, add_piece, &job);
	}
	if (done && job.out.nr_bytes) {
		buf_char(&job.out, '\0');
		name->readable = job.out.bytes;
		name->nr_readable = (uint32_t)job.out.nr_bytes - 1;
	} else {
		buf_fini(&job.out);
	}
}

const char *string_pool_text(uint32_t name, size_t *nr_bytes)
{
	bool known = name < names.nr;

	if (nr_bytes) {
		*nr_bytes = known ? names.all[name]->nr_raw : 0;
	}
	return known ? names.all[name]->raw : "";
}

const char *string_pool_demangled(uint32_t name, size_t *nr_bytes)
{
	if (name >= names.nr) {
		return string_pool_text(name, nr_bytes);
	}
	if (!names.all[name]->readable) {
		demangle(names.all[name]);
	}
	if (nr_bytes) {
		*nr_bytes = names.all[name]->nr_readable;
	}
	return names.all[name]->readable;
}

const char *string_pool_shown(uint32_t name, size_t *nr_bytes)
{
	return names.mangled ? string_pool_text(name, nr_bytes)
			     : string_pool_demangled(name, nr_bytes);
}

void string_pool_show_mangled(bool mangled)
{
	names.mangled = mangled;
}
