# SPDX-License-Identifier: Apache-2.0
# Programs with one trouble each, on the simulator.

$(B)/verdict/planted: test/verdict/planted.c test/integ/training.c test/integ/training.h test/prog/prog.h $(B)/sim/libcudart.so.13 | sim
	$(call say,PROG,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -fvisibility=default $(LDFLAGS) -o $@ $(filter %.c,$^) $(B)/sim/libcudart.so.13 -ldl -lpthread

$(B)/verdict/planted_slow.so: test/verdict/planted_slow.c test/prog/prog.h
	$(call say,LIB,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -fvisibility=default -fPIC -shared -o $@ $< -ldl

verdict-programs: $(B)/verdict/planted $(B)/verdict/planted_slow.so

tests: verdict-programs

.PHONY: verdict-programs
