# SPDX-License-Identifier: Apache-2.0
# Libraries that play Paddle's: two of them as in version 3; one, with the old table of symbols, as in 2.6.
FAKE_PADDLES := $(patsubst %,$(B)/paddle/%/libpaddle.so,TWO ONE STRANGE MARKED)
FAKE_PADDLE_FLAGS = -fvisibility=default -Wno-missing-prototypes -fPIC -shared

$(B)/paddle/TWO/libphi_core.so: test/paddle/fake_paddle.c
	$(call say,LIB,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(FAKE_PADDLE_FLAGS) -DFAKE_EVENTS -Wl,-soname,libphi_core.so -o $@ $<

$(B)/paddle/TWO/libpaddle.so: test/paddle/fake_paddle.c $(B)/paddle/TWO/libphi_core.so
	$(call say,LIB,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(FAKE_PADDLE_FLAGS) -DFAKE_PROGRAM -o $@ $^ '-Wl,-rpath,$$ORIGIN' -lpthread

$(B)/paddle/%/libpaddle.so: test/paddle/fake_paddle.c
	$(call say,LIB,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(FAKE_PADDLE_FLAGS) -DFAKE_EVENTS -DFAKE_PROGRAM -DFAKE_$* \
		-Wl,--hash-style=sysv -o $@ $< -lpthread

paddle-programs: $(FAKE_PADDLES) $(B)/torch/ops $(B)/torch/fake_host

tests: paddle-programs

.PHONY: paddle-programs
