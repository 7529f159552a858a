# SPDX-License-Identifier: Apache-2.0
# The fuzz targets with the plain driver, always under the address and undefined sanitizers.

FUZZ_B := $(B)/fuzz
FUZZ_CFLAGS := -std=gnu11 -O1 -g $(WARN) $(WERROR) -fsanitize=address,undefined \
	-fno-sanitize-recover=all -fno-omit-frame-pointer
FUZZ_OBJ := $(patsubst %.c,$(FUZZ_B)/%.o,$(filter-out report/main.c,$(wildcard report/*.c)))
FUZZ_OBJ += $(addprefix $(FUZZ_B)/collector/,block.o gather.o intern.o table.o) $(B)/report/perfetto.pb-c.o
# main.c has the table of commands and `main`; the targets need the former.
FUZZ_OBJ += $(FUZZ_B)/report/main.o
FUZZ_MUTATIONS ?= 100
FUZZ_WILD := 1 2 3 4 5 6 7 8

$(FUZZ_B)/report/main.o: FUZZ_CFLAGS += -Dmain=report_main -Wno-missing-prototypes

$(FUZZ_B)/report/pftrace_out.o: CPPFLAGS += -I$(B)
$(FUZZ_B)/report/pftrace_out.o: | $(B)/report/perfetto.pb-c.h

$(FUZZ_B)/%.o: %.c
	$(call say,FUZZ,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(FUZZ_CFLAGS) -MMD -MP -c -o $@ $<

FUZZ_OBJ += $(addprefix $(FUZZ_B)/test/fuzz/,driver.o fuzz_input.o)

$(FUZZ_B)/fuzz_%: $(FUZZ_B)/test/fuzz/fuzz_%.o $(FUZZ_OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) -fsanitize=address,undefined -o $@ $^ $(REPORT_LIBS)

.SECONDARY: $(FUZZ_OBJ)

# Streams of nonsense are made anew; the corpus is checked in.
fuzz-check: $(FUZZ_B)/fuzz_decode $(FUZZ_B)/fuzz_kineto $(FUZZ_B)/fuzz_stream $(B)/gen_stream
	$(Q)for seed in $(FUZZ_WILD); do $(B)/gen_stream $(FUZZ_B)/wild$$seed.gprof 0 $$seed; done
	$(Q)$(FUZZ_B)/fuzz_decode $$(( $(FUZZ_MUTATIONS) * 5 )) test/fuzz/corpus/decode/*
	$(Q)$(FUZZ_B)/fuzz_kineto $$(( $(FUZZ_MUTATIONS) / 2 )) test/fuzz/corpus/kineto/*
	$(Q)$(FUZZ_B)/fuzz_stream $(FUZZ_MUTATIONS) test/fuzz/corpus/stream/* test/golden/v1/*.gprof
	$(Q)$(FUZZ_B)/fuzz_stream $$(( $(FUZZ_MUTATIONS) / 10 )) $(FUZZ_B)/wild*.gprof

.PHONY: fuzz-check
