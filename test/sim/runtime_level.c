/* SPDX-License-Identifier: Apache-2.0 */
/* Built once for each libcudart: the only thing in which they differ, but for their names. */
#include "test/sim/runtime.h"

const int runtime_level = SIM_RUNTIME_LEVEL;
