# SPDX-License-Identifier: Apache-2.0
golden-check: $(B)/gprof-report
	$(Q)test/golden/run.sh $<

.PHONY: golden-check

# Unit tests of the reporter; with the generator of streams and the Check framework.
REPORT_TEST_BIN := $(patsubst %.c,$(B)/%,$(wildcard test/unit/test_report_*.c))
ifeq ($(SAN),thread)
# Those of modules with threads.
REPORT_TEST_BIN := $(filter %_read_ahead %_gzip_out %_kineto %_kineto_damage %_kineto_rows %_op_load %_stream_file %_stream_in %_many,$(REPORT_TEST_BIN))
endif
REPORT_TEST_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard test/unit/report_*.c))

$(REPORT_TEST_BIN): %: %.o $(B)/test/unit/unit.o $(REPORT_TEST_OBJ) $(GEN_OBJ) $(B)/libgprof-report.a
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(REPORT_LIBS) -lpthread

report-unit: $(REPORT_TEST_BIN)

tests: report-unit

# Everything that tests the reporter alone.
report-check: report-unit golden-check fuzz-check
	$(Q)for test in $(REPORT_TEST_BIN); do $$test || exit 1; done

.PHONY: report-unit report-check
