/* SPDX-License-Identifier: Apache-2.0 */
#include "test/unit/cupti_real.h"

#include <stdlib.h>
#include <string.h>

#include "collector/util/clock.h"
#include "collector/util/config.h"
#include "collector/cupti/cupti.h"
#include "collector/step/step.h"
#include "test/unit/unit.h"

static uint32_t no_hook(const char *name)
{
	(void)name;
	return 0;
}

bool cupti_real_is(const char *layout)
{
	const char *have = getenv("CUPTI_LAYOUT");

	return have && strcmp(have, layout) == 0;
}

void cupti_real_load(void)
{
	ck_assert_ptr_nonnull(getenv("CUPTI_LAYOUT"));
	config_init();
	clock_init(NULL);
	step_init(no_hook);
	ck_assert_int_eq(cupti_load(), 0);
	ck_assert(cupti_is_live());
	ck_assert_str_eq(cupti.path, config_text(CONFIG_CUPTI_PATH));
}
