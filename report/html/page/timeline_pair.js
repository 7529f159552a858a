/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two timelines, one above the other, aligned by a step: those of two runs, or of two ranks of a run. They share zoom and
 * pan, and what is under the pointer in one is outlined in the other. The address has what is shown:
 *
 *     #timelines/STEP OF A/STEP OF B/BEGIN~END/SEARCH       of two runs
 *     #ranks/STEP/PROCESS/PROCESS/BEGIN~END/SEARCH          of two ranks
 *
 * Times are ns since the start of the step.
 */
"use strict";

const timelinePairOf = (tools) => {
const {make, prose, one, rowsOf, keyOf, hashOf, partsOfHash, shown, clock, facts, timeline, timelineB} = tools;
const {atLeast, categoryOf, lengthOf, isInstant} = timelineData;
const {shadeNumberOf} = timelineRows;
const {View} = timeline;
const LEAST_HEIGHT = 190, BELOW = 90; /* pixels: of a timeline, and left free below both */
const FOLDED = 3; /* rows of a folded thread, so that GPUs are in sight */
const MARGIN = .02; /* of the step, at both ends of "Fit" */
const DELAY_MS = 150;

/* ---- steps ---- */

/*
 * {step, begin, end} by number, from the first begin to the last end of the processes that the data show. Their facts name the
 * steps without an end.
 */
function stepsOf(data, facts) {
	const steps = new Map(), isOpen = (row, i, step) => i === row.nr - 1 && facts[data.tracks[row.track].process - 1].open_step === step;
	for (const row of data.rows) {
		for (let i = 0; i < row.nr; i++) {
			const found = categoryOf(data, row, i) === "step" ? /^step (\d+)$/.exec(data.strings[row.name[i]]) : null;
			if (found && !isOpen(row, i, found[1])) {
				const step = steps.get(found[1]) || {step: found[1], begin: Infinity, end: -Infinity};
				step.begin = Math.min(step.begin, row.begin[i]);
				step.end = Math.max(step.end, row.end[i]);
				steps.set(found[1], step);
			}
		}
	}
	return [...steps.values()].sort((a, b) => a.step - b.step);
}

const lasting = (step) => step.end - step.begin;

/* The middle one by length; of two the shorter. */
function medianOf(steps) {
	const sorted = [...steps].sort((a, b) => lasting(a) - lasting(b));
	return sorted[(sorted.length - 1) >> 1];
}

/* The data of one process. */
function partOf(data, process) {
	return {...data, process, flows: null, rows: data.rows.filter((row) => data.tracks[row.track].process === process)};
}

/* ---- one of the two ---- */

class PairView extends View {
	buildTools(section) {
		const heading = make("h3", section, this.more.title, "pair-title");
		heading.title = this.more.title;
		/* The pair's own fields. */
		({search: this.search, status: this.status, filter: this.filter} = this.more.pair);
	}

	buildKeys() {
		({keys: this.keys, help: this.help} = this.more.pair);
	}

	buildDetails() {
		return make("div", this.more.pair.details);
	}

	buildBelow() {}

	makeAsker() {
		return {update: () => {}, destroy: () => {}};
	}

	makeAddress() {
		return {update: () => this.more.pair.changed(), destroy: () => {}};
	}

	writeCommand() {}

	boxHeight() {
		const {pair} = this.more, top = pair.place.getBoundingClientRect().top + scrollY;
		return Math.max(LEAST_HEIGHT, Math.round((innerHeight - top - BELOW) / 2) - 20);
	}

	get whole() {
		return this.more.pair.whole.map((ns) => ns + this.origin);
	}

	get isActive() {
		return this.more.pair.active === this;
	}

	show(from, to) {
		this.more.pair.show(from - this.origin, to - this.origin);
	}

	/* The times in view, of both. */
	set(from, to) {
		this.from = Number((from + this.origin).toFixed(3));
		this.to = Number((to + this.origin).toFixed(3));
		this.redraw();
	}

	beside(row, i) {
		const {pair} = this.more, other = pair.otherOf(this), twin = pair.twinOf(this, row, i), where = "In " + other.more.name;
		if (!twin) {
			return pair.isInStep(this, row, i) ? [[where, "not found in this step"]] : [];
		}
		const [of, k] = twin, mine = lengthOf(row, i), its = lengthOf(of, k), later = of.begin[k] - other.origin - (row.begin[i] - this.origin);
		const begins = "begins " + one(Math.abs(Math.round(later)), "time") + (later < 0 ? " earlier" : " later");
		return [[where, (isInstant(this.data, row, i) ? "" : one(its, "time") + " (" + (its < mine ? "−" : "+") + one(Math.abs(its - mine), "time") + "), ") + begins]];
	}

	hovered(slice) {
		if (this.more.pair.views.length === 2) {
			this.more.pair.mark(this, slice);
		}
	}

	chosen(slice) {
		if (this.more.pair.views.length === 2) {
			this.more.pair.choose(this, slice);
		}
	}
}

/* ---- both ---- */

class Pair {
	/*
	 * sides: two of {data, title, name, span, origin}; span is the step, origin the time that both axes count from. nameOf(side, name):
	 * the name that the other side calls it. address(): the first parts of the address.
	 */
	constructor(parent, sides, {nameOf, address}) {
		this.address = address;
		this.nameOf = nameOf;
		this.views = [];
		this.timer = 0;
		this.places = [null, null];
		this.buildTools(parent);
		this.place = make("div", parent, null, "pair");
		this.details = make("div", null, null, "pair-details");
		const axis = "Since the step began";
		this.views = sides.reduce((views, side, at) => [...views, new PairView(this.place, side.data, {...side, at, axis, foldedTo: FOLDED, pair: this})], []);
		[this.active] = this.views;
		parent.append(this.details);
		this.active.buildLegend(parent, sides.map((side) => side.data));
		for (const view of this.views) {
			for (const name of ["pointerenter", "pointerdown"]) {
				view.inner.addEventListener(name, () => {
					this.active = view;
				});
			}
			shown.push(view);
		}
	}

	buildTools(parent) {
		const row = make("div", parent, null, "tools timeline-tools"), search = this.search = make("input", row);
		const button = (text, title, act) => {
			const element = make("button", row, text);
			element.title = title;
			element.setAttribute("aria-label", title);
			element.addEventListener("click", act);
			return element;
		};
		search.type = "search";
		search.placeholder = "Search by name";
		search.autocomplete = "off";
		search.setAttribute("aria-label", "Search events by name in both timelines");
		search.addEventListener("input", () => this.find(search.value));
		search.addEventListener("keydown", (event) => event.key === "Enter" && this.active.selection.hit(event.shiftKey ? -1 : 1));
		button("‹", "Previous match (N)", () => this.active.selection.hit(-1));
		button("›", "Next match (n)", () => this.active.selection.hit(1));
		this.status = make("span", row);
		this.status.setAttribute("role", "status");
		button("+", "Zoom in (W)", () => this.active.zooming.zoom(.5));
		button("−", "Zoom out (S)", () => this.active.zooming.zoom(2));
		button("◂", "Pan left (A)", () => this.active.zooming.pan(-.3));
		button("▸", "Pan right (D)", () => this.active.zooming.pan(.3));
		button("Fit", "Show the whole step (0)", () => this.show(...this.whole));
		this.filter = make("input", row);
		this.filter.type = "search";
		this.filter.className = "filter";
		this.filter.placeholder = "Filter rows";
		this.filter.setAttribute("aria-label", "Filter rows by name");
		this.filter.addEventListener("input", () => this.views.forEach((view) => view.resize()));
		this.help = button("?", "All keys (?)", () => this.active.toggleKeys());
		this.help.setAttribute("aria-expanded", "false");
		View.prototype.buildKeys.call(this, parent);
	}

	otherOf(view) {
		return this.views[view === this.views[0] ? 1 : 0];
	}

	/* ---- time ---- */

	/* From and to count from the start of the step; at most a little more than both recordings. */
	show(from, to) {
		const least = Math.min(...this.views.map((view) => view.data.first - view.origin)), most = Math.max(...this.views.map((view) => view.data.last - view.origin));
		const span = Math.min(Math.max(to - from, 20), (most - least) * 1.1), middle = (from + to) / 2;
		const begin = Math.min(Math.max(middle - span / 2, least - span * .05), most + span * .05 - span);
		this.views.forEach((view) => view.set(begin, begin + span));
	}

	/* Both steps, with a margin. */
	get whole() {
		const begins = this.views.map(({more, origin}) => more.span.begin - origin), ends = this.views.map(({more, origin}) => more.span.end - origin);
		const begin = Math.min(...begins), end = Math.max(...ends), margin = MARGIN * (end - begin);
		return [begin - margin, end + margin];
	}

	/* ---- names ---- */

	find(text) {
		/* A whole name is that of B. */
		const exact = text.length > 2 && text.startsWith('"') && text.endsWith('"');
		this.views.forEach((view) => view.selection.find(exact && view.more.at === 0 ? '"' + this.nameOf(1, text.slice(1, -1)) + '"' : text));
		this.active.selection.showHits();
		this.changed();
	}

	isInStep(view, row, i) {
		const {span} = view.more;
		return row.begin[i] >= span.begin && row.begin[i] < span.end;
	}

	keyOf(view, row, i) {
		const name = view.data.strings[row.name[i]];
		return categoryOf(view.data, row, i) + " " + this.nameOf(view.more.at, name);
	}

	/* The slices of a view's step by category and name, in order of time. */
	placesOf(view) {
		const {at, span} = view.more;
		if (!this.places[at]) {
			const byKey = new Map();
			for (const row of view.data.rows) {
				for (let i = atLeast(row.begin, span.begin); i < row.nr && row.begin[i] < span.end; i++) {
					const key = this.keyOf(view, row, i), list = byKey.get(key) || [];
					list.push([row, i]);
					byKey.set(key, list);
				}
			}
			byKey.forEach((list) => list.sort(([a, i], [b, k]) => a.begin[i] - b.begin[k]));
			this.places[at] = byKey;
		}
		return this.places[at];
	}

	/* The slice of the other view with the same name and the same number in the step; null where there is none. */
	twinOf(view, row, i) {
		if (!this.isInStep(view, row, i)) {
			return null;
		}
		const key = this.keyOf(view, row, i), own = this.placesOf(view).get(key), other = this.placesOf(this.otherOf(view)).get(key);
		return (other || [])[own.findIndex(([each, k]) => each === row && k === i)] || null;
	}

	mark(view, slice) {
		const other = this.otherOf(view), twin = slice ? this.twinOf(view, ...slice) : null;
		if ((twin || [])[0] !== (other.marked || [])[0] || (twin || [])[1] !== (other.marked || [])[1]) {
			other.marked = twin;
			other.redraw();
		}
	}

	/* Selects the counterpart, too, or the same time. */
	choose(view, slice) {
		const other = this.otherOf(view);
		if (this.isChoosing) {
			return;
		}
		this.isChoosing = true;
		other.range = view.range ? view.range.map((ns) => Math.round(ns - view.origin + other.origin)) : null;
		other.selection.slice = slice ? this.twinOf(view, ...slice) : null;
		other.selection.showDetails();
		other.redraw();
		this.isChoosing = false;
	}

	/* ---- the address ---- */

	hash() {
		const [view] = this.views, times = [view.from, view.to].map((ns) => Number((ns - view.origin).toFixed(3)));
		return hashOf(...this.address(), times.join("~"), this.search.value);
	}

	/* Shows what the address says after its first parts; without it the whole step. */
	follow([time = "", search = ""]) {
		const [from, to] = time.split("~").map(Number);
		if (search) {
			this.search.value = search;
			this.find(search);
		}
		if (time && from < to) {
			this.show(from, to);
		} else {
			this.show(...this.whole);
		}
		this.written = this.hash();
	}

	changed() {
		if (this.written && this.written !== this.hash() && this.views[0].canvas.isConnected) {
			this.place.dataset.address = "changed";
			this.timer = this.timer || setTimeout(() => this.write(), DELAY_MS);
		}
	}

	write() {
		const main = document.getElementById("main");
		this.timer = 0;
		if (!this.views[0].canvas.isConnected) {
			return;
		}
		if (main.dataset.drawn !== location.hash) {
			this.changed(); /* the page still waits for its first frame */
			return;
		}
		this.written = this.hash();
		history.replaceState(null, "", this.written);
		main.dataset.drawn = location.hash;
		this.place.dataset.address = "written";
	}
}

/* ---- choices ---- */

/* A list to choose from: [value, text]. */
function addChoice(parent, label, options, chosen, choose) {
	const box = make("label", parent, label + " "), list = make("select", box);
	list.setAttribute("aria-label", label);
	for (const [value, text] of options) {
		make("option", list, text).value = value;
	}
	list.value = chosen;
	list.addEventListener("change", () => choose(list.value));
}

/* Why there is nothing to see, or null. */
function lack(parts) {
	return parts.some((part) => part.isEmpty) ? "No timeline: a recording has no events to draw, or the page was written with --timeline-size 0."
		: timeline.canUnpack ? null : "This browser cannot decompress the timeline (no DecompressionStream).";
}

function dropNote(parent, name, data) {
	if (data.dropped) {
		make("p", parent, name + ": the " + data.nr.toLocaleString("en-US") + " longest of " + data.all.toLocaleString("en-US") + " events are drawn one by one, others are merged. " +
			"For more detail, write the page with --steps, --window or a larger --timeline-size.", "note");
	}
}

/* Adds the text of a promise's page once its data are there; the user may have opened another page meanwhile. */
async function unpacked(parent, parts) {
	const status = make("p", parent, lack(parts) || "Unpacking …", "note");
	if (lack(parts)) {
		return null;
	}
	const all = await Promise.all(parts.map((part) => part.dataOf()));
	const isOpen = status.isConnected;
	status.remove();
	return isOpen ? all : null;
}

/* ---- two runs ---- */

/* What B calls otherwise, as `diff` has matched it: the name in A. */
function namesOfA() {
	return new Map(["operator", "kernel", "copy"].flatMap((key) => rowsOf(key)).filter((row) => row.a_name).map((row) => [row.name, row.a_name]));
}

async function drawRuns(parent) {
	const all = await unpacked(parent, [timeline, timelineB]);
	if (!all) {
		return;
	}
	const section = make("section", parent), [, ...parts] = partsOfHash(), names = namesOfA();
	/* One name, one colour. */
	all[1].strings.forEach((name, i) => {
		all[1].shades[i] = shadeNumberOf(names.get(name) || name);
	});
	const steps = all.map((data, side) => stepsOf(data, facts.filter((each) => each.side === "AB"[side]))), hasSteps = steps.every((list) => list.length);
	const spans = all.map((data, side) => (hasSteps ? steps[side].find((each) => each.step === parts[side]) || medianOf(steps[side]) : {step: "all", begin: data.first, end: data.last}));
	const row = make("div", section, null, "tools");
	const go = (side, step) => {
		location.hash = hashOf("timelines", ...spans.map((span, at) => (at === side ? step : span.step)));
	};
	if (hasSteps) {
		steps.forEach((list, side) => addChoice(row, "Step of " + "AB"[side], list.map((each) => [each.step, each.step + ": " + one(lasting(each), "time") + (each === medianOf(list) ? ", the median" : "")]),
			spans[side].step, (step) => go(side, step)));
	} else {
		make("span", row, "Not both runs have complete steps: both timelines start with their recording.");
	}
	const sides = all.map((data, at) => ({data, name: "AB"[at], title: "AB"[at] + (hasSteps ? ", step " + spans[at].step + ", " + one(lasting(spans[at]), "time") : "") + ": " + rowsOf("sides")[at].path,
		span: spans[at], origin: spans[at].begin}));
	const pair = new Pair(section, sides, {nameOf: (side, name) => (side && names.get(name)) || name, address: () => ["timelines", ...spans.map((span) => span.step)]});
	make("p", section, "Both timelines start where their step begins and share zoom and pan. What the pointer is over is outlined in the other run: the event with the same name and number in its step.", "note");
	sides.forEach((side) => dropNote(section, side.name, side.data));
	pair.follow(parts.slice(2));
}

/* ---- two ranks ---- */

/* The processes with a timeline: {process, key, name}; the data have them in the order of the table of processes. */
function processesOf(data) {
	return rowsOf("processes").map((row, i) => ({process: i + 1, key: keyOf(row), name: row.rank === null ? "pid " + row.pid : "rank " + row.rank}))
		.filter((each) => each.key !== null && data.tracks.some((track) => track.process === each.process));
}

/* Of a step, the processes by how long it took them: [{process, key, name, span}], the slowest first. */
function slowestOf(all, step) {
	return all.map((each) => ({...each, span: each.steps.find((own) => own.step === step)})).filter((each) => each.span).sort((a, b) => lasting(b.span) - lasting(a.span));
}

async function drawRanks(parent) {
	const unpackedData = await unpacked(parent, [timeline]);
	if (!unpackedData) {
		return;
	}
	const [data] = unpackedData, section = make("section", parent), [, ...parts] = partsOfHash();
	const all = processesOf(data).map((each) => {
		const own = partOf(data, each.process);
		return {...each, data: own, steps: stepsOf(own, facts)};
	});
	const numbers = [...new Set(all.flatMap((each) => each.steps.map(({step}) => step)))].sort((a, b) => a - b).filter((step) => slowestOf(all, step).length > 1);
	if (!numbers.length) {
		make("p", section, "No step was recorded from begin to end on two ranks.", "note");
		return;
	}
	const spread = (step) => {
		const ranks = slowestOf(all, step);
		return lasting(ranks[0].span) - lasting(ranks[ranks.length >> 1].span);
	};
	const step = numbers.includes(parts[0]) ? parts[0] : numbers.reduce((most, each) => (spread(each) > spread(most) ? each : most));
	const ranks = slowestOf(all, step), usual = [ranks[0], ranks[Math.max(1, ranks.length >> 1)]];
	const isByClock = parts[3] !== "step", chosen = usual.map((each, at) => ranks.find(({key}) => key === parts[1 + at]) || each);
	const row = make("div", section, null, "tools"), go = (...all_) => {
		location.hash = hashOf("ranks", ...all_);
	};
	const words = (each) => each.name + ": " + one(lasting(each.span), "time") + (each === usual[0] ? ", the slowest" : each === usual[1] ? ", the median" : "");
	addChoice(row, "Step", numbers.map((each) => [each, each]), step, (each) => go(each));
	chosen.forEach((own, at) => addChoice(row, at ? "Below" : "Above", ranks.map((each) => [each.key, words(each)]), own.key,
		(key) => go(step, ...chosen.map((each, i) => (i === at ? key : each.key)), isByClock ? "clock" : "step")));
	addChoice(row, "Align by", [["clock", "the job's clock"], ["step", "the start of the step"]], isByClock ? "clock" : "step", (how) => go(step, ...chosen.map(({key}) => key), how));
	const first = Math.min(...chosen.map((each) => each.span.begin));
	const pair = new Pair(section, chosen.map((each) => ({data: each.data, name: each.name, title: words(each), span: each.span, origin: isByClock ? first : each.span.begin})),
		{nameOf: (side, name) => name, address: () => ["ranks", step, ...chosen.map(({key}) => key), isByClock ? "clock" : "step"]});
	make("p", section, "The two ranks share zoom and pan. What the pointer is over is outlined on the other rank: the event with the same name and number in the step.", "note");
	if (isByClock && clock) {
		prose("p", section, clock[0].toUpperCase() + clock.slice(1) + ".", "note");
	}
	dropNote(section, "All ranks", data);
	pair.follow(parts.slice(4));
}

return {drawRuns, drawRanks};
};
