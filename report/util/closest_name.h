/* SPDX-License-Identifier: Apache-2.0 */
/* The name that the user probably meant, for "did you mean ...?". */
#ifndef REPORT_UTIL_CLOSEST_NAME_H
#define REPORT_UTIL_CLOSEST_NAME_H

/*
 * The name with the fewest inserted, removed or replaced letters, the first of several; NULL if
 * more than a third of the letters and one differ. Case does not count. names ends with NULL.
 */
const char *closest_name(const char *text, const char *const *names);

#endif
