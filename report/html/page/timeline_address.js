/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeline in the page's address, so that a copy of it opens the same picture:
 *
 *     #timeline/view/BEGIN~END/SELECTION/SEARCH/FILTER/ROWS
 *
 * Times are ns. The selection is an event ("e" row "." place; where a server has more events, "b" row "." begin), a time ("t" begin "~" end), or both, joined by "_". Rows are
 * lines of the layout whose folding changed ("f" id), that are pinned ("p" id), and the vertical scroll ("y" pixels).
 */
"use strict";

const timelineAddressOf = (tools) => {
const DELAY_MS = 150; /* browsers refuse an address for each frame */
const numberOf = (text) => (text === "" || text === undefined ? NaN : Number(text));

class Address {
	constructor(view) {
		this.view = view;
		this.timer = 0;
		this.shown = null; /* what the address says; null until the page has followed it */
		this.wanted = null; /* [row, begin] of an event that may come later */
	}

	begin() {
		this.shown = this.hash();
		this.view.box.dataset.address = "written";
	}

	hash() {
		const {from, to, range, selection, layout, scroll, search, filter} = this.view, time = String;
		const selected = [selection.slice ? this.wordOf(...selection.slice) : "", range ? "t" + time(range[0]) + "~" + time(range[1]) : ""];
		const rows = [...layout.filter((line) => line.isOpen !== line.wasOpen).map((line) => "f" + line.id), ...layout.filter((line) => line.isPinned).map((line) => "p" + line.id),
			scroll.scrollTop ? "y" + Math.round(scroll.scrollTop) : ""];
		const parts = [time(from) + "~" + time(to), ...[selected, rows].map((list) => list.filter(Boolean).join("_"))];
		return tools.hashOf("timeline", "view", parts[0], parts[1], search.value, filter.value, parts[2]);
	}

	wordOf(row, i) {
		return tools.windowEvents ? "b" + row.i + "." + row.begin[i] : "e" + row.i + "." + i;
	}

	/* Writes the address soon if the user changed what it says. */
	update() {
		if (this.shown !== null && this.shown !== this.hash()) {
			this.view.box.dataset.address = "changed";
			this.timer = this.timer || setTimeout(() => this.write(), DELAY_MS);
		}
	}

	write() {
		const main = document.getElementById("main");
		this.timer = 0;
		if (main.dataset.drawn !== location.hash) {
			this.update(); /* the page still waits for its first frame */
			return;
		}
		this.shown = this.hash();
		history.replaceState(null, "", this.shown);
		main.dataset.drawn = location.hash;
		this.view.box.dataset.address = "written";
	}

	/* Shows what the parts of an address after #timeline/view say; what they do not say stays as it is. */
	read([time = "", selected = "", search = "", filter = "", rows = ""]) {
		const {view} = this, {data, layout} = view;
		for (const word of rows.split("_")) {
			const line = layout.find((each) => each.id === numberOf(word.slice(1)));
			if (line && word[0] === "f") {
				line.isOpen = !line.wasOpen;
			} else if (line && word[0] === "p" && !line.isGroup) {
				line.isPinned = true;
			}
		}
		view.filter.value = filter;
		view.search.value = search;
		view.resize();
		if (search) {
			view.selection.find(search);
		}
		const [from, to] = time.split("~").map(numberOf);
		if (from < to) {
			view.show(from, to);
		}
		for (const word of selected.split("_")) {
			const [a, b] = word.slice(1).split(word[0] === "t" ? "~" : ".").map(numberOf);
			if (word[0] === "t" && a < b) {
				view.range = [a, b];
			} else if (word[0] === "e" && data.rows[a] && b >= 0 && b < data.rows[a].nr) {
				view.selection.slice = [data.rows[a], b];
			} else if (word[0] === "b" && data.rows[a]) {
				this.wanted = [data.rows[a], b];
				view.selection.slice = view.selection.sliceAt(...this.wanted);
			}
		}
		view.selection.showDetails();
		const scroll = rows.split("_").find((word) => word[0] === "y");
		view.scroll.scrollTop = scroll ? numberOf(scroll.slice(1)) || 0 : 0;
		view.redraw();
	}

	/* Selects the event of the address as soon as it is there, unless the user has selected another one. */
	select() {
		const {selection} = this.view, found = this.wanted && !selection.slice ? selection.sliceAt(...this.wanted) : null;
		if (found) {
			selection.select(found);
			this.wanted = null;
		}
	}

	destroy() {
		clearTimeout(this.timer);
	}
}

return Address;
};
