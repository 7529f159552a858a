/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is under the pointer: a box beside it, which never covers the row, and what is known of a slice beside its own
 * arguments. Names from the target are set as text, never as markup.
 */
"use strict";

const timelineTipOf = (tools) => {
const {make, one} = tools;
const {lengthOf, isInstant, isOnGpu, argsOf, selfTime, launchDelay, originOf} = timelineData;
const {ROW, COUNTER, kindAt} = timelineRows;
const {valueAt, textOf} = timelineCountersOf(tools);
const APART = 6; /* pixels between the row and the box */

/* [name, text] of what follows from other slices: self time, launch delay, operator, Python line. */
function factsOf(data, row, i) {
	const facts = [], {operator, line} = originOf(data, row, i), self = isOnGpu(data, row, i) || isInstant(data, row, i) ? null : selfTime(data, row, i);
	const delay = launchDelay(data, row, i);
	if (self !== null) {
		facts.push(["Self time", one(self, "time")]);
	}
	if (delay !== null) {
		facts.push(["Launch delay", one(delay, "time")]);
	}
	if (operator !== null) {
		facts.push(["Operator", operator]);
	}
	if (line !== null) {
		facts.push(["Python line", line]);
	}
	return facts;
}

class Tip {
	constructor(view, parent) {
		this.view = view;
		this.box = make("div", parent, null, "tip");
		this.box.hidden = true;
		this.box.setAttribute("aria-hidden", "true"); /* the details say the same, and more */
		this.shown = null; /* what the box is about, as text */
	}

	hide() {
		this.view.hovered(null);
		this.box.hidden = true;
		this.shown = null;
	}

	/* found: of Zoom.pick. Filled only where it changes, as the pointer moves a lot. */
	show(event, found) {
		const about = found && (found.slice ? "slice " + found.slice[0].i + " " + found.slice[1] : found.bucket ? "bucket " + found.row.i + " " + found.bucket.at : null);
		if (!found) {
			this.hide();
			return;
		}
		if (about === null || about !== this.shown) {
			this.fill(found);
			this.shown = about;
		}
		this.box.hidden = false;
		this.view.hovered(found.slice || null);
		this.place(event, found);
	}

	/* Below the row, or above it where there is more room; within the window. */
	place(event, {line, row}) {
		const bounds = this.view.canvas.getBoundingClientRect(), {width, height} = this.box.getBoundingClientRect();
		const top = bounds.top + this.view.topOf(line) + (row ? Math.min(row.depth * ROW, line.height) : 0);
		const below = top + (line.counter ? COUNTER : ROW) + APART, above = top - height - APART;
		const isBelow = below + height <= innerHeight || above < 0;
		this.box.style.left = Math.max(4, Math.min(event.clientX + 12, innerWidth - width - 4)) + "px";
		this.box.style.top = (isBelow ? Math.max(below, event.clientY + APART) : Math.min(above, event.clientY - height - APART)) + "px";
	}

	fill(found) {
		const {data} = this.view;
		this.box.replaceChildren();
		const title = make("b", this.box), list = make("dl", this.box);
		const add = (name, text) => {
			make("dt", list, name);
			make("dd", list, text);
		};
		if (found.counter) {
			title.textContent = found.counter.title;
			add("Value", textOf(found.counter, valueAt(found.counter.curve(), found.ns)));
		} else if (found.bucket) {
			title.textContent = found.bucket.nr.toLocaleString("en-US") + " merged " + (found.bucket.nr === 1 ? "event" : "events");
			add("Longest", one(found.bucket.longest, "time"));
			add("Its name", tools.short(data.strings[found.bucket.name], 90));
			add("Busy", (100 * found.bucket.busy / found.row.bucketWidth).toFixed(1) + " %");
		} else {
			this.fillSlice(title, add, ...found.slice);
		}
	}

	fillSlice(title, add, row, i) {
		const {data} = this.view, own = new Map(argsOf(data, row, i)), isCall = !isInstant(data, row, i);
		make("i", title).style.background = kindAt(data, row, i)[2];
		title.append(tools.short(data.strings[row.name[i]], 120));
		add("Duration", isCall ? one(lengthOf(row, i), "time") : "instant");
		for (const [name, text] of factsOf(data, row, i)) {
			add(name, tools.short(text, 90));
		}
		if (own.get("grid")) {
			add("Grid, block", own.get("grid") + ", " + own.get("block"));
		}
		if (own.has("stream")) {
			add("Stream", String(own.get("stream")));
		}
		if (own.has("bytes")) {
			add("Size", one(own.get("bytes"), "size"));
		}
		for (const [name, text] of this.view.beside(row, i)) {
			add(name, tools.short(text, 90));
		}
	}
}

return {Tip, factsOf};
};
