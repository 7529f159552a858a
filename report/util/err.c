/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds the text of the last error. Functions return a code and leave the words here, so that
 * whoever prints them can put the file in front.
 */
#include "report/util/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ERR_BYTES 1024

static char err_message[ERR_BYTES];

int err_set(int code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(err_message, sizeof(err_message), format, arguments);
	va_end(arguments);
	return code;
}

const char *err_text(void)
{
	return err_message;
}
