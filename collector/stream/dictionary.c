/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Four tables of ids (texts, shapes, functions, places), and small caches before them. A new value
 * adds the row that defines it to a batch that is written before any event. CUPTI gives names by
 * address: a cache trusts an address until the next buffer (dictionary_names_may_change), after
 * which the text at it is compared once.
 */
#include "collector/stream/dictionary.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "collector/format/format.h"
#include "collector/format/intern.h"
#include "collector/ring/kernel_names.h"
#include "collector/stream/batch.h"
#include "collector/util/log.h"
#include "collector/util/loss.h"
#include "collector/util/notice.h"

#define NR_TEXTS     32768u
#define TEXT_ARENA   (4u << 20)
#define NR_SHAPES    32768u
#define NR_FUNCTIONS 8192u
#define NR_PLACES    1024u
#define NR_LATER     256u
/* Doublings of them, up to 262,144 texts in 32 MB, 1,048,576 shapes, 65,536 others. */
#define MORE_TEXTS     3u
#define MORE_SHAPES    5u
#define MORE_FUNCTIONS 3u
#define MORE_PLACES    6u

/* Our copy of a known name. */
struct name_copy {
	uint64_t at; /* in the arena of texts */
	uint32_t nr_bytes;
};

/* A kernel whose host address has meant another one before. */
struct later_kernel {
	uint32_t number; /* of the source's */
	uint32_t name;	 /* 0: none yet */
};

_Atomic(kernel_name_reader) kernel_name_read COMPAT_AT_START;
_Atomic uint32_t kernel_names_era;
struct dictionary_known_place dictionary_known_places[DICTIONARY_NR_KNOWN_PLACES];
struct dictionary_names dictionary_names;

static struct dictionary_state {
	struct intern texts;
	struct intern shapes;
	struct intern functions; /* addresses of those that were launched */
	struct intern places;
	struct name_copy copies[DICTIONARY_NR_KNOWN_NAMES];
	struct later_kernel later[NR_LATER]; /* met last */
	uint32_t era;
	bool has_complained;
} state;

static void forget_known(void)
{
	memset(&dictionary_names, 0, sizeof(dictionary_names));
	dictionary_names.era = 1;
	memset(state.later, 0, sizeof(state.later));
	memset(dictionary_known_places, 0, sizeof(dictionary_known_places));
}

int dictionary_init(void)
{
	int rc = intern_init(&state.texts, NR_TEXTS, TEXT_ARENA, MORE_TEXTS);

	rc = rc ? rc
		: intern_init(&state.shapes, NR_SHAPES, NR_SHAPES * sizeof(struct gprof_row_shape),
			  MORE_SHAPES);
	rc = rc ? rc
		: intern_init(&state.functions, NR_FUNCTIONS, NR_FUNCTIONS * sizeof(uint64_t),
			  MORE_FUNCTIONS);
	rc = rc ? rc
		: intern_init(
			  &state.places, NR_PLACES, NR_PLACES * 3 * sizeof(uint32_t), MORE_PLACES);
	state.has_complained = false;
	forget_known();
	return rc;
}

void dictionary_forget(void)
{
	intern_forget(&state.texts);
	intern_forget(&state.shapes);
	intern_forget(&state.functions);
	intern_forget(&state.places);
	forget_known();
	state.era++;
	atomic_fetch_add(&kernel_names_era, 1); /* shapes are known by their launches, too */
}

uint32_t dictionary_era(void)
{
	return state.era;
}

/* Complains once in the process, about the first dictionary that has forgotten ids. */
void dictionary_look(void)
{
	const struct {
		const struct intern *intern;
		const char *most, *what;
	} all[] = {{&state.texts, "262,144", "texts"},
		{&state.shapes, "1,048,576", "launch shapes"},
		{&state.functions, "65,536", "kernel functions"},
		{&state.places, "65,536", "streams"}};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && !state.has_complained; i++) {
		if (!all[i].intern->nr_forgotten) {
			continue;
		}
		state.has_complained = true;
		if (intern_may_grow(all[i].intern)) {
			notice_add("no memory", 0,
				"there is no memory to remember more %s; nothing is lost, but they "
				"are defined again and again, and the file grows faster (raise "
				"RLIMIT_AS or vm.max_map_count)",
				all[i].what);
		} else {
			notice_add("many names", 0,
				"the program uses over %s %s, more than gprof remembers; nothing "
				"is lost, but they are defined again and again, and the file grows "
				"faster",
				all[i].most, all[i].what);
		}
	}
}

