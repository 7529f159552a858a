/* SPDX-License-Identifier: Apache-2.0 */
/* The pure parts of PM sampling: times of samples, chosen metrics, the driver's restriction. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collector/cupti/cupti_pm.h"
#include "collector/cupti/pm_session.h"
#include "collector/util/config.h"
#include "test/unit/unit.h"

START_TEST(the_first_sample_has_no_length)
{
	struct pm_times times = {.is_first = true};
	uint64_t nr_lost;

	ck_assert_uint_eq(pm_times_take(&times, 1000, 5000000, &nr_lost), 0);
	ck_assert_uint_eq(nr_lost, 0);
	ck_assert_uint_eq(pm_times_take(&times, 5000000, 5100000, &nr_lost), 100000);
	ck_assert_uint_eq(nr_lost, 0);
}
END_TEST

START_TEST(a_gap_counts_the_samples_that_fit_in_it)
{
	struct pm_times times = {.end_ns = 1000000, .length_ns = 100000};
	uint64_t nr_lost;

	ck_assert_uint_eq(pm_times_take(&times, 1300000, 1400000, &nr_lost), 100000);
	ck_assert_uint_eq(nr_lost, 3);
	/* Jitter is no loss. */
	ck_assert_uint_eq(pm_times_take(&times, 1400900, 1500000, &nr_lost), 99100);
	ck_assert_uint_eq(nr_lost, 0);
	/* Nor is a start before the last end. */
	ck_assert_uint_eq(pm_times_take(&times, 1499000, 1600000, &nr_lost), 100000);
	ck_assert_uint_eq(nr_lost, 0);
	/* A buffer that was full starts anew: what is missing, with the sample of unknown length.
	 */
	times.is_first = true;
	ck_assert_uint_eq(pm_times_take(&times, 1000, 2100000, &nr_lost), 0);
	ck_assert_uint_eq(nr_lost, 5);
}
END_TEST

START_TEST(times_that_make_no_sense_are_skipped)
{
	struct pm_times times = {.end_ns = 1000000, .length_ns = 100000};
	uint64_t nr_lost;

	ck_assert_uint_eq(pm_times_take(&times, 800000, 900000, &nr_lost), 0);
	ck_assert_uint_eq(times.end_ns, 1000000);
	ck_assert_uint_eq(pm_times_take(&times, 1200000, 1100000, &nr_lost), 0);
	ck_assert_uint_eq(nr_lost, 1);
	ck_assert_uint_eq(times.end_ns, 1100000);
	ck_assert_uint_eq(pm_times_take(&times, 0, UINT64_MAX, &nr_lost), UINT64_MAX - 1100000);
	ck_assert_uint_eq(nr_lost, 0);
}
END_TEST

/* The words of GPROF_METRICS are in the order of pm_metrics. */
START_TEST(words_choose_metrics)
{
	char word[64];
	uint32_t all = (1u << PM_NR_METRICS) - 1;

	ck_assert_uint_eq(cupti_pm_metrics(1u << METRICS_DEFAULT), 0);
	ck_assert_uint_eq(cupti_pm_metrics(1u << METRICS_PM), all);
	ck_assert_uint_eq(cupti_pm_metrics(1u << METRICS_PM | 1u << METRICS_OFF), 0);
	for (unsigned int i = 0; i < PM_NR_METRICS; i++) {
		snprintf(word, sizeof(word), "%s", pm_metrics[i].word);
		ck_assert_int_eq(config_set("GPROF_METRICS", word), 0);
		ck_assert_uint_eq(cupti_pm_metrics(config_number(CONFIG_METRICS)), 1u << i);
	}
	ck_assert_int_eq(config_set("GPROF_METRICS", "default,pm"), 0);
	ck_assert_uint_eq(cupti_pm_metrics(config_number(CONFIG_METRICS)), all);
	ck_assert_int_ne(config_set("GPROF_METRICS", "sm__cycles"), 0);
}
END_TEST

static bool restricted(const char *root, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/proc/driver/nvidia/params", root);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
	return cupti_pm_is_restricted(root);
}

START_TEST(the_driver_says_who_may_read_counters)
{
	char root[] = "/tmp/gprof-pm-XXXXXX", path[256];
	static const char *const folders[] = {"", "/proc", "/proc/driver", "/proc/driver/nvidia"};

	ck_assert_ptr_nonnull(mkdtemp(root));
	ck_assert(!cupti_pm_is_restricted(root));
	for (int i = 1; i < 4; i++) {
		snprintf(path, sizeof(path), "%s%s", root, folders[i]);
		ck_assert_int_eq(mkdir(path, 0700), 0);
	}
	ck_assert(restricted(root, "Mobile: 4294967295\nRmProfilingAdminOnly: 1\nPreserve: 0\n"));
	ck_assert(!restricted(root, "Mobile: 4294967295\nRmProfilingAdminOnly: 0\nPreserve: 1\n"));
	ck_assert(!restricted(root, "Mobile: 1\n"));
	snprintf(path, sizeof(path), "%s/proc/driver/nvidia/params", root);
	remove(path);
	for (int i = 3; i >= 0; i--) {
		snprintf(path, sizeof(path), "%s%s", root, folders[i]);
		remove(path);
	}
}
END_TEST

UNIT_SUITE("cupti_pm", the_first_sample_has_no_length, a_gap_counts_the_samples_that_fit_in_it,
	times_that_make_no_sense_are_skipped, words_choose_metrics,
	the_driver_says_who_may_read_counters)
