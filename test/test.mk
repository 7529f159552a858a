# SPDX-License-Identifier: Apache-2.0
# Tests of the recorder, and the runner of all tests. A unit test is one file, test_MODULE.c, with
# all of collector/ and the Check framework linked in.

UNIT_SRC := test/unit/cupti_real_library.c test/unit/cupti_real_records.c \
	$(filter-out test/unit/test_abi% test/unit/test_report%,$(wildcard test/unit/test_*.c))
UNIT_BIN := $(patsubst %.c,$(B)/%,$(UNIT_SRC))
UNIT_OBJ := $(addprefix $(B)/test/unit/,unit.o decode.o written.o cupti_real.o) $(patsubst %.c,$(B)/%.o,$(COLLECTOR_SRC))
CHECK_LIBS ?= -lcheck -lsubunit -lm -lrt
INTEG_BIN := $(patsubst test/integ/%.c,$(B)/integ/%,$(wildcard test/integ/s_*.c))

# A test runs once, and mostly waits for what it tests: compiling it takes longer. -Og knows what may be used
# uninitialized, which sanitized builds do not ask.
$(B)/test/unit/%.o $(B)/test/gen/%.o: OPT := $(if $(SAN),-O0 -g1,-Og -g1)
# Check's macros make functions that nothing declares; its varargs need an empty argument.
$(B)/test/unit/%.o: CFLAGS += -Wno-missing-prototypes
$(UNIT_BIN): %: %.o $(UNIT_OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(ZSTD_A) -lpthread -ldl

ifdef SAN
# GCC tests an address for NULL by the flags of an addition that the linker makes a flagless one where
# it puts this file into a program.
$(B)/collector/cupti/callback.o: CFLAGS += -fno-sanitize=null
endif
$(B)/test/unit/test_nccl_comm: $(addprefix $(B)/preload/,nccl/nccl_comm.o base/modules.o base/elf.o)
$(B)/test/unit/test_op_stack: $(B)/preload/python/op_stack.o
$(B)/test/unit/test_live_blocks: $(B)/preload/torch/live_blocks.o
$(B)/test/unit/test_torch_change: $(B)/preload/torch/torch_change.o
$(B)/test/unit/test_torch_change: LDFLAGS += -Wl,--wrap=target_pause
$(B)/test/unit/test_torch_shape: $(B)/preload/torch/torch_shape.o $(B)/preload/base/elf.o
$(B)/test/unit/test_torch_shape: LDFLAGS += -rdynamic
$(B)/test/unit/test_step: LDFLAGS += -Wl,--wrap=window_open,--wrap=window_close
$(B)/test/unit/test_cupti_share: LDFLAGS += $(addprefix -Wl$(comma)--wrap=,cupti_is_live cupti_probe_again callback_start \
	callback_set_enabled activity_start activity_set_enabled activity_set_ours activity_flush activity_yield)
$(B)/test/unit/test_private_fd: LDFLAGS += -Wl,--wrap=open,--wrap=pread,--wrap=write
$(B)/test/unit/test_nccl_range: $(addprefix $(B)/preload/,$(addprefix nccl/nccl,.o _comm.o _range.o) base/modules.o base/elf.o)

# The programs of the integration tests: CUDA is the simulator's, and s_plain has none.
$(B)/integ/s_%: test/integ/s_%.c test/prog/prog.h test/prog/driver.h test/prog/must.h test/prog/ranks.h test/entries.h $(B)/sim/libcudart.so.13 | sim
	$(call say,PROG,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -fvisibility=default $(LDFLAGS) -o $@ $(filter %.c,$^) \
		$(if $(filter counters loop end idle family sample cpu sched deep stack ranks threads whatif paddle graph nccl_plugin wait,$*),$(B)/sim/libcudart.so.13) \
		$(if $(filter ranks whatif,$*),$(B)/sim/libnccl.so.2) \
		$(if $(filter paddle,$*),-L$(B)/paddle/TWO -lpaddle -lphi_core) \
		$(if $(filter counters,$*),$(B)/sim/libcupti.so.13) \
		$(if $(filter second_client,$*),$(B)/sim/libcudart.so.13 $(B)/sim/libcupti.so.13 $(B)/sim/libcuda.so.1) -ldl -lpthread

# CPU samples follow frame pointers.
$(B)/integ/s_cpu: CFLAGS += -fno-omit-frame-pointer
# Stacks by call frame information.
$(B)/integ/s_deep $(B)/integ/s_stack: CFLAGS += -O2 -fomit-frame-pointer -fasynchronous-unwind-tables
$(B)/integ/s_stack: LDFLAGS += -rdynamic
$(B)/integ/s_paddle: LDFLAGS += '-Wl,-rpath,$$ORIGIN/../paddle/TWO'
$(B)/integ/s_paddle: | $(B)/paddle/TWO/libpaddle.so
$(B)/integ/s_ranks $(B)/integ/s_whatif: test/integ/training.c test/integ/training.h
$(B)/integ/s_second_client: test/integ/second_seen.c test/integ/second_seen.h

# gprof-report as it is built without libmicrohttpd.
$(B)/integ/no_server: $(B)/report/cli/main.o $(B)/report/serve/server_none.o $(B)/libgprof-report.a
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(REPORT_LIBS)

unit: $(UNIT_BIN)
integ-programs: $(INTEG_BIN) $(B)/integ/no_server prog $(B)/test/sim/client.so

# What the tests need built, for whatever $(B) and SAN are.
tests: unit integ-programs

# The quick tests, what everybody runs, and all; test/README.md says when each is wanted.
check:
	$(Q)test/run.sh check

test:
	$(Q)test/run.sh test

test-all:
	$(Q)test/run.sh all

format:
	$(Q)git ls-files -z '*.c' '*.h' | xargs -0 clang-format -i

.PHONY: unit integ-programs tests check test test-all format
