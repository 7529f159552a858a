/* SPDX-License-Identifier: Apache-2.0 */
/* The list of all views, which the build makes of the lines `VIEW(NAME, ORDER)` in report/views. */
#include "report/analysis/view.h"

#undef VIEW
#define VIEW(name) extern const struct view_class view_##name;
#include VIEW_LIST
#undef VIEW
#define VIEW(name) &view_##name,
const struct view_class *const view_classes[] = {
#include VIEW_LIST
	NULL};
