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

bench: bench-hook

.PHONY: bench bench-hook
