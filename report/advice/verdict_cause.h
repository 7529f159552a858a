/* SPDX-License-Identifier: Apache-2.0 */
/* Causes of lost time, see verdict.h: a rule of advice.def is evidence of at most one of them. */
#ifndef REPORT_ADVICE_VERDICT_CAUSE_H
#define REPORT_ADVICE_VERDICT_CAUSE_H

enum verdict_cause {
	VERDICT_LOST,
	VERDICT_STARTUP,
	VERDICT_STRAGGLER,
	VERDICT_LOADER,
	VERDICT_READBACK,
	VERDICT_ALLOCATION,
	VERDICT_LAUNCH,
	VERDICT_USER,
	VERDICT_COPIES,
	VERDICT_COMMUNICATION,
	VERDICT_GAPS,
	VERDICT_KERNELS,
	NR_VERDICT_CAUSES,
};

#endif
