# SPDX-License-Identifier: Apache-2.0
# gprof-report, and the library of its modules that tests link.

REPORT_SRC := $(filter-out report/cli/main.c report/cli/mpi_main.c report/launch/main.c,$(sort $(wildcard report/*/*.c report/*/*/*.c)))
REPORT_OBJ := $(REPORT_SRC:%.c=$(B)/%.o)
# Traces in other formats become streams by the recorder's own encoder.
REPORT_OBJ += $(addprefix $(B)/collector/format/,block.o block_tables.o intern.o nccl_nvtx.o rows_to_columns.o) $(B)/collector/util/memory.o
# gprof-record refuses a schedule that the recorder would.
REPORT_OBJ += $(B)/collector/step/schedule.o
# Perfetto's packets.
REPORT_OBJ += $(B)/report/timeline/perfetto.pb-c.o $(B)/report/timeline/pprof.pb-c.o
REPORT_LIBS := -lzstd -lz -liberty -lprotobuf-c -lm -lpthread
# `export` to a database; without SQLite's header it writes files alone. A static one needs -lm behind it.
# Makes before and since 4.3 read a \# within $(shell) differently.
HASH := \#
REPORT_SQLITE := $(shell printf '$(HASH)include <sqlite3.h>\n' | $(CC) $(CPPFLAGS) -E -x c - >/dev/null 2>&1 && echo 1)
REPORT_LIBS += $(if $(REPORT_SQLITE),-lsqlite3 -lm)

# `serve`: the header alone, since the server loads the library. A static program cannot, so it takes server_none.o.
REPORT_SERVER := $(shell printf '$(HASH)include <microhttpd.h>\n' | $(CC) $(CPPFLAGS) $$(pkg-config --cflags libmicrohttpd 2>/dev/null) -E -x c - >/dev/null 2>&1 && echo 1)
$(B)/report/serve/server.o $(B)/fuzz/report/serve/server.o: CPPFLAGS += $(if $(REPORT_SERVER),-DREPORT_HAS_MICROHTTPD $(shell pkg-config --cflags libmicrohttpd 2>/dev/null))
REPORT_LIBS += $(if $(REPORT_SERVER),-ldl)
$(B)/report/serve/server_none.o: report/serve/server.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# Loops over columns are what the reporter does; they are worth vectorising.
$(B)/report/import/kineto/input.o $(B)/report/stream/block_decode.o $(B)/report/stats/histogram.o $(B)/report/util/busy.o $(B)/report/views/kernel.o: CFLAGS += -O3

# The page of `html`, with the charts of Chart.js (MIT) where Debian has put them; without, it has
# bars of its own. A script uses those before it. Copied only when they change, so that installing the package
# later counts.
PAGE_STYLES := palette.css page.css timeline.css flame.css
PAGE_SCRIPTS := palette.js \
	timeline_data.js timeline_detail.js timeline_to_json.js timeline_rows.js timeline_counters.js timeline_draw.js timeline_tip.js \
	timeline_measure.js timeline_selection.js timeline_zoom.js timeline_address.js timeline_view.js timeline_pair.js \
	text.js data.js links.js export.js table.js charts.js \
	steps.js overview.js memory.js curves.js roofline.js step_heatmap.js arrivals.js flame.js diff.js summary.js \
	pages.js
PAGE_CHART := $(wildcard /usr/share/javascript/chart.js/chart.min.js)
PAGE_PARTS := $(addprefix $(B)/page/,page.html style.css script.js chart.js chart.licence)
# In a folder of its own first: tests run several makes at once.
$(B)/page/.parts: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)new=$$(mktemp -d $(@D)/new-XXXXXX) && \
	cat $(PAGE_CHART) /dev/null >$$new/chart.js && \
	cat $(if $(PAGE_CHART),/usr/share/doc/libjs-chart.js/copyright) /dev/null >$$new/chart.licence && \
	cat report/html/page/page.html >$$new/page.html && \
	cat $(addprefix report/html/page/,$(PAGE_STYLES)) >$$new/style.css && \
	cat $(addprefix report/html/page/,$(PAGE_SCRIPTS)) >$$new/script.js && \
	for part in $(notdir $(PAGE_PARTS)); do \
		cmp -s $(@D)/$$part $$new/$$part || { mv $$new/$$part $(@D)/$$part && touch $@; } || exit 1; \
	done && rm -rf $$new
	$(Q)[ -e $@ ] || touch $@
	$(Q)[ -s $(@D)/chart.js ] || echo '  html: no charts but plain bars, libjs-chart.js is missing (Debian: apt-get install libjs-chart.js)'

$(B)/report/html/html.o $(B)/fuzz/report/html/html.o: $(B)/page/.parts
$(B)/report/html/html.o $(B)/fuzz/report/html/html.o: CPPFLAGS += -DHTML_PAGE='"$(B)/page"'
# SVG pictures have the page's colours.
PALETTE_OBJ := $(addprefix report/html/,svg.o svg_flame.o svg_timeline.o)
$(B)/report/html/palette.h: report/html/page/palette.css
	$(Q)mkdir -p $(@D)
	$(Q)grep -o '[-][-][a-z-]*: #[0-9a-f]*' $< | sed 'h; s/^--\([^:]*\).*/\1/; y/abcdefghijklmnopqrstuvwxyz-/ABCDEFGHIJKLMNOPQRSTUVWXYZ_/; G; s/\(.*\)\n.*: \(.*\)/#define COLOR_\1 "\2"/' >$@.new
	$(Q)mv $@.new $@
$(addprefix $(B)/,$(PALETTE_OBJ)) $(addprefix $(B)/fuzz/,$(PALETTE_OBJ)): $(B)/report/html/palette.h
$(addprefix $(B)/,$(PALETTE_OBJ)) $(addprefix $(B)/fuzz/,$(PALETTE_OBJ)): CPPFLAGS += -DPALETTE='"$(B)/report/html/palette.h"'
# Queries, and databases: files of SQL are built into the program.
REPORT_SQL_OBJ := $(patsubst %.c,%.o,report/cli/export_sqlite.c report/import/nsys/database.c $(wildcard report/sql/*.c))
$(addprefix $(B)/,$(REPORT_SQL_OBJ)) $(addprefix $(B)/fuzz/,$(REPORT_SQL_OBJ)): CPPFLAGS += $(if $(REPORT_SQLITE),-DREPORT_HAS_SQLITE)
$(B)/report/sql/sql_file.o $(B)/fuzz/report/sql/sql_file.o: CPPFLAGS += -DSQL_FOLDER='"report/sql"'
$(B)/report/sql/sql_file.o $(B)/fuzz/report/sql/sql_file.o: $(wildcard report/sql/*.sql)

# The list of views, by the order that each names: a view needs no more than its own file.
$(B)/report/views/list.def: $(wildcard report/views/*.c report/host/*.c report/ranks/*.c)
	$(Q)mkdir -p $(@D)
	$(Q)sed -n 's/^VIEW(\([a-z_]*\), \([0-9]*\)).*/\2 VIEW(\1)/p' $^ | sort -n | sed 's/^[0-9]* //' >$@.new
	$(Q)if cmp -s $@.new $@; then rm $@.new; touch $@; else mv $@.new $@; fi

$(B)/report/session/view_list.o $(B)/fuzz/report/session/view_list.o: $(B)/report/views/list.def
$(B)/report/session/view_list.o $(B)/fuzz/report/session/view_list.o: CPPFLAGS += -DVIEW_LIST='"$(B)/report/views/list.def"'

FORCE:
.PHONY: FORCE

# One sentence in place of a compiler's: what is missing, and what to do.
$(B)/report/.headers:
	$(Q)mkdir -p $(@D)
	$(Q)printf '#include <zstd.h>\n#include <zlib.h>\n#include <stdio.h>\n#include <uthash.h>\n#include <jsmn.h>\n#include <protobuf-c/protobuf-c.h>\n#include <libiberty/demangle.h>\n' \
		| $(CC) $(CPPFLAGS) -E -x c - >/dev/null 2>&1 && command -v protoc-c >/dev/null || { echo \
		'gprof-report needs zstd, zlib, uthash, libiberty, jsmn and protobuf-c (Debian: apt-get install libzstd-dev zlib1g-dev uthash-dev libiberty-dev libjsmn-dev libprotobuf-c-dev protobuf-c-compiler)' >&2; \
		exit 1; }
	$(Q)touch $@

$(REPORT_OBJ) $(B)/report/cli/main.o: | $(B)/report/.headers

$(B)/report/timeline/%.pb-c.c: report/timeline/%.proto | $(B)/report/.headers
	$(call say,PROTO,$<)
	$(Q)protoc-c --c_out=$(B) $<

$(B)/report/timeline/%.pb-c.h: $(B)/report/timeline/%.pb-c.c ;

$(B)/report/timeline/%.pb-c.o: $(B)/report/timeline/%.pb-c.c
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) -I$(B) $(CFLAGS) -Wno-shadow -MMD -MP -c -o $@ $<

.SECONDARY: $(B)/report/timeline/perfetto.pb-c.c $(B)/report/timeline/pprof.pb-c.c

$(B)/report/timeline/perfetto.o $(B)/test/unit/test_report_pftrace.o $(B)/report/timeline/flame_files.o: CPPFLAGS += -I$(B)
$(B)/report/timeline/perfetto.o $(B)/test/unit/test_report_pftrace.o: | $(B)/report/timeline/perfetto.pb-c.h
$(B)/report/timeline/flame_files.o: | $(B)/report/timeline/pprof.pb-c.h

$(B)/libgprof-report.a: $(REPORT_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) qcs $@ $^

$(B)/gprof-report: $(B)/report/cli/main.o $(B)/libgprof-report.a
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(REPORT_LIBS)

# What it takes of the library needs libc only, so that it runs where gprof-report does not.
$(B)/gprof-record: $(B)/report/launch/main.o $(B)/libgprof-report.a
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^

# `reduce` by the processes of an MPI job, where there is an MPI.
MPICC ?= mpicc
REPORT_MPI := $(if $(shell command -v $(MPICC)),$(B)/gprof-report-mpi)

$(B)/gprof-report-mpi: report/cli/mpi_main.c $(B)/libgprof-report.a
	$(call say,MPI,$@)
	$(Q)OMPI_CC='$(CC)' $(MPICC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -MMD -MP -o $@ $(filter %.c %.a,$^) $(REPORT_LIBS)

mpi: $(REPORT_MPI)
	$(if $(REPORT_MPI),,$(error gprof-report-mpi needs an MPI, and there is no $(MPICC) (Debian: apt-get install libopenmpi-dev openmpi-bin)))

tests: $(REPORT_MPI)
install: $(wildcard $(B)/gprof-report-mpi)

.PHONY: mpi

# One page a command; its lists come from the program.
MANUAL := $(patsubst docs/man/%.md,$(B)/man/%,$(wildcard docs/man/*.1.md))
$(B)/man/%.1: docs/man/%.1.md docs/man/man.awk $(B)/gprof-report $(B)/gprof-record
	$(call say,MAN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)LC_ALL=C awk -v report=$(B)/gprof-report -f docs/man/man.awk $< >$@.tmp && mv $@.tmp $@

# Shells complete by the program's own lists; one for another machine cannot print them here.
COMPLETION := $(addprefix $(B)/completion/,bash zsh fish)
$(B)/completion/%: $(B)/gprof-report
	$(Q)mkdir -p $(@D)
	$(Q)$< completion $* >$@ 2>/dev/null || echo '# gprof-report completion $* prints it' >$@

all: $(B)/gprof-report $(B)/gprof-record $(MANUAL) $(COMPLETION)
