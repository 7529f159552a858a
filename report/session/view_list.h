/* SPDX-License-Identifier: Apache-2.0 */
/* All views: who runs them asks this list; no view knows the others. */
#ifndef REPORT_SESSION_VIEW_LIST_H
#define REPORT_SESSION_VIEW_LIST_H

#include "report/analysis/view.h"

/* All views, in the order they are shown; ends with NULL. */
extern const struct view_class *const view_classes[];

/* The view of that name, NULL if there is none. */
const struct view_class *view_find(const char *name, size_t nr_bytes);

#endif
