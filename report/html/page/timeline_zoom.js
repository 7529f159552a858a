/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Zooms and pans the timeline, and selects in it, with keys, wheel and pointers.
 */
"use strict";

const timelineZoom = (() => {
const {longest, atLeast, firstFrom} = timelineData;
const {ROW, WIDE} = timelineRows;

/* For people: [keys, what they do]. */
const help = [[["W", "S", "+", "−"], "zoom"], [["A", "D", "←", "→"], "pan"], [[".", ","], "next, previous event"], [["]", "["], "next, previous row"],
	[["/"], "search"], [["n", "N"], "next, previous match"], [["F", "double-click"], "zoom to the selected event"], [["0"], "show the whole time"],
	[["Shift+drag"], "select a time"], [["Esc"], "clear the selection"]];

class Zoom {
	constructor(view) {
		const {scroll, canvas, axis, selection} = view;
		this.view = view;
		this.pointers = new Map();
		this.pressed = null; /* where a pointer went down, and the time in view then */
		scroll.addEventListener("keydown", (event) => this.key(event));
		view.inner.addEventListener("wheel", (event) => this.wheel(event), {passive: false});
		canvas.addEventListener("pointerdown", (event) => this.press(event));
		canvas.addEventListener("pointermove", (event) => this.move(event));
		for (const name of ["pointerup", "pointercancel"]) {
			canvas.addEventListener(name, (event) => this.release(event));
		}
		canvas.addEventListener("dblclick", () => selection.slice && selection.focusOn());
		axis.addEventListener("pointerdown", (event) => this.press(event, true));
		axis.addEventListener("pointermove", (event) => this.move(event));
		axis.addEventListener("pointerup", (event) => this.release(event));
	}

	/* A factor below 1 zooms in; `at` stays where it is. */
	zoom(factor, at = (this.view.from + this.view.to) / 2) {
		const {from, to} = this.view;
		this.view.show(at - (at - from) * factor, at + (to - at) * factor);
	}

	/* share: of the time in view. */
	pan(share) {
		const {from, to} = this.view, step = (to - from) * share;
		this.view.show(from + step, to + step);
	}

	timeAt(event) {
		const {from, canvas, gutter, scale} = this.view;
		return from + (event.clientX - canvas.getBoundingClientRect().left - gutter) / scale;
	}

	key(event) {
		const {view} = this, {selection} = view;
		const acts = {
			w: () => this.zoom(.7), "+": () => this.zoom(.7), "=": () => this.zoom(.7), s: () => this.zoom(1 / .7), "-": () => this.zoom(1 / .7),
			a: () => this.pan(-.15), d: () => this.pan(.15), ArrowLeft: () => this.pan(-.15), ArrowRight: () => this.pan(.15),
			".": () => selection.step(1, 0), ",": () => selection.step(-1, 0), "]": () => selection.step(0, 1), "[": () => selection.step(0, -1),
			n: () => selection.hit(1), N: () => selection.hit(-1), f: () => selection.slice && selection.focusOn(), 0: () => view.show(view.data.first, view.data.last),
			"/": () => view.search.focus(), "?": () => view.toggleKeys(),
			Escape: () => {
				view.range = null;
				selection.select(null);
			},
		};
		if (!event.ctrlKey && !event.metaKey && !event.altKey && acts[event.key]) {
			event.preventDefault();
			acts[event.key]();
		}
	}

	wheel(event) {
		const unit = event.deltaMode === 1 ? 16 : 1, sideways = event.shiftKey ? event.deltaX || event.deltaY : Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : 0;
		event.preventDefault();
		if (sideways) {
			this.pan(sideways * unit / this.view.width);
		} else {
			this.zoom(2 ** (event.deltaY * unit / 240), this.timeAt(event));
		}
	}

	press(event, isRange = event.shiftKey) {
		const {canvas, scroll, from, to} = this.view;
		event.currentTarget.setPointerCapture(event.pointerId);
		this.pointers.set(event.pointerId, event);
		this.pressed = {x: event.clientX, y: event.clientY, from, to, top: scroll.scrollTop, ns: this.timeAt(event), isRange, isMoved: false};
		if (event.currentTarget === canvas) {
			scroll.focus({preventScroll: true});
		}
	}

	move(event) {
		const {view, pressed} = this;
		if (!pressed || !this.pointers.has(event.pointerId)) {
			return;
		}
		const before = [...this.pointers.values()];
		this.pointers.set(event.pointerId, event);
		if (before.length === 2) {
			const apart = ([a, b]) => Math.max(8, Math.abs(a.clientX - b.clientX));
			pressed.isMoved = true;
			this.zoom(apart(before) / apart([...this.pointers.values()]), (this.timeAt(before[0]) + this.timeAt(before[1])) / 2);
			return;
		}
		pressed.isMoved = pressed.isMoved || Math.abs(event.clientX - pressed.x) + Math.abs(event.clientY - pressed.y) > 3;
		if (!pressed.isMoved) {
			return;
		}
		if (pressed.isRange) {
			const ns = this.timeAt(event);
			view.range = [Math.min(ns, pressed.ns), Math.max(ns, pressed.ns)];
			view.redraw();
			return;
		}
		const step = (pressed.x - event.clientX) / view.width * (pressed.to - pressed.from);
		view.scroll.scrollTop = pressed.top + pressed.y - event.clientY;
		view.show(pressed.from + step, pressed.to + step);
	}

	release(event) {
		const {view, pressed} = this;
		this.pointers.delete(event.pointerId);
		if (!pressed || pressed.isMoved || event.type === "pointercancel") {
			this.pressed = this.pointers.size ? pressed : null;
			return;
		}
		this.pressed = null;
		const found = event.currentTarget === view.canvas ? this.pick(event) : null;
		view.range = null;
		view.selection.slice = found && found.slice ? found.slice : null;
		view.selection.showDetails(found && found.bucket, found && found.row);
		view.redraw();
	}

	/* The slice or bucket under the pointer. */
	pick(event) {
		const {canvas, scroll, layout, scale, gutter} = this.view;
		const bounds = canvas.getBoundingClientRect(), y = event.clientY - bounds.top + scroll.scrollTop;
		const line = layout.find((each) => y >= each.y && y < each.y + each.height), ns = this.timeAt(event), wide = 2 / scale;
		const row = line && line.track.rows[Math.floor((y - line.y) / ROW)];
		if (!row || event.clientX - bounds.left < gutter) {
			return null;
		}
		const i = atLeast(row.end, ns - wide), j = atLeast(row.begin, ns + wide);
		if (i < j) {
			const exact = firstFrom(row, ns);
			return {slice: [row, exact < j && row.begin[exact] <= ns && (row.end[exact] - row.begin[exact]) * scale >= WIDE ? exact : longest(row, i, j)]};
		}
		const at = Math.floor(ns / row.bucketWidth), bucket = row.buckets.find((each) => each.at === at);
		return bucket ? {bucket, row} : null;
	}
}

Zoom.help = help;
return Zoom;
})();
