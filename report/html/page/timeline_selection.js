/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search in the timeline and the selected slice: the next match, the next slice, details, and links to tables
 * about it. Names from the target are set as text, never as markup.
 */
"use strict";

const timelineSelectionOf = (tools) => {
const {make, one} = tools;
const {atLeast, categoryOf, isInstant, argsOf, flowOf} = timelineData;
const {ROW, GAP, kindAt, timeText} = timelineRows;
const {factsOf} = timelineTipOf(tools), showMeasure = timelineMeasureOf(tools);

/* The pages with tables of such names. */
const tablesOf = {kernel: ["kernels", "kernel"], "kernel,nccl": ["kernels", "kernel"], gpu_memcpy: ["copies", "memcpy"], gpu_memset: ["copies", "memset"],
	cpu_op: ["operators", "operator"], cuda_runtime: ["api", "api"], cuda_driver: ["api", "api"], user_annotation: ["nvtx", "nvtx"], python_function: ["operators", "python"]};

class Selection {
	/* status and details: elements for the result of the search and for the selected slice. */
	constructor(view, status, details) {
		this.view = view;
		this.status = status;
		this.details = details;
		this.found = null; /* by name: does the search match it? */
		this.hits = [];
		this.at = -1;
		this.slice = null; /* [row, i] */
		this.wasMeasuring = false;
		this.showDetails();
	}

	/* Are the details about a selected time? */
	get isMeasuring() {
		return this.view.range !== null && !this.slice;
	}

	/* ---- search ---- */

	/* A text in quotes is a whole name. */
	find(text) {
		const word = text.toLowerCase(), exact = text.length > 2 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : null;
		this.hits = [];
		this.at = -1;
		this.found = word ? this.view.data.strings.map((name) => (exact !== null ? name === exact : tools.searchedText(name).includes(word))) : null;
		for (const row of word ? this.view.data.rows : []) {
			for (let i = 0; i < row.nr; i++) {
				if (this.found[row.name[i]]) {
					this.hits.push([row, i]);
				}
			}
		}
		this.hits.sort(([a, i], [b, k]) => a.begin[i] - b.begin[k]);
		this.showHits();
		this.view.redraw();
	}

	showHits() {
		const nr = this.hits.length.toLocaleString("en-US");
		this.status.textContent = !this.found ? "" : !this.hits.length ? "No match" + (this.view.data.dropped ? " among events drawn one by one" : "")
			: (this.at >= 0 ? (this.at + 1).toLocaleString("en-US") + " of " : "") + nr + (this.at < 0 ? " found" : "");
	}

	/* The next match; at first the first match in view. */
	hit(step) {
		const nr = this.hits.length;
		if (!nr) {
			return;
		}
		if (this.at < 0) {
			const first = this.hits.findIndex(([row, i]) => row.begin[i] >= this.view.from);
			this.at = first < 0 ? 0 : first;
		} else {
			this.at = (this.at + step + nr) % nr;
		}
		this.select(this.hits[this.at]);
		this.reveal();
		this.showHits();
	}

	select(slice) {
		this.slice = slice;
		this.showDetails();
		this.view.redraw();
	}

	/* What is selected and found, so that `regain` finds it among other slices of its row. */
	hold() {
		const timesOf = (slice) => slice && {row: slice[0], begin: slice[0].begin[slice[1]], end: slice[0].end[slice[1]]};
		return {slice: timesOf(this.slice), hit: timesOf(this.hits[this.at])};
	}

	regain({slice, hit}) {
		if (this.found) {
			this.find(this.view.search.value);
		}
		const again = hit && this.sliceAt(hit.row, hit.begin, hit.end);
		this.at = again ? this.hits.findIndex(([row, i]) => row === again[0] && i === again[1]) : -1;
		this.showHits();
		if (slice) {
			this.slice = this.sliceAt(slice.row, slice.begin, slice.end);
		}
		if (this.slice || this.isMeasuring) {
			this.showDetails();
		}
	}

	/* The slice of a row that begins then, and ends then if that is known; null: none. */
	sliceAt(row, begin, end = null) {
		for (let i = atLeast(row.begin, begin); i < row.nr && row.begin[i] === begin; i++) {
			if (end === null || row.end[i] === end) {
				return [row, i];
			}
		}
		return null;
	}

	/* Zooms to the selected slice, wide enough to read it. */
	reveal() {
		const {scroll, from, to, scale} = this.view;
		const [row, i] = this.slice, line = this.view.lineOf(row);
		const length = row.end[i] - row.begin[i], span = to - from;
		this.view.uncover(line, row.depth);
		const y = this.view.topOf(line) + row.depth * ROW;
		if (!(line.isPinned && this.view.stuckHeight) && (y < this.view.stuckHeight || y + ROW > this.view.height)) {
			scroll.scrollTop = Math.max(0, scroll.scrollTop + y - this.view.height / 2);
		}
		if (length * scale < 8 || length > span || row.begin[i] < from || row.end[i] > to) {
			const wide = Math.min(Math.max(length * 12, 200), Math.max(span, length * 1.3));
			this.view.show((row.begin[i] + row.end[i] - wide) / 2, (row.begin[i] + row.end[i] + wide) / 2);
		}
		this.view.redraw();
	}

	/* Fits the selected time, or the selected slice, into the view. */
	focusOn() {
		if (this.view.range) {
			this.view.show(...this.view.range);
			return;
		}
		if (!this.slice) {
			return;
		}
		const [row, i] = this.slice, length = Math.max(20, row.end[i] - row.begin[i]);
		this.view.show(row.begin[i] - length * .1, row.end[i] + length * .1);
	}

	/* The next slice of the row, or the nearest one of a row beside it. */
	step(slices, rows) {
		const lists = this.view.layout.filter((line) => line.isShown && line.track).flatMap((line) => line.track.rows).filter((row) => row.nr);
		if (!this.slice) {
			/* The first one in view, else the last one of the first row. */
			const row = lists.find((each) => each.nr > atLeast(each.begin, this.view.from)) || lists[0];
			this.select(row ? [row, Math.min(row.nr - 1, atLeast(row.begin, this.view.from))] : null);
			return;
		}
		let [row, i] = this.slice;
		if (rows) {
			const begin = row.begin[i];
			row = lists[Math.min(Math.max(lists.indexOf(row) + rows, 0), lists.length - 1)] || row;
			i = Math.min(row.nr - 1, atLeast(row.end, begin));
		}
		this.select([row, Math.min(Math.max(i + slices, 0), row.nr - 1)]);
		this.reveal();
	}

	/* ---- flows ---- */

	/* The arrow from a call to its GPU activity. */
	arrows() {
		const flow = this.flow();
		return flow ? flow.calls.slice(0, 4).flatMap((call) => flow.activities.slice(0, 64).map((activity) => [call, activity])) : [];
	}

	flow() {
		const [row, i] = this.slice;
		return flowOf(this.view.data, row, i);
	}

	/* ---- details ---- */

	showDetails(bucket, row) {
		const list = make("dl", null, null, "slice"), data = this.view.data;
		const add = (key, value, isWide) => {
			const line = make("div", list, null, isWide ? "wide" : "");
			make("dt", line, key[0].toUpperCase() + key.slice(1));
			return make("dd", line, value);
		};
		this.details.replaceChildren(list);
		this.view.chosen(this.slice);
		if (this.wasMeasuring !== this.isMeasuring) {
			this.wasMeasuring = this.isMeasuring;
			this.view.resize(); /* what is measured needs more room */
		}
		if (bucket) {
			add("Merged", bucket.nr.toLocaleString("en-US") + (bucket.nr === 1 ? " event" : " events") + " between " + one(bucket.at * row.bucketWidth, "time") + " and " + one((bucket.at + 1) * row.bucketWidth, "time"), true);
			add("Busy", one(bucket.busy, "time") + " (" + (100 * bucket.busy / row.bucketWidth).toFixed(1) + " % of the bin)");
			add("Longest", one(bucket.longest, "time"));
			add("Name of the longest", data.strings[bucket.name], true);
		} else if (this.slice) {
			this.fillDetails(add, ...this.slice);
		} else if (this.isMeasuring) {
			showMeasure(list, this.view);
		} else {
			list.append(make("p", null, "Hover or click: details. Ctrl+scroll or W/S: zoom. Drag or A/D: pan. Shift+drag: measure. ?: all keys.", "note wide"));
		}
	}

	/* Links to what the page has about the slice. */
	addressOf(track, category, name) {
		const process = tools.rowsOf("processes")[track.process - 1], step = /^step (\d+)$/.exec(name);
		if (category === "step") {
			return process && step ? tools.stepHash({...process, step: step[1]}) : null;
		}
		return tablesOf[category] ? tools.rowsHash(...tablesOf[category], "name", name) : null;
	}

	fillDetails(add, row, i) {
		const data = this.view.data, track = data.tracks[row.track], name = data.strings[row.name[i]], category = categoryOf(data, row, i);
		const flow = this.flow(), length = row.end[i] - row.begin[i], address = this.addressOf(track, category, name);
		const title = add(kindAt(data, row, i)[1], address ? null : name, true);
		if (address) {
			make("a", title, name).href = address;
		}
		add("Start", timeText(row.begin[i], 1));
		if (!isInstant(data, row, i)) {
			add("Duration", one(length, "time") + (length >= 1000 ? " (" + length.toLocaleString("en-US") + " ns)" : ""));
		}
		add("Track", track.name);
		for (const [key, value] of factsOf(data, row, i)) {
			add(key, value, value.length > 40);
		}
		for (const [key, value] of argsOf(data, row, i)) {
			if (value !== null) {
				const text = key === "bytes" ? value.toLocaleString("en-US") : typeof value === "number" && !Number.isInteger(value) ? String(Number(value.toPrecision(4))) : String(value);
				add(key, text, text.length > 40);
			}
		}
		for (const [key, ends] of flow ? [[flow.isAutograd ? "Forward" : "Launched by", flow.calls], [flow.isAutograd ? "Backward" : "Launched", flow.activities]] : []) {
			const others = ends.filter(([each, k]) => each !== row || k !== i);
			const dd = others.length ? add(key, null, true) : null;
			for (const end of others.slice(0, 8)) {
				make("button", dd, tools.short(data.strings[end[0].name[end[1]]], 90)).addEventListener("click", () => {
					this.select(end);
					this.reveal();
				});
			}
			if (others.length > 8) {
				dd.append("and " + (others.length - 8) + " more");
			}
		}
	}
}

return Selection;
};
