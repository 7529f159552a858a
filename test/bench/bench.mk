# SPDX-License-Identifier: Apache-2.0
# Benchmarks: each beside its peer in one run.

BENCH_BIN := $(B)/bench/hook_calls $(B)/bench/libcudart.so.13 $(B)/bench/libnop.so

$(B)/bench/libcudart.so.13: $(B)/test/bench/nop_cudart.o
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -shared $(LDFLAGS) -Wl,-soname,libcudart.so.13 -o $@ $<

$(B)/bench/libnop.so: $(B)/test/bench/nop_hook.o
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -shared $(LDFLAGS) -o $@ $<

$(B)/bench/hook_calls: $(B)/test/bench/hook_calls.o $(B)/bench/libcudart.so.13
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $< $(B)/bench/libcudart.so.13 -lpthread

$(B)/test/bench/nop_%.o: CFLAGS += -fPIC

bench-hook: $(BENCH_BIN) $(B)/libgprof.so
	$(Q)test/bench/bench_hook.sh $(B)

$(B)/bench/libcupti.so.13: $(B)/test/bench/nop_cupti.o
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -shared $(LDFLAGS) -Wl,-soname,libcupti.so.13 -o $@ $<

$(B)/test/bench/bench_drain.o: CPPFLAGS += -DBENCH_CUPTI='"$(B)/bench/libcupti.so.13"'
$(B)/bench/bench_drain: $(B)/test/bench/bench_drain.o $(B)/test/gen/gen_training.o \
		$(patsubst %.c,$(B)/%.o,$(wildcard collector/*.c collector/*/*.c)) $(B)/bench/libcupti.so.13
	$(Q)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(ZSTD_A) -lm -lpthread -ldl

bench-drain: $(B)/bench/bench_drain
	@echo 'drain: as fast as it goes'
	$(Q)rm -rf $(B)/bench/dump; GPROF_QUIET=1 GPROF_DIR=$(B)/bench/dump $(B)/bench/bench_drain 20000000
	@echo 'drain: at 1 million events a second'
	$(Q)rm -rf $(B)/bench/dump; GPROF_QUIET=1 GPROF_DIR=$(B)/bench/dump $(B)/bench/bench_drain 10000000 1000000

# What a process pays that has gprof in it.
$(B)/bench/libempty.so:
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -shared $(LDFLAGS) -o $@ -x c /dev/null

$(B)/bench/bench_guest: $(B)/test/bench/bench_guest.o $(B)/bench/libcudart.so.13
	$(Q)$(CC) $(LDFLAGS) -o $@ $< $(B)/bench/libcudart.so.13 -lpthread

bench-guest: $(B)/bench/bench_guest $(B)/bench/libempty.so $(B)/libgprof.so $(B)/gprof-report sim $(B)/demo/train
	$(Q)test/bench/bench_guest.sh $(B)

bench: bench-hook bench-drain bench-guest

# What a launch costs, counted, with a runtime and a CUPTI that do as much as real ones.
COLD := $(B)/bench/cold

$(B)/test/bench/cold/cud%.o $(B)/test/bench/cold/cup%.o: CFLAGS += -fPIC

$(COLD)/libcudart.so.13: $(B)/test/bench/cold/cudart.o
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -shared $(LDFLAGS) -Wl,-soname,libcudart.so.13 -o $@ $<

$(COLD)/libcupti.so.13: $(B)/test/bench/cold/cupti.o $(COLD)/libcudart.so.13
	$(Q)$(CC) -shared $(LDFLAGS) -Wl,-soname,libcupti.so.13 -o $@ $^

$(COLD)/launches: $(B)/test/bench/cold/launches.o $(COLD)/libcudart.so.13
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ -ldl

$(COLD)/trace: $(B)/test/bench/cold/trace.o
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $<

cold: $(addprefix $(COLD)/,libcupti.so.13 launches trace) $(B)/torch/MARKED/libtorch_cpu.so

bench-cold: cold $(B)/libgprof.so
	$(Q)test/bench/cold/cold.sh $(B) launches

# A bench that no longer compiles is seen before the next one runs.
tests: cold $(BENCH_BIN) $(addprefix $(B)/,bench/bench_drain bench/bench_guest bench/run_cost bench_report)

# At the end, and both of them: they fail if a budget is exceeded.
bench:
	$(Q)$(MAKE) --no-print-directory -k bench-cold bench-torch

.PHONY: cold bench-cold

.PHONY: bench bench-hook bench-drain bench-guest

# A trace of another profiler; GPROF_TRACES may name a folder of real ones.
bench-trace: $(B)/gprof-report $(B)/gen_stream
	$(Q)test/bench/bench_trace.sh $(B)

bench: bench-trace

.PHONY: bench-trace

# The page of `html`, written and in a browser.
bench-page: $(B)/bench/run_cost $(B)/gprof-report $(B)/gen_stream
	$(Q)test/bench/bench_page.sh $(B)

bench: bench-page

.PHONY: bench-page

# The streams of a job made small, and put together.
bench-reduce: $(B)/bench/run_cost $(B)/gprof-report $(B)/gen_stream $(REPORT_MPI)
	$(Q)test/bench/bench_reduce.sh $(B)

bench: bench-reduce

.PHONY: bench-reduce

# A busy Python program without anything, and under gprof, perf and py-spy.
bench-python: $(B)/libgprof.so $(B)/gprof-record $(B)/gprof-report
	$(Q)test/bench/bench_python.sh $(B)

bench: bench-python

.PHONY: bench-python
