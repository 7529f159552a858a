/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page's timeline: its elements and buttons, the time in view, and saving a part. timeline_draw.js draws rows of slices
 * on a canvas, timeline_zoom.js zooms and pans. Names from the target are drawn or set as text, never as markup.
 */
"use strict";

const timelineOf = (tools) => {
const {make, one} = tools;
const {kinds, kindOf, addNames, layoutOf, place} = timelineRows;
const Picture = timelinePictureOf(tools), Selection = timelineSelectionOf(tools), Zoom = timelineZoom;
const packed = document.getElementById("timeline").textContent;
const GUTTER = 208; /* width of the names of rows; less in a narrow window */
let loading = null;

/* The data, unpacked on first use. */
function dataOf() {
	loading = loading || timelineData.load(packed).then((data) => {
		addNames(data);
		return data;
	});
	return loading;
}

/* ---- the view ---- */

class View {
	constructor(parent, data) {
		this.data = data;
		this.layout = layoutOf(data);
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
		this.buildLabels();
		const details = make("div", section);
		details.setAttribute("aria-live", "polite");
		this.selection = new Selection(this, this.status, details);
		this.buildLegend(section);
		make("p", section, this.note(), "note");
		this.zooming = new Zoom(this);
		this.listen();
	}

	note() {
		const {all, nr, dropped, longest_dropped_ns, bucket_shift} = this.data;
		return !dropped ? "All " + all.toLocaleString("en-US") + " events are drawn one by one."
			: "The " + nr.toLocaleString("en-US") + " longest of " + all.toLocaleString("en-US") + " events are drawn one by one. The others, up to " +
				one(longest_dropped_ns, "time") + " long, are merged into bins of " + one(2 ** bucket_shift, "time") +
				", drawn paler and as high as their share of the bin. For more detail, write the page with --steps, --window or a larger --timeline-size.";
	}

	buildTools(section) {
		const tools = make("div", section, null, "tools");
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
		this.search.addEventListener("keydown", (event) => event.key === "Enter" && this.selection.hit(event.shiftKey ? -1 : 1));
		button("‹", "Previous match (N)", () => this.selection.hit(-1));
		button("›", "Next match (n)", () => this.selection.hit(1));
		this.status = make("span", tools);
		this.status.setAttribute("role", "status");
		button("+", "Zoom in (W)", () => this.zooming.zoom(.5));
		button("−", "Zoom out (S)", () => this.zooming.zoom(2));
		button("◂", "Pan left (A)", () => this.zooming.pan(-.3));
		button("▸", "Pan right (D)", () => this.zooming.pan(.3));
		button("Fit", "Show the whole time (0)", () => this.show(this.data.first, this.data.last));
		button("Save .pftrace", "Save the selected or visible time as a Perfetto trace", () => this.save());
		this.keys = make("p", section, null, "keys");
		this.keys.hidden = true;
		for (const [keys, action] of Zoom.help) {
			const line = make("span", this.keys);
			keys.forEach((key) => make("kbd", line, key));
			line.append(" " + action);
		}
		const help = button("?", "All keys (?)", () => this.toggleKeys());
		help.setAttribute("aria-expanded", "false");
		this.help = help;
		const command = make("span", section, null, "tools");
		this.command = make("code", command);
		this.command.title = "Writes all events of this time; DUMP is the recording that this page was made of";
	}

	toggleKeys() {
		this.keys.hidden = !this.keys.hidden;
		this.help.setAttribute("aria-expanded", String(!this.keys.hidden));
	}

	buildLabels() {
		for (const line of this.layout) {
			const track = line.track, canOpen = line.depths > 1;
			const name = track.kind === "process" ? [track.name, this.whoIs(track)].filter(Boolean).join(", ") : track.name;
			line.label = make(line.isHead && !line.depths ? "b" : canOpen ? "button" : "span", this.inner, name);
			line.label.title = name;
			if (canOpen) {
				line.label.setAttribute("aria-expanded", String(line.isOpen));
				line.label.addEventListener("click", () => {
					line.isOpen = !line.isOpen;
					line.label.setAttribute("aria-expanded", String(line.isOpen));
					this.resize();
				});
			}
		}
	}

	whoIs(track) {
		const row = tools.rowsOf("processes")[track.process - 1];
		return row ? [row.rank === null ? "" : "rank " + row.rank, row.host === "?" ? "" : row.host, "pid " + row.pid].filter(Boolean).join(", ") : track.label;
	}

	buildLegend(section) {
		const legend = make("div", section, null, "legend"), seen = new Set();
		for (const set of this.data.sets) {
			seen.add(kindOf(this.data.categories[set[0]])[1]);
		}
		for (const [, title, color] of kinds) {
			if (seen.delete(title)) {
				const item = make("span", legend);
				make("i", item).style.background = color;
				item.append(title);
			}
		}
	}

	/* ---- time to pixels ---- */

	get scale() {
		return this.width / (this.to - this.from);
	}

	show(from, to) {
		const {first, last} = this.data, span = Math.min(Math.max(to - from, 20), (last - first) * 1.1);
		const middle = (from + to) / 2, begin = Math.min(Math.max(middle - span / 2, first - span * .05), last + span * .05 - span);
		this.from = begin;
		this.to = begin + span;
		this.redraw();
	}

	resize() {
		const height = place(this.layout), ratio = window.devicePixelRatio || 1, bounds = this.scroll.clientWidth;
		this.inner.style.height = height + "px";
		this.box.style.height = Math.max(160, Math.min(height + 40, Math.max(352, innerHeight - 384))) + "px";
		this.gutter = Math.min(GUTTER, Math.max(90, Math.round(bounds * .3)));
		this.box.style.setProperty("--gutter", this.gutter + "px");
		this.bounds = bounds;
		this.width = Math.max(100, bounds - this.gutter);
		this.height = this.scroll.clientHeight;
		for (const [canvas, nr] of [[this.canvas, this.height], [this.axis, this.axis.clientHeight]]) {
			canvas.width = Math.round(bounds * ratio);
			canvas.height = Math.round(nr * ratio);
			canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
		}
		this.canvas.style.width = bounds + "px";
		this.canvas.style.height = this.height + "px";
		/* Labels lie on top of the canvas: it must take no room between them. */
		this.canvas.style.marginBottom = -this.height + "px";
		for (const line of this.layout) {
			line.label.style.top = line.y + "px";
			line.label.style.paddingLeft = line.isHead ? "" : (.4 + .7 * line.level) + "rem";
		}
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
		this.command.textContent = this.commandText();
		this.canvas.setAttribute("aria-label", "Timeline from " + one(Math.max(0, Math.round(this.from)), "time") + " to " + one(Math.round(this.to), "time"));
		this.box.dataset.drawMs = (performance.now() - begin).toFixed(2);
	}

	/* ---- saving ---- */

	get chosen() {
		return (this.range || [this.from, this.to]).map((ns) => Math.max(0, Math.round(ns)));
	}

	commandText() {
		const [from, to] = this.chosen;
		return "gprof-report timeline --time " + from + "ns-" + Math.max(to, from + 1) + "ns -o selection.pftrace DUMP";
	}

	save() {
		const data = this.data, isAll = !this.range && this.from <= data.first && this.to >= data.last;
		const [from, to] = isAll ? [data.first, data.last + 1] : this.chosen;
		const url = URL.createObjectURL(new Blob([timelineTraceOf(data, from, to)], {type: "application/octet-stream"}));
		const link = make("a");
		link.href = url;
		link.download = "selection.pftrace";
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
	}

	destroy() {
		this.observer.disconnect();
		cancelAnimationFrame(this.frame);
	}
}

/* ---- the page ---- */

/* Follows the address: #timeline/find/NAME, or #timeline/step/PROCESS/STEP. */
function follow(view) {
	const [, what, first, second] = tools.partsOfHash();
	/* The data have processes in the order of that table. */
	const at = what === "step" ? tools.rowsOf("processes").findIndex((row) => tools.keyOf(row) === first) : -1;
	if (what !== "step" && what !== "find") {
		return;
	}
	view.search.value = what === "step" ? "step " + second : first;
	view.selection.find(view.search.value, true, at + 1);
	if (view.selection.hits.length) {
		view.selection.hit(1);
	}
	if (view.selection.hits.length && what === "step") {
		view.selection.focusOn();
	}
}

/* Draws the timeline into the open page; the promise resolves when that is done. */
async function draw(parent) {
	const status = make("p", parent, "Unpacking …", "note");
	if (!packed || typeof DecompressionStream !== "function") {
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

return {draw, hashOf, isEmpty: !packed};
};
