/* SPDX-License-Identifier: Apache-2.0 */
/* The list of all views, which the build makes of the lines `VIEW(NAME, ORDER)` in report/views. */
#include "report/session/summary.h"

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
