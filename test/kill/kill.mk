# SPDX-License-Identifier: Apache-2.0
# The job that run.sh kills.
$(B)/kill/busy: test/kill/busy.c test/prog/prog.h $(B)/sim/libcudart.so.13 | sim
	$(call say,PROG,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -fvisibility=default $(LDFLAGS) -o $@ $< $(B)/sim/libcudart.so.13 -ldl -lpthread

kill-programs: $(B)/kill/busy

tests: kill-programs

.PHONY: kill-programs
