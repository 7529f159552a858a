/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames are searched from the innermost one outwards, up to the loader's function that calls the
 * program's code: what is around that says nothing of the stage.
 */
#include "report/budget/loader_stage.h"

#include <string.h>

#include "report/model/py_stack.h"
#include "report/util/string_pool.h"

/* A damaged stream may have cycles of stacks. */
#define MAX_FRAMES 256u

struct rule {
	const char *path, *function;
	enum loader_stage stage;
	bool counts_calls;
};

static const struct rule rules[] = {
#define LOADER_RULE(path, function, stage, counts_calls) \
	{path, function, LOADER_STAGE_##stage, counts_calls},
#include "report/budget/loader_stage.def"
#undef LOADER_RULE
};

/* Files of loaders that call the program's code: PyTorch's, Paddle's. */
static const char *const fetchers[] = {"/utils/data/_utils/fetch.py", "/io/dataloader/fetcher.py"};

static const char *const names[NR_LOADER_STAGES] = {
	[LOADER_STAGE_NONE] = "",
	[LOADER_STAGE_READ] = "read",
	[LOADER_STAGE_DECODE] = "decode",
	[LOADER_STAGE_TRANSFORM] = "transform",
	[LOADER_STAGE_OWN] = "own code",
	[LOADER_STAGE_COLLATE] = "collate",
	[LOADER_STAGE_HAND_OVER] = "hand over",
	[LOADER_STAGE_PIN] = "pin memory",
	[LOADER_STAGE_WAIT] = "wait for the loop",
	[LOADER_STAGE_CPU] = "wait for a CPU",
	[LOADER_STAGE_OTHER] = "other",
};

const char *loader_stage_name(enum loader_stage stage)
{
	return names[stage];
}

const char *loader_stage_verb(enum loader_stage stage)
{
	static const char *const verbs[NR_LOADER_STAGES] = {
		[LOADER_STAGE_READ] = "read",
		[LOADER_STAGE_DECODE] = "decode",
		[LOADER_STAGE_TRANSFORM] = "transform",
		[LOADER_STAGE_COLLATE] = "collate",
		[LOADER_STAGE_HAND_OVER] = "hand over",
	};

	return verbs[stage];
}

static bool is_fetcher(const char *path)
{
	for (size_t i = 0; i < sizeof(fetchers) / sizeof(fetchers[0]); i++) {
		if (strstr(path, fetchers[i])) {
			return true;
		}
	}
	return false;
}

static const struct rule *find_rule(const char *path, const char *function)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (strstr(path, rules[i].path) &&
			(!rules[i].function[0] || !strcmp(function, rules[i].function))) {
			return &rules[i];
		}
	}
	return NULL;
}

/* In model_py_code.loader, with 1 + the index of the rule in the lower bits; 0 there: none. */
enum {
	RULE_MASK = 0x3ff,
	IS_FETCHER = 0x400,
	IS_OWN = 0x800,
	IS_KNOWN = 0x1000,
};

_Static_assert(sizeof(rules) / sizeof(rules[0]) < RULE_MASK, "an index has these bits");

/* Many stacks share a function, and rules compare texts: each function is looked at once. */
static unsigned int known_of(struct model_py_code *code)
{
	const char *path = code->file ? string_pool_text(code->file, NULL) : "";

	if (!code->loader) {
		const struct rule *rule = find_rule(path, string_pool_text(code->name, NULL));

		code->loader = (uint16_t)(IS_KNOWN | (rule ? rule - rules + 1 : 0) |
					  (is_fetcher(path) ? IS_FETCHER : 0) |
					  (py_file_is_library(code->file) ? 0 : IS_OWN));
	}
	return code->loader;
}

/* The state of a search from the innermost frame outwards. */
struct search {
	enum loader_stage stage; /* LOADER_STAGE_NONE: nothing yet */
	bool is_decided;	 /* no frame changes it any more */
	bool is_in_loader;
};

/* Folders of the program may have the names of packages; those of loaders hardly. */
static bool applies(const struct rule *rule, const struct search *search, bool is_own)
{
	return rule && (!is_own || rule->counts_calls) &&
	       (search->stage == LOADER_STAGE_NONE || rule->counts_calls);
}

