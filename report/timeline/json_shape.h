/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of an operator's inputs in a timeline, in Kineto's words; kineto_shape.c reads them. */
#ifndef REPORT_TIMELINE_JSON_SHAPE_H
#define REPORT_TIMELINE_JSON_SHAPE_H

#include <stdint.h>

/*
 * The members "Input Dims" and "Input type" for the text of names.h that a recorder wrote, made
 * once: "float32[64,3], scalar"; one that is written otherwise becomes "Inputs" as it is.
 */
const char *timeline_shape_text(uint32_t name);

#endif
