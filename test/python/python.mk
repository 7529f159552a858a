# SPDX-License-Identifier: Apache-2.0
# A program that plays an interpreter, and what a unit test takes of the door.
$(B)/python/fake_python: test/python/fake_python.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -fvisibility=default -Wno-missing-prototypes -rdynamic -o $@ $< -ldl

$(B)/python/left.so: test/python/left.c
	$(call say,LIB,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -fvisibility=default -Wno-missing-prototypes -fPIC -shared -o $@ $< -ldl

$(B)/test/unit/test_python_line: $(B)/preload/python/python_line.o
$(B)/test/unit/test_python_room: $(B)/preload/python/python_room.o
$(B)/test/unit/test_python_thread: $(addprefix $(B)/preload/,$(addprefix python/python_,thread.o frame.o line.o lock.o) base/modules.o base/elf.o)
$(B)/test/unit/test_python_thread: LDFLAGS += -rdynamic

python-programs: $(B)/python/fake_python $(B)/python/left.so $(B)/torch/GOOD/libtorch_cpu.so

tests: python-programs

.PHONY: python-programs