static void look_at_frame(struct search *search, struct model_py_code *code)
{
	unsigned int known = known_of(code), number = known & RULE_MASK;
	const struct rule *rule = number ? &rules[number - 1] : NULL;
	bool is_own = known & IS_OWN;

	search->is_in_loader |= known & IS_FETCHER || (rule && rule->stage == LOADER_STAGE_PIN);
	if (search->is_decided) {
		return;
	}
	if (applies(rule, search, is_own)) {
		search->stage = rule->stage;
		search->is_decided = true;
	} else if (is_own && strstr(string_pool_text(code->name, NULL), "collate")) {
		search->stage = LOADER_STAGE_COLLATE; /* the program's collate_fn */
		search->is_decided = true;
	} else if (search->is_in_loader) {
		search->is_decided = true; /* frames further out called the loader */
	} else if (is_own) {
		search->stage = LOADER_STAGE_OWN;
	}
}

enum loader_stage loader_stage_of(const struct process *process, uint32_t py_stack, bool is_worker)
{
	const struct model_py_stack *stack = idmap_get(&process->py_stacks, py_stack);
	struct search search = {0};

	for (unsigned int i = 0; stack && i < MAX_FRAMES; i++) {
		struct model_py_code *code = idmap_get(&process->py_codes, stack->code);

		if (code) {
			look_at_frame(&search, code);
		}
		stack = stack->parent ? idmap_get(&process->py_stacks, stack->parent) : NULL;
	}
	if (!is_worker && !search.is_in_loader) {
		return LOADER_STAGE_NONE;
	}
	/* A worker's loop has the program's frames around it. */
	if (search.stage == LOADER_STAGE_OWN && !search.is_in_loader) {
		return LOADER_STAGE_OTHER;
	}
	return search.stage == LOADER_STAGE_NONE ? LOADER_STAGE_OTHER : search.stage;
}

static uint32_t line_text(const struct model_py_stack *stack, const struct model_py_code *code)
{
	return code ? py_frame_short_text(code->file, stack->line, code->name) : 0;
}

uint32_t loader_stage_own_line(const struct process *process, uint32_t py_stack)
{
	const struct model_py_stack *stack = idmap_get(&process->py_stacks, py_stack);
	uint32_t own = 0;

	for (unsigned int i = 0; stack && i < MAX_FRAMES; i++) {
		struct model_py_code *code = idmap_get(&process->py_codes, stack->code);

		if (code && known_of(code) & IS_FETCHER) {
			return own;
		}
		if (!own && code && known_of(code) & IS_OWN) {
			own = line_text(stack, code);
		}
		stack = stack->parent ? idmap_get(&process->py_stacks, stack->parent) : NULL;
	}
	return 0;
}

uint32_t loader_stage_line(const struct process *process, uint32_t py_stack)
{
	const struct model_py_stack *stack = idmap_get(&process->py_stacks, py_stack);
	uint32_t own = loader_stage_own_line(process, py_stack);

	return own ? own : stack ? line_text(stack, idmap_get(&process->py_codes, stack->code)) : 0;
}

bool loader_stage_is_queue(unsigned int kind, uint32_t object)
{
	static const char pipe[] = "pipe";
	const char *text = object ? string_pool_text(object, NULL) : "";

	return kind == GPROF_OS_POLL || kind == GPROF_OS_LOCK || kind == GPROF_OS_WAIT ||
	       kind == GPROF_OS_JOIN ||
	       (!strncmp(text, pipe, sizeof(pipe) - 1) && strchr(":", text[sizeof(pipe) - 1]));
}

static bool is_of_files(unsigned int kind)
{
	return kind == GPROF_OS_OPEN || kind == GPROF_OS_CLOSE || kind == GPROF_OS_READ ||
	       kind == GPROF_OS_CONNECT || kind == GPROF_OS_RECEIVE || kind == GPROF_OS_FAULT;
}

enum loader_stage loader_stage_of_wait(
	struct process *process, const struct wait_key *key, bool is_worker)
{
	enum loader_stage stage = loader_stage_of(process, key->py_stack, is_worker);

	if (stage == LOADER_STAGE_NONE) {
		return stage;
	}
	if (loader_stage_is_queue(key->kind, wait_object_name(process, key))) {
		/* In other stages it is a lock or a pipe of what makes the sample. */
		bool is_of_loader = stage == LOADER_STAGE_HAND_OVER || stage == LOADER_STAGE_OTHER;

		return is_worker && is_of_loader ? LOADER_STAGE_WAIT : stage;
	}
	return is_of_files(key->kind) ? LOADER_STAGE_READ : stage;
}
