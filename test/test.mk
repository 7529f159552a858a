# SPDX-License-Identifier: Apache-2.0
# Tests of the recorder, and the runner of all tests. A unit test is one file, test_MODULE.c, with
# all of collector/ and the Check framework linked in.

UNIT_SRC := test/unit/cupti_real.c \
	$(filter-out test/unit/test_abi% test/unit/test_report%,$(wildcard test/unit/test_*.c))
UNIT_BIN := $(patsubst %.c,$(B)/%,$(UNIT_SRC))
UNIT_OBJ := $(B)/test/unit/unit.o $(B)/test/unit/decode.o $(patsubst %.c,$(B)/%.o,$(COLLECTOR_SRC))
CHECK_LIBS ?= -lcheck -lsubunit -lm -lrt
TEST_LIB := $(patsubst test/integ/s_%.c,$(B)/test/integ/s_%,$(wildcard test/integ/s_*.c))

# Check's macros make functions that nothing declares; its varargs need an empty argument.
$(B)/test/unit/%.o: CFLAGS += -Wno-missing-prototypes
$(UNIT_BIN): %: %.o $(UNIT_OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(ZSTD_A) -lpthread -ldl

# The programs of the integration tests: no CUDA headers, and CUDA only as it is found at run time.
$(B)/test/integ/s_%: $(B)/test/integ/s_%.o
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(INTEG_LIBS) -lpthread -ldl

unit: $(UNIT_BIN)
integ-programs: $(TEST_LIB)

# What the tests need built, for whatever $(B) and SAN are.
tests: unit integ-programs

test:
	$(Q)test/run.sh full

check:
	$(Q)test/run.sh quick

format:
	$(Q)git ls-files -z '*.c' '*.h' | xargs -0 clang-format -i

.PHONY: unit integ-programs tests test check format
