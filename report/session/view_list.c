/* SPDX-License-Identifier: Apache-2.0 */
/* The list of all views, which the build makes of the lines `VIEW(NAME, ORDER)` in report/views
 * and report/host. */
#include "report/session/view_list.h"

#include "report/session/summary.h"
#include "report/util/text.h"

#undef VIEW
#define VIEW(name) extern const struct view_class view_##name;
#include VIEW_LIST
#undef VIEW
#define VIEW(name) &view_##name,
const struct view_class *const view_classes[] = {
#include VIEW_LIST
	NULL};

_Static_assert(sizeof(view_classes) / sizeof(view_classes[0]) - 1 <= SUMMARY_VIEWS,
	"a summary has no room for all views");

const struct view_class *view_find(const char *name, size_t nr_bytes)
{
	for (size_t i = 0; view_classes[i]; i++) {
		const struct view_class *class = view_classes[i];

		if (text_is(name, nr_bytes, class->name)) {
			return class;
		}
	}
	return NULL;
}
