# SPDX-License-Identifier: Apache-2.0
# The generator of streams for tests.

GEN_OBJ := $(addprefix $(B)/test/gen/,gen.o gen_small.o gen_training.o) \
	$(B)/collector/block.o $(B)/collector/table.o

$(B)/gen_stream: $(B)/test/gen/gen_stream.o $(GEN_OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ -lzstd -lm
