/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page's timeline: its elements and buttons, the rows and the time in view, and saving a part. timeline_draw.js draws
 * rows of slices on a canvas, timeline_zoom.js zooms and pans. Names from the target are drawn or set as text, never as markup.
 */
"use strict";

const timelineOf = (tools, id = "timeline") => {
const {make, one} = tools;
const {ROW, GAP, kinds, kindOf, addNames, layoutOf, place} = timelineRows;
const Picture = timelinePictureOf(tools), Selection = timelineSelectionOf(tools), Zoom = timelineZoom, Address = timelineAddressOf(tools);
const {countersOf} = timelineCountersOf(tools), {Tip} = timelineTipOf(tools), {Asker} = timelineDetail;
const packed = document.getElementById(id).textContent;
const GUTTER = 232; /* width of the names of rows; less in a narrow window */
const BELOW = 172;  /* pixels that the details below the rows need */
const BELOW_MEASURE = 340;
const canUnpack = typeof DecompressionStream === "function";
const PIDS_APART = 10000000;
let loading = null;

/* The data, unpacked on first use. */
function dataOf() {
	loading = loading || timelineData.load(packed).then((data) => {
		data.facts = tools.facts.filter((each) => !each.side || each.side === (id === "timeline" ? "A" : "B"));
		if (tools.phases) {
			timelineData.addPhases(data, tools.phases);
		}
		addNames(data);
		return data;
	});
	return loading;
}

/* ---- the view ---- */

class View {
	/* more: for a view of a kind of its own. */
	constructor(parent, data, more = {}) {
		this.data = data;
		this.more = more;
		this.origin = more.origin || 0; /* where the axis has 0 */
		this.marked = null; /* a slice that is outlined beside the selected one */
		this.layout = layoutOf(data, (process, track) => this.describe(process, track), (process) => countersOf(data, process), more.foldedTo);
		this.lines = new Map(this.layout.filter((line) => line.track).map((line) => [line.track.i, line]));
		this.from = data.first;
		this.to = data.last;
		this.range = null; /* the time that the user selected */
		this.picture = new Picture(this);
		this.build(parent);
		this.resize();
	}

	/* ---- elements ---- */

	build(parent) {
		const data = this.data, section = this.section = make("section", parent);
		this.buildTools(section);
		this.buildKeys(section);
		const box = this.box = make("div", section, null, "timeline");
		this.axis = make("canvas", box);
		this.axis.setAttribute("aria-hidden", "true");
		this.scroll = make("div", box, null, "rows");
		this.scroll.tabIndex = 0;
		this.scroll.setAttribute("role", "group");
		this.scroll.setAttribute("aria-label", "Timeline. " + Zoom.help.map(([keys, action]) => keys.join(" ") + ": " + action).join("; "));
		this.inner = make("div", this.scroll);
		this.canvas = make("canvas", this.inner);
		this.canvas.setAttribute("role", "img");
		this.stuck = make("div", this.inner, null, "stuck");
		this.layout.forEach((line) => this.buildLabel(line));
		const details = this.buildDetails(section);
		details.setAttribute("aria-live", "polite");
		this.tip = new Tip(this, section);
		this.selection = new Selection(this, this.status, details);
		this.buildBelow(section);
		this.zooming = new Zoom(this);
		this.address = this.makeAddress();
		this.asker = this.makeAsker();
		this.listen();
	}

	buildDetails(section) {
		return make("div", section);
	}

	buildBelow(section) {
		this.legend = this.buildLegend(section, [this.data]);
		const command = make("span", section, null, "tools");
		this.command = make("code", command);
		this.command.title = "Writes all events of this time";
		this.noteLine = make("p", section, null, "note");
		this.showNote();
	}

	makeAddress() {
		return new Address(this);
	}

	makeAsker() {
		return new Asker(this, tools.windowEvents);
	}

	/* What a view beside another one does more: facts about a slice, the slice under the pointer, the selected slice. */
	beside() {
		return [];
	}

	hovered() {}

	chosen() {}

	showNote() {
		this.noteLine.textContent = this.note();
	}

	note() {
		const {all, nr, dropped, longest_dropped_ns, bucket_shift} = this.data, most = tools.windowEvents.toLocaleString("en-US");
		const more = !tools.windowEvents ? "For more detail, write the page with --steps, --window or a larger --timeline-size."
			: this.asker && this.asker.isLost ? "gprof-report serve has ended: run it again for more detail."
				: "Zoom in: where a process has at most " + most + " events in view, all of them are drawn one by one.";
		return !dropped ? "All " + all.toLocaleString("en-US") + " events are drawn one by one."
			: (tools.windowEvents ? "" : "The ") + nr.toLocaleString("en-US") + (tools.windowEvents ? " of " : " longest of ") + all.toLocaleString("en-US") + " events are drawn one by one. The others, up to " +
				one(longest_dropped_ns, "time") + " long, are merged into bins of " + one(2 ** bucket_shift, "time") +
				", drawn paler and as high as their share of the bin. " + more;
	}

	buildTools(section) {
		const tools = make("div", section, null, "tools timeline-tools");
		const button = (text, title, act) => {
			const element = make("button", tools, text);
			element.title = title;
			element.setAttribute("aria-label", title);
			element.addEventListener("click", act);
			return element;
		};
		this.search = make("input", tools);
		this.search.type = "search";
		this.search.placeholder = "Search by name";
		this.search.setAttribute("aria-label", "Search events by name");
		this.search.addEventListener("input", () => this.selection.find(this.search.value));
		this.search.autocomplete = "off";
		this.search.addEventListener("keydown", (event) => event.key === "Enter" && this.selection.hit(event.shiftKey ? -1 : 1));
		button("‹", "Previous match (N)", () => this.selection.hit(-1));
		button("›", "Next match (n)", () => this.selection.hit(1));
		this.status = make("span", tools);
		this.status.setAttribute("role", "status");
		button("+", "Zoom in (W)", () => this.zooming.zoom(.5));
		button("−", "Zoom out (S)", () => this.zooming.zoom(2));
		button("◂", "Pan left (A)", () => this.zooming.pan(-.3));
		button("▸", "Pan right (D)", () => this.zooming.pan(.3));
		button("Fit", "Show the whole time (0)", () => this.show(...this.whole));
		button("Save .json", "Save the selected or visible time for Perfetto or Chrome", () => this.save());
		this.filter = make("input", tools);
		this.filter.type = "search";
		this.filter.className = "filter";
		this.filter.placeholder = "Filter rows";
		this.filter.setAttribute("aria-label", "Filter rows by name");
		this.filter.addEventListener("input", () => this.resize());
		const groups = button("Fold", "Fold or unfold all processes", () => {
			const heads = this.layout.filter((line) => line.isGroup && !line.level), isOpen = !heads.some((line) => line.isOpen);
			heads.forEach((line) => {
				line.isOpen = isOpen;
			});
			this.resize();
		});
		groups.hidden = this.layout.filter((line) => line.isGroup && !line.level).length < 2;
		const help = button("?", "All keys (?)", () => this.toggleKeys());
		help.setAttribute("aria-expanded", "false");
		this.help = help;
	}

	buildKeys(section) {
		this.keys = make("div", make("div", section, null, "keys-place"), null, "keys");
		this.keys.hidden = true;
		for (const [keys, action] of Zoom.help) {
			const line = make("span", this.keys);
			keys.forEach((key) => make("kbd", line, key));
			line.append(" " + action);
		}
	}

	toggleKeys() {
		this.keys.hidden = !this.keys.hidden;
		this.help.setAttribute("aria-expanded", String(!this.keys.hidden));
	}

	buildLabel(line) {
		const canOpen = line.isGroup || line.depths > 1, box = line.label = make("div", this.inner, null, line.isGroup ? "label group" : "label");
		line.name = make(canOpen ? "button" : "span", box, line.title);
		line.name.title = this.nameOf(line);
		if (canOpen) {
			line.name.addEventListener("click", () => {
				line.isOpen = !line.isOpen;
				this.resize();
			});
		}
		if (!line.isGroup) {
			line.pin = make("button", box, "☆", "pin");
			line.pin.title = "Pin to the top (P)";
			line.pin.setAttribute("aria-label", "Pin " + line.title);
			line.pin.addEventListener("click", () => this.pin(line));
		}
	}

	describe(process, track) {
		const row = tools.rowsOf("processes")[process - 1];
		const parts = row ? [row.rank === null ? "" : "rank " + row.rank, row.host === "?" ? "" : row.host, "pid " + row.pid] : [track.label];
		const short = row ? (row.rank === null ? "pid " + row.pid : "rank " + row.rank) : track.name;
		const {pid} = row || this.data.facts[process - 1] || {pid: null};
		return {pid, title: [track.name, ...parts].filter((part) => part && part !== "?").join(", "), short};
	}

	buildLegend(section, all) {
		const legend = make("div", section, null, "legend");
		this.fillLegend(legend, all);
		return legend;
	}

	fillLegend(legend, all) {
		const seen = new Set();
		legend.replaceChildren();
		for (const data of all) {
			data.sets.forEach((set) => seen.add(kindOf(data.categories[set[0]])[1]));
		}
		for (const [, title, color] of kinds) {
			if (seen.delete(title)) {
				const item = make("span", legend);
				make("i", item).style.background = color;
				item.append(title);
			}
		}
	}

	/* ---- more data ---- */

	/* Lets `act` change the slices of rows, and shows them. What is selected stays so. */
	change(act) {
		const held = this.selection.hold();
		act(this.data);
		addNames(this.data);
		this.tip.hide();
		this.fillLegend(this.legend, [this.data]);
		this.showNote();
		if (this.addLines()) {
			this.resize();
		}
		this.selection.regain(held);
		this.address.select();
		this.redraw();
	}

	/* Lines for tracks and rows that came later. Returns whether there are any. */
	addLines() {
		const {data, layout, lines} = this, known = layout.filter((line) => line.track), nrRows = known.reduce((sum, line) => sum + line.depths, 0);
		for (const line of known) {
			line.depths = line.track.rows.length;
		}
		for (const track of data.tracks.filter((each) => each.rows.length && !lines.has(each.i))) {
			const beside = known.filter((line) => line.track.process === track.process).sort((a, b) => (b.track.parent === track.parent) - (a.track.parent === track.parent) ||
				track.name.startsWith(b.track.name) - track.name.startsWith(a.track.name))[0];
			const line = {...beside, id: layout.length, title: track.name, track, depths: track.rows.length, isOpen: true, wasOpen: true, isPinned: false};
			layout.splice(layout.indexOf(beside) + 1, 0, line);
			lines.set(track.i, line);
			this.buildLabel(line);
		}
		return layout.filter((line) => line.track).reduce((sum, line) => sum + line.depths, 0) !== nrRows;
	}

	/* ---- time to pixels ---- */

	/* The time that "Fit" shows. */
	get whole() {
		return [this.data.first, this.data.last];
	}

	/* The steps, in their whole: programs load and prepare for long before the first one. The last step of a recording has no end, but the picture draws one. */
	get opening() {
		const {data, whole} = this, endless = new Set(tools.rowsOf("steps").filter((row) => row.duration_ns === null).map((row) => "step " + row.step));
		let from = Infinity, to = -Infinity;
		for (const row of data.rows) {
			for (let i = 0; i < row.nr; i++) {
				const name = data.strings[row.name[i]];
				if (/^step \d/.test(name) && timelineData.categoryOf(data, row, i) === "step") {
					from = Math.min(from, row.begin[i]);
					to = Math.max(to, endless.has(name) && row.end[i] >= whole[1] ? row.begin[i] : row.end[i]);
				}
			}
		}
		const span = to - from;
		return span > 0 && span < .95 * (whole[1] - whole[0]) ? [Math.max(whole[0], from - .02 * span), Math.min(whole[1], to + .02 * span)] : whole;
	}

	/* Do the keys of the page go to this view? */
	get isActive() {
		return true;
	}

	get scale() {
		return this.width / (this.to - this.from);
	}

	show(from, to) {
		const {first, last} = this.data, span = Math.min(Math.max(to - from, 20), (last - first) * 1.1);
		const middle = (from + to) / 2, begin = Math.min(Math.max(middle - span / 2, first - span * .05), last + span * .05 - span);
		/* As in the address, so that it opens the same picture. */
		this.from = Number(begin.toFixed(3));
		this.to = Number((begin + span).toFixed(3));
		this.redraw();
	}

	/* ---- rows ---- */

	/* The line of a row of slices. */
	lineOf(row) {
		return this.lines.get(row.track);
	}

	/* The name of a line beside those of other processes. */
	nameOf(line) {
		const isOne = this.layout.filter((each) => !each.level).length < 2;
		return isOne || !line.path.length ? line.title : line.path[0].short + " " + line.title;
	}

	/* The top of a line on the canvas. */
	topOf(line) {
		return line.y - (line.isPinned && this.stuckHeight ? 0 : this.scroll.scrollTop);
	}

	/* Pins a line to the top, or puts it back. */
	pin(line) {
		line.isPinned = !line.isPinned;
		this.resize();
	}

	/* Shows the row at that depth of a line, however it is folded or filtered. */
	uncover(line, depth) {
		line.isQuiet = false;
		if (!line.isShown || (!line.isOpen && (depth + 1) * ROW + GAP > line.height)) {
			this.filter.value = line.isShown ? this.filter.value : "";
			for (const each of [...line.path, line]) {
				each.isOpen = true;
			}
			this.resize();
		}
	}

	placeLabels() {
		for (const line of this.layout) {
			const {label, pin, isPinned} = line, home = isPinned && this.stuckHeight ? this.stuck : this.inner;
			label.hidden = !line.isShown;
			label.style.top = line.y + "px";
			label.style.paddingLeft = (line.isGroup ? .3 : .1) + .7 * line.level + "rem";
			if (line.isGroup || line.depths > 1) {
				line.name.setAttribute("aria-expanded", String(line.isOpen));
			}
			line.name.textContent = isPinned ? this.nameOf(line) : line.title;
			if (pin) {
				pin.textContent = isPinned ? "★" : "☆";
				pin.setAttribute("aria-pressed", String(isPinned));
			}
			if (label.parentElement !== home) {
				home.append(label);
			}
		}
	}

	/* ---- size ---- */

	get below() {
		return this.selection.isMeasuring ? BELOW_MEASURE : BELOW;
	}

	boxHeight() {
		const top = this.box.getBoundingClientRect().top + scrollY;
		return Math.max(260, Math.round(innerHeight * .45), Math.round(innerHeight - top - this.below));
	}

	resize() {
		const {pinnedHeight, height} = place(this.layout, this.filter.value), ratio = window.devicePixelRatio || 1, bounds = this.scroll.clientWidth;
		this.inner.style.height = height + "px";
		this.box.style.height = this.boxHeight() + "px";
		this.gutter = Math.min(GUTTER, Math.max(90, Math.round(bounds * .3)));
		this.box.style.setProperty("--gutter", this.gutter + "px");
		this.bounds = bounds;
		this.width = Math.max(100, bounds - this.gutter);
		this.height = this.scroll.clientHeight;
		this.tip.hide();
		/* Pinned rows stay at the top while others scroll, unless they would hide them. */
		this.stuckHeight = pinnedHeight < this.height * .7 ? pinnedHeight : 0;
		this.stuck.style.height = this.stuckHeight + "px";
		this.stuck.style.marginBottom = -this.stuckHeight + "px";
		for (const [canvas, nr] of [[this.canvas, this.height], [this.axis, this.axis.clientHeight]]) {
			canvas.width = Math.round(bounds * ratio);
			canvas.height = Math.round(nr * ratio);
			canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
		}
		this.canvas.style.width = bounds + "px";
		this.canvas.style.height = this.height + "px";
		/* Labels lie on top of the canvas: it must take no room between them. */
		this.canvas.style.marginBottom = -this.height + "px";
		this.placeLabels();
		this.drawNow();
	}

	/* Draws in other colours, like a chart. */
	update() {
		this.drawNow();
	}

	redraw() {
		this.frame = this.frame || requestAnimationFrame(() => this.drawNow());
	}

	drawNow() {
		const begin = performance.now();
		cancelAnimationFrame(this.frame);
		this.frame = 0;
		this.picture.draw();
		this.writeCommand();
		this.canvas.setAttribute("aria-label", "Timeline from " + one(Math.max(0, Math.round(this.from)), "time") + " to " + one(Math.round(this.to), "time"));
		this.box.dataset.drawMs = (performance.now() - begin).toFixed(2);
		this.address.update();
		this.asker.update();
	}

	/* ---- saving ---- */

	get chosenTime() {
		return (this.range || [this.from, this.to]).map((ns) => Math.max(0, Math.round(ns)));
	}

	writeCommand() {
		const [from, to] = this.chosenTime;
		this.command.textContent = "gprof-report timeline --time " + from + "ns-" + Math.max(to, from + 1) + "ns -o selection.pftrace" + tools.paths.map((path) => " " + path).join("");
	}

	save() {
		const data = this.data, isAll = !this.range && this.from <= data.first && this.to >= data.last;
		const [from, to] = isAll ? [data.first, data.last + 1] : this.chosenTime;
		const counters = this.layout.filter((line) => line.counter).map((line) => ({...line.counter, process: line.path[0].process}));
		const pids = tools.rowsOf("processes").map((row) => row.pid);
		/* In containers processes have the same PID: as `gprof-report timeline` numbers them. */
		const pidOf = (process) => (pids[process - 1] || 0) + (pids.indexOf(pids[process - 1]) < process - 1 || !pids[process - 1] ? PIDS_APART * process : 0);
		const url = URL.createObjectURL(new Blob([timelineJsonOf(data, from, to, counters, pidOf)], {type: "application/json"}));
		const link = make("a");
		link.href = url;
		link.download = "selection.json";
		link.click();
		setTimeout(() => URL.revokeObjectURL(url), 60000);
	}

	/* ---- events ---- */

	listen() {
		this.scroll.addEventListener("scroll", () => this.redraw());
		this.observer = new ResizeObserver(() => {
			if (this.scroll.clientWidth !== this.bounds || this.scroll.clientHeight !== this.height) {
				this.resize();
			}
		});
		this.observer.observe(this.scroll);
		this.onResize = () => this.resize();
		addEventListener("resize", this.onResize);
	}

	destroy() {
		this.observer.disconnect();
		removeEventListener("resize", this.onResize);
		cancelAnimationFrame(this.frame);
		this.zooming.destroy();
		this.address.destroy();
		this.asker.destroy();
	}
}

/* ---- the page ---- */

/* Zooms to a step of a process and selects it; no search dims the others. */
function showStep(view, key, step) {
	/* The data have processes in the order of that table. */
	const process = tools.rowsOf("processes").findIndex((row) => tools.keyOf(row) === key) + 1, {data} = view;
	for (const row of data.rows.filter((each) => data.tracks[each.track].process === process)) {
		for (let i = 0; i < row.nr; i++) {
			if (timelineData.categoryOf(data, row, i) === "step" && data.strings[row.name[i]] === "step " + step) {
				view.selection.select([row, i]);
				view.selection.reveal();
				view.selection.focusOn();
				return;
			}
		}
	}
}

/* Follows the address: #timeline/find/NAME, #timeline/step/PROCESS/STEP, or #timeline/view/... of timeline_address.js. */
function follow(view) {
	const [, what, ...parts] = tools.partsOfHash();
	if (what === "view") {
		view.address.read(parts);
	} else if (what === "step") {
		showStep(view, ...parts);
	} else if (what === "find") {
		view.search.value = '"' + parts[0] + '"';
		view.selection.find(view.search.value);
		view.selection.hit(1);
	} else {
		view.show(...view.opening);
	}
	view.address.begin();
}

/* Draws the timeline into the open page; the promise resolves when that is done. */
async function draw(parent) {
	const status = make("p", parent, "Unpacking …", "note");
	if (!packed || !canUnpack) {
		status.textContent = packed ? "This browser cannot decompress the timeline (no DecompressionStream). gprof-report timeline writes one for Perfetto."
			: "No timeline: the recording has no events to draw, or the page was written with --timeline-size 0.";
		return;
	}
	const data = await dataOf();
	if (!status.isConnected) {
		return; /* the user opened another page meanwhile */
	}
	status.remove();
	const view = new View(parent, data);
	tools.shown.push(view);
	follow(view);
}

/* The address of slices by their name ("find", NAME), or of a step's span ("step", PID, STEP); null where there is no timeline. */
function hashOf(...parts) {
	return packed && parts.every((part) => part !== "") ? tools.hashOf("timeline", ...parts) : null;
}

return {draw, hashOf, View, dataOf, canUnpack, isEmpty: !packed};
};
