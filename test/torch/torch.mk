# SPDX-License-Identifier: Apache-2.0
# The reader of test/torch, from the modules of the reporter that open streams.
$(B)/torch/ops: $(B)/test/torch/ops.o $(patsubst %,$(B)/report/%.o, \
		stream_in stream_index ring_in ring_rows decode schema err buf)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ -lzstd -lz

torch-programs: $(B)/torch/ops

tests: torch-programs

bench-torch: $(B)/libgprof.so
	$(Q)test/torch/bench.sh $(B)

bench: bench-torch

.PHONY: torch-programs bench-torch
