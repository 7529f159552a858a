# SPDX-License-Identifier: Apache-2.0
# build/fault/libgprof.so: the product's own objects, but what they ask of the C library goes
# through fault.c. Symbols are renamed in copies of the objects, since --wrap does not see names
# with versions; and only where they are asked for, since pthread_create is defined by us as well.

ifndef SAN
FAULT_DIR := $(B)/fault
FAULT_OBJ := $(PRELOAD_OBJ:$(B)/%.o=$(FAULT_DIR)/%.o) $(FAULT_DIR)/zstd.a
FAULT_BIN := $(FAULT_DIR)/guest $(FAULT_DIR)/job

$(FAULT_DIR)/names: test/fault/faults.def
	$(Q)mkdir -p $(@D)
	$(Q)sed -nE 's/^(FAULT|HAND)\(([a-z_0-9]+)[,)].*/\2/p' $< >$@

# The symbols that the object asks for, with their versions, if they are on the list.
fault_rename = mkdir -p $(@D); nm -u $(1) | awk 'FNR == NR { listed[$$1]; next } \
	{ name = $$2; sub(/@.*/, "", name); if (name in listed) print $$2, "fault_" name }' \
	$(FAULT_DIR)/names - | sort -u >$@.map && objcopy --redefine-syms=$@.map $(1) $@

$(FAULT_DIR)/%.o: $(B)/%.o $(FAULT_DIR)/names
	$(Q)$(call fault_rename,$<)

$(FAULT_DIR)/zstd.a: $(ZSTD_A) $(FAULT_DIR)/names
	$(Q)$(call fault_rename,$(ZSTD_A))

$(B)/test/fault/fault.o: CFLAGS += -fPIC

$(FAULT_DIR)/libgprof.so: $(FAULT_OBJ) $(B)/test/fault/fault.o $(B)/exports.map
	$(call say,LD,$@)
	$(Q)$(CC) -shared $(LDFLAGS) -Wl,--version-script=$(B)/exports.map -Wl,--exclude-libs,ALL \
		-Wl,-z,lazy -Wl,-z,nodelete -o $@ $(B)/test/fault/fault.o $(FAULT_OBJ) -ldl

$(FAULT_BIN): $(FAULT_DIR)/%: test/fault/%.c test/prog/prog.h test/demo/ranges.h $(B)/sim/libcudart.so.13 | sim
	$(call say,PROG,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -fvisibility=default $(LDFLAGS) -o $@ $< \
		$(B)/sim/libcudart.so.13 -ldl -lpthread

fault-programs: $(FAULT_DIR)/libgprof.so $(FAULT_BIN) $(B)/integ/s_loop
tests: fault-programs

.PHONY: fault-programs
endif
