# SPDX-License-Identifier: Apache-2.0
# The fuzz targets, see README.md. `make fuzz` searches with clang's libFuzzer; `make fuzz-check`, of
# `make test`, replays the corpus with the driver, built by gcc with its sanitizers.

# The one list of targets: NAME:CORPUS:MUTATOR:SIDE[:SOURCE]. A target is fuzz_NAME.c, or fuzz_SOURCE.c where several
# share it. Its inputs lie in corpus/CORPUS, mutate_MUTATOR.c changes them (text: libFuzzer alone), and SIDE (report,
# collector) is what it is linked with.
FUZZ_LIST := \
	decode:decode:stream:report \
	views:stream:stream:report \
	timeline:stream:stream:report \
	compare:stream:stream:report \
	rings:rings:rings:report \
	summary:summary:text:report \
	json:json:text:report:trace \
	nsys:nsys:text:report:trace \
	xplane:xplane:wire:report:trace \
	settings:settings:text:collector \
	config:config:text:collector \
	control:control:text:collector \
	frames:frames:text:collector

fuzz_part = $(word $(2),$(subst :, ,$(1)))
fuzz_line = $(filter $(1):%,$(FUZZ_LIST))
FUZZ_TARGETS := $(foreach line,$(FUZZ_LIST),$(call fuzz_part,$(line),1))
# What is an input, too, but lies elsewhere.
FUZZ_MORE_stream := test/golden/v1/*.gprof test/golden/v2/graph.gprof test/golden/v2/gc*.gprof
FUZZ_MORE_summary := test/golden/v1/*.sum

# The table of commands, which stands beside `main`, but not that one.
$(B)/fuzz/commands.o: report/cli/main.c | $(B)/report/.headers
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -Dmain=report_main -Wno-missing-prototypes -MMD -MP -c -o $@ $<

# For the driver, and with libFuzzer's own main in place of it.
fuzz_needs = $(B)/test/fuzz/fuzz_$(or $(call fuzz_part,$(1),5),$(call fuzz_part,$(1),1)).o \
	$(B)/test/fuzz/mutate_$(call fuzz_part,$(1),3).o \
	$(if $(filter rings,$(call fuzz_part,$(1),3)),$(B)/test/fuzz/mutate_stream.o) \
	$(if $(filter report,$(call fuzz_part,$(1),4)),$(B)/test/fuzz/fuzz_input.o $(B)/fuzz/commands.o $(B)/libgprof-report.a,\
	$(B)/test/fuzz/fuzz_recorder.o $(COLLECTOR_SRC:%.c=$(B)/%.o))

define fuzz_rule
$(B)/fuzz/fuzz_$(call fuzz_part,$(1),1): $(call fuzz_needs,$(1)) $(if $(FUZZER),,$(B)/test/fuzz/driver.o)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(LDFLAGS) $(if $(FUZZER),-fsanitize=fuzzer) -o $$@ $$^ $(ZSTD_A) $$(REPORT_LIBS) -ldl
endef
$(foreach line,$(FUZZ_LIST),$(eval $(call fuzz_rule,$(line))))

fuzz-targets: $(FUZZ_TARGETS:%=$(B)/fuzz/fuzz_%)

# ---- the corpus in `make test`; with sanitizers, and a few changed copies of it, in `make test-all` ----

FUZZ_MUTATIONS ?= 2
FUZZ_WILD := 1 2 3 4 5 6 7 8

# Streams of nonsense are made anew.
fuzz-replay: export ASAN_OPTIONS ?= handle_sigill=1
fuzz-replay: fuzz-targets $(B)/gen_stream
	$(Q)for seed in $(FUZZ_WILD); do $(B)/gen_stream $(B)/fuzz/wild$$seed.gprof 0 $$seed; done
	$(Q)test/fuzz/replay.sh $(B) $(FUZZ_MUTATIONS) $(foreach line,$(FUZZ_LIST),\
		"$(call fuzz_part,$(line),1) $(call fuzz_part,$(line),2) $(FUZZ_MORE_$(call fuzz_part,$(line),2))")

fuzz-check:
	$(Q)$(MAKE) --no-print-directory SAN=address,undefined fuzz-replay

# ---- the search ----

# Seconds for each target, and which of them.
FUZZ_SECONDS ?= 60
FUZZ_ONLY ?= $(FUZZ_TARGETS)
FUZZ_CC ?= clang
FUZZ_FLAGS := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer

fuzz-build:
	$(Q)echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' | \
		$(FUZZ_CC) -fsanitize=fuzzer,address -x c -o /dev/null - 2>/dev/null || { \
		echo 'make fuzz needs clang with libFuzzer (Debian: apt-get install clang-14 libclang-rt-14-dev)' >&2; exit 1; }
	$(Q)$(MAKE) --no-print-directory FUZZER=1 CC='$(FUZZ_CC)' B=build/fuzz OPT='-O1 -g1' WERROR= \
		SANFLAGS='$(FUZZ_FLAGS)' fuzz-targets

fuzz: fuzz-build
	$(Q)FUZZ_SECONDS=$(FUZZ_SECONDS) test/fuzz/search.sh build/fuzz $(foreach name,$(FUZZ_ONLY),\
		"$(name) $(call fuzz_part,$(call fuzz_line,$(name)),2) $(FUZZ_MORE_$(call fuzz_part,$(call fuzz_line,$(name)),2))")

# The corpus anew: of what is there and what was found, the least that reaches all that it reaches.
fuzz-merge: fuzz-build
	$(Q)FUZZ_MERGE=1 test/fuzz/search.sh build/fuzz $(foreach name,$(FUZZ_ONLY),\
		"$(name) $(call fuzz_part,$(call fuzz_line,$(name)),2) $(FUZZ_MORE_$(call fuzz_part,$(call fuzz_line,$(name)),2))")

.PHONY: fuzz fuzz-build fuzz-merge fuzz-check fuzz-replay fuzz-targets
