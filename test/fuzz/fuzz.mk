# SPDX-License-Identifier: Apache-2.0
# The fuzz targets with the plain driver, of the objects that the address and undefined sanitizers
# have been built into.

FUZZ_BIN := $(patsubst test/fuzz/%.c,$(B)/fuzz/%,$(filter-out %_input.c,$(wildcard test/fuzz/fuzz_*.c)))
FUZZ_MUTATIONS ?= 100
FUZZ_WILD := 1 2 3 4 5 6 7 8

# The table of commands, which stands beside `main`, but not that one.
$(B)/fuzz/commands.o: report/main.c | $(B)/report/.headers
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -Dmain=report_main -Wno-missing-prototypes -MMD -MP -c -o $@ $<

$(FUZZ_BIN): $(B)/fuzz/%: $(B)/test/fuzz/%.o $(B)/test/fuzz/driver.o $(B)/test/fuzz/fuzz_input.o \
	$(B)/fuzz/commands.o $(B)/libgprof-report.a
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(REPORT_LIBS)

ifdef SAN
# Streams of nonsense are made anew; the corpus is checked in.
fuzz-check: export UBSAN_OPTIONS ?= print_stacktrace=1:halt_on_error=1
fuzz-check: $(FUZZ_BIN) $(B)/gen_stream
	$(Q)for seed in $(FUZZ_WILD); do $(B)/gen_stream $(B)/fuzz/wild$$seed.gprof 0 $$seed; done
	$(Q)$(B)/fuzz/fuzz_decode $$(( $(FUZZ_MUTATIONS) * 5 )) test/fuzz/corpus/decode/*
	$(Q)$(B)/fuzz/fuzz_kineto $$(( $(FUZZ_MUTATIONS) / 2 )) test/fuzz/corpus/kineto/*
	$(Q)$(B)/fuzz/fuzz_reduced $$(( $(FUZZ_MUTATIONS) * 5 )) test/golden/v1/*.sum
	$(Q)$(B)/fuzz/fuzz_stream $(FUZZ_MUTATIONS) test/fuzz/corpus/stream/* test/golden/v1/*.gprof
	$(Q)$(B)/fuzz/fuzz_stream $$(( $(FUZZ_MUTATIONS) / 10 )) $(B)/fuzz/wild*.gprof
else
fuzz-check:
	$(Q)$(MAKE) --no-print-directory SAN=address,undefined $@
endif

.PHONY: fuzz-check