static const struct intern_entry *find_text(const char *bytes, uint64_t nr_bytes)
{
	const uint32_t nr_forgotten = state.texts.nr_forgotten;
	const struct intern_entry *entry;
	bool is_new;

	if (nr_bytes > GPROF_TEXT_BYTES) {
		nr_bytes = GPROF_TEXT_BYTES;
		loss_add(LOSS_TEXT, 1);
	}
	entry = intern_find(&state.texts, bytes, nr_bytes, &is_new);
	if (state.texts.nr_forgotten != nr_forgotten) {
		/* Shapes with the old ids of names are not found again, and only take room. */
		intern_forget(&state.shapes);
	}
	if (is_new) {
		struct gprof_text text = batch_text(bytes, nr_bytes);
		struct gprof_row_string *row = batch_add(GPROF_TABLE_string);

		row->id = entry->id;
		row->text = text;
	}
	return entry;
}

uint32_t dictionary_text(const char *bytes, uint64_t nr_bytes)
{
	return nr_bytes ? find_text(bytes, nr_bytes)->id : 0;
}

static bool is_same_name(const struct name_copy *copy, const char *name)
{
	/* strncmp: what stands at that address now may be shorter, and end before unmapped memory.
	 */
	return !strncmp(state.texts.arena + copy->at, name, copy->nr_bytes) &&
	       !name[copy->nr_bytes];
}

uint32_t dictionary_name_slow(const char *name)
{
	struct dictionary_known_name *known = dictionary_known_name(name);
	struct name_copy *copy = &state.copies[known - dictionary_names.known];

	if (!name || !*name) {
		return 0;
	}
	if (known->name != name || !is_same_name(copy, name)) {
		const struct intern_entry *entry = find_text(name, strlen(name));

		*copy = (struct name_copy){.at = entry->at, .nr_bytes = entry->nr_bytes};
		known->name = name;
		known->id = entry->id;
	}
	known->era = dictionary_names.era;
	return known->id;
}

void dictionary_names_may_change(void)
{
	if (!++dictionary_names.era) {
		memset(&dictionary_names, 0, sizeof(dictionary_names));
		dictionary_names.era = 1;
	}
}

uint32_t dictionary_shape(const struct gprof_row_shape *shape)
{
	bool is_new;
	const struct intern_entry *entry =
		intern_find(&state.shapes, shape, sizeof(*shape), &is_new);

	if (is_new) {
		struct gprof_row_shape *row = batch_add(GPROF_TABLE_shape);

		*row = *shape;
		row->id = entry->id;
	}
	return entry->id;
}

/* As the reader names one without a name: by the table `function` it would get another one's. */
static uint32_t name_unknown(uint64_t address)
{
	char text[48];
	size_t length =
		log_format(text, sizeof(text), "(kernel at 0x%llx)", (unsigned long long)address);

	return dictionary_text(text, length);
}

static uint32_t name_later(kernel_name_reader read, uint64_t address, uint64_t raw)
{
	char text[GPROF_TEXT_BYTES];
	struct kernel_name name = read(address, raw, NULL, 0);
	struct later_kernel *later = &state.later[name.number % NR_LATER];

	if (!later->name || later->number != name.number) {
		name = read(address, raw, text, sizeof(text));
		later->name = name.nr_bytes ? dictionary_text(text, name.nr_bytes)
					    : name_unknown(address);
		later->number = name.number;
	}
	return later->name;
}

static void name_first(kernel_name_reader read, uint64_t address, uint64_t raw)
{
	char text[GPROF_TEXT_BYTES];
	struct gprof_row_function *row;
	uint32_t name_id;
	bool is_new;

	intern_find(&state.functions, &address, sizeof(address), &is_new);
	name_id =
		is_new ? dictionary_text(text, read(address, raw, text, sizeof(text)).nr_bytes) : 0;
	if (name_id) {
		row = batch_add(GPROF_TABLE_function);
		row->address = address;
		row->name = name_id;
	}
}

uint32_t dictionary_function(uint64_t address, uint64_t raw, bool *is_lasting)
{
	kernel_name_reader read = atomic_load_explicit(&kernel_name_read, memory_order_acquire);
	enum kernel_turn turn = read ? read(address, raw, NULL, 0).turn : KERNEL_ALONE;

	*is_lasting = turn == KERNEL_ALONE;
	if (turn == KERNEL_LATER) {
		return name_later(read, address, raw);
	}
	if (read) {
		name_first(read, address, raw);
	}
	return 0;
}

static uint32_t find_place(const uint32_t key[3])
{
	bool is_new;
	const struct intern_entry *entry =
		intern_find(&state.places, key, 3 * sizeof(key[0]), &is_new);

	if (is_new) {
		struct gprof_row_place *row = batch_add(GPROF_TABLE_place);

		row->id = entry->id;
		row->device = key[0];
		row->context = key[1];
		row->stream = key[2];
	}
	return entry->id;
}

uint32_t dictionary_place_slow(uint32_t device, uint32_t context, uint32_t stream)
{
	const uint32_t key[] = {device, context, stream};
	struct dictionary_known_place *known = dictionary_known_place(context, stream);

	*known = (struct dictionary_known_place){device, context, stream, find_place(key)};
	return known->id;
}
