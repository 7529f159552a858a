/* SPDX-License-Identifier: Apache-2.0 */
#include "report/util/stack_text.h"

#include <string.h>

#include "report/util/text.h"
#include "test/unit/unit.h"

static const char stack[] =
	"torch/nn/modules/conv.py(443): forward <- torch/nn/modules/module.py(727): _call_impl <- "
	"/home/me/train.py(46): step <- /home/me/train.py(80): <module>";

static const char *cut(const char *text, size_t width)
{
	static struct buf out;
	size_t used;

	out.nr_bytes = 0;
	used = stack_text_add_cut(&out, text, strlen(text), width);
	ck_assert_uint_eq(used, out.nr_bytes); /* all of it is ASCII */
	ck_assert(!width || used <= width || width < 8);
	buf_char(&out, '\0');
	return out.bytes;
}

START_TEST(a_stack_that_fits_is_whole)
{
	ck_assert_str_eq(cut(stack, 0), stack);
	ck_assert_str_eq(cut(stack, strlen(stack)), stack);
}
END_TEST

START_TEST(the_innermost_frame_of_the_own_code_stays)
{
	ck_assert_str_eq(cut(stack, 130),
		"torch/nn/modules/conv.py(443): forward <- torch/nn/modules/module.py(727): "
		"_call_impl <- /home/me/train.py(46): step");
	ck_assert_str_eq(cut(stack, 90),
		"torch/nn/modules/conv.py(443): forward <- ... <- /home/me/train.py(46): step");
	ck_assert_str_eq(cut(stack, 60), "forward <- /home/me/train.py(46): step");
	ck_assert_str_eq(cut(stack, 32), "forward <- train.py(46): step");
	ck_assert_str_eq(cut(stack, 24), "forward <- train.py(46)");
	ck_assert_str_eq(cut("/home/me/train.py(46): step <- /home/me/train.py(80): <module>", 32),
		"/home/me/train.py(46): step");
}
END_TEST

START_TEST(files_of_python_and_of_packages_are_not_the_own_code)
{
	ck_assert_str_eq(cut("a/b.py(1): f <- contextlib.py(80): inner <- "
			     "/usr/lib/python3.11/queue.py(5): get <- train.py(7): main",
				 32),
		"f <- train.py(7): main");
	/* Without own code, the outermost frame. */
	ck_assert_str_eq(
		cut("torch/a.py(1): first <- torch/b.py(2): second <- threading.py(9): run", 32),
		"first <- threading.py(9): run");
}
END_TEST

START_TEST(what_is_no_stack_is_cut_in_the_middle)
{
	ck_assert_str_eq(cut("abcdefghijklmnopqrstuvwxyz", 11), "abcd...wxyz");
	ck_assert_str_eq(cut(stack, 11), "torc...ule>");
}
END_TEST

UNIT_SUITE("report/stack_text", a_stack_that_fits_is_whole,
	the_innermost_frame_of_the_own_code_stays,
	files_of_python_and_of_packages_are_not_the_own_code, what_is_no_stack_is_cut_in_the_middle)
