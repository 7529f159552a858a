# SPDX-License-Identifier: Apache-2.0
# gprof: `make` builds, `make demo` shows, `make test` proves. `make help` lists the rest.

VERSION := 0.1.0

CC       ?= gcc
B        ?= build
PREFIX   ?= /usr/local
OPT      ?= -O2 -g
WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
WERROR   ?= -Werror
# SAN=address,undefined or SAN=thread builds everything with that sanitizer into its own folder.
ifdef SAN
B        := build/san-$(firstword $(subst $(comma), ,$(subst -,_,$(SAN))))
SANFLAGS := -fsanitize=$(SAN) -fno-omit-frame-pointer
endif
comma    := ,
CPPFLAGS += -I. -D_GNU_SOURCE -DGPROF_VERSION='"$(VERSION)"'
CFLAGS   += -std=gnu11 $(OPT) $(WARN) $(WERROR) -fvisibility=hidden $(SANFLAGS)
LDFLAGS  += $(SANFLAGS)

ifndef V
Q := @
say = @printf '  %-8s%s\n' $(1) $(2)
else
Q :=
say = @:
endif

all:

-include $(wildcard */*.mk */*/*.mk)

# Everything that goes into the injected library is position independent.
$(B)/preload/%.o $(B)/collector/%.o: CFLAGS += -fPIC -fno-semantic-interposition

$(B)/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

-include $(shell find $(B) -name '*.d' 2>/dev/null)

clean:
	$(Q)rm -rf build

.PHONY: all clean
