# SPDX-License-Identifier: Apache-2.0
# The demo: one small training program, with gcc on the simulator or with nvcc on a GPU.

$(B)/demo/train: test/demo/train.c test/prog/prog.h test/demo/ranges.h $(B)/sim/libcudart.so.13 | sim
	$(call say,DEMO,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -fvisibility=default $(LDFLAGS) -o $@ $< $(B)/sim/libcudart.so.13 -ldl -lpthread -lm

demo: all sim $(B)/demo/train
	$(Q)test/demo/run.sh $(B)

.PHONY: demo
