/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Zooms and pans the timeline, and selects in it, with keys, wheel and pointers.
 */
"use strict";

const timelineZoom = (() => {
const {longest, atLeast, firstFrom, openIn} = timelineData;
const {ROW, GAP, WIDE} = timelineRows;

/* For people: [keys, what they do]. */
const help = [[["W", "S", "+", "−", "Ctrl+wheel"], "zoom at the pointer"], [["A", "D", "←", "→", "drag", "Shift+wheel"], "pan"], [["↑", "↓", "wheel"], "scroll the rows"],
	[[".", ","], "next, previous event"], [["]", "["], "next, previous row"], [["/"], "search"], [["n", "N"], "next, previous match"],
	[["F", "double-click"], "zoom to the selected time or event"], [["0"], "show the whole time"], [["P"], "pin the row under the pointer or of the selected event"],
	[["Shift+drag"], "measure a time"], [["Esc"], "clear the selection"], [["?"], "this list"]];

class Zoom {
	constructor(view) {
		const {canvas, axis, selection} = view;
		this.view = view;
		this.hover = null; /* the last event of a pointer over the rows */
		this.pointers = new Map();
		this.pressed = null; /* where a pointer went down, and the time in view then */
		this.onKey = (event) => this.key(event);
		document.addEventListener("keydown", this.onKey);
		view.inner.addEventListener("wheel", (event) => this.wheel(event), {passive: false});
		canvas.addEventListener("pointerdown", (event) => this.press(event));
		canvas.addEventListener("pointermove", (event) => this.move(event));
		for (const name of ["pointerup", "pointercancel"]) {
			canvas.addEventListener(name, (event) => this.release(event));
		}
		canvas.addEventListener("pointerleave", () => this.leave());
		canvas.addEventListener("dblclick", () => selection.focusOn());
		axis.addEventListener("pointerdown", (event) => this.press(event, true));
		axis.addEventListener("pointermove", (event) => this.move(event));
		axis.addEventListener("pointerup", (event) => this.release(event));
	}

	destroy() {
		document.removeEventListener("keydown", this.onKey);
	}

	leave() {
		this.hover = null;
		this.view.tip.hide();
	}

	/* A factor below 1 zooms in; `at` stays where it is. */
	zoom(factor, at = (this.view.from + this.view.to) / 2) {
		const {from, to} = this.view;
		this.view.tip.hide();
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

	zoomAtPointer(factor) {
		this.zoom(factor, this.hover ? this.timeAt(this.hover) : undefined);
	}

	/* Pins the row under the pointer, else that of the selected slice. */
	pin() {
		const found = this.hover ? this.lineAt(this.hover) : null, {slice} = this.view.selection;
		const line = found || (slice ? this.view.lineOf(slice[0]) : null);
		if (line && !line.isGroup) {
			this.view.pin(line);
		}
	}

	clear() {
		const {view} = this;
		if (!view.keys.hidden) {
			view.toggleKeys();
			return;
		}
		view.range = null;
		view.selection.select(null);
	}

	/* Keys of the whole page while the timeline is open, but not those for fields. */
	key(event) {
		const {view} = this, {selection, scroll} = view;
		const acts = {
			w: () => this.zoomAtPointer(.7), "+": () => this.zoomAtPointer(.7), "=": () => this.zoomAtPointer(.7), s: () => this.zoomAtPointer(1 / .7), "-": () => this.zoomAtPointer(1 / .7),
			ArrowUp: () => scroll.scrollBy(0, -3 * ROW), ArrowDown: () => scroll.scrollBy(0, 3 * ROW), p: () => this.pin(),
			a: () => this.pan(-.15), d: () => this.pan(.15), ArrowLeft: () => this.pan(-.15), ArrowRight: () => this.pan(.15),
			".": () => selection.step(1, 0), ",": () => selection.step(-1, 0), "]": () => selection.step(0, 1), "[": () => selection.step(0, -1),
			n: () => selection.hit(1), N: () => selection.hit(-1), f: () => selection.focusOn(), 0: () => view.show(...view.whole),
			"/": () => view.search.focus(), "?": () => view.toggleKeys(),
			Escape: () => this.clear(),
		};
		/* Capital letters do the same, but for N. */
		const act = acts[event.key] || acts[event.key.toLowerCase()];
		if (act && view.isActive && !event.ctrlKey && !event.metaKey && !event.altKey && !event.defaultPrevented && !event.target.closest("input, textarea, select")) {
			event.preventDefault();
			act();
		}
	}

	/* With Ctrl it zooms, as pinching on a touchpad does; sideways or with Shift it pans; else the browser scrolls the rows. */
	wheel(event) {
		const unit = event.deltaMode === 1 ? 16 : 1, sideways = event.shiftKey ? event.deltaX || event.deltaY : Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : 0;
		this.view.tip.hide();
		if (event.ctrlKey || event.metaKey) {
			event.preventDefault();
			this.zoom(2 ** (event.deltaY * unit / 240), this.timeAt(event));
		} else if (sideways) {
			event.preventDefault();
			this.pan(sideways * unit / this.view.width);
		}
	}

	press(event, isRange = event.shiftKey) {
		const {canvas, scroll, from, to} = this.view;
		event.currentTarget.setPointerCapture(event.pointerId);
		this.view.tip.hide();
		this.pointers.set(event.pointerId, event);
		this.pressed = {x: event.clientX, y: event.clientY, from, to, top: scroll.scrollTop, ns: this.timeAt(event), isRange, isMoved: false};
		if (event.currentTarget === canvas) {
			document.activeElement.blur(); /* keys are those of the timeline again */
		}
	}

	move(event) {
		const {view, pressed} = this;
		if (!pressed || !this.pointers.has(event.pointerId)) {
			this.point(event);
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
			view.range = [this.timeAt(event), pressed.ns].sort((a, b) => a - b).map((ns) => Math.round(ns));
			view.redraw();
			return;
		}
		const step = (pressed.x - event.clientX) / view.width * (pressed.to - pressed.from);
		view.scroll.scrollTop = pressed.top + pressed.y - event.clientY;
		view.show(pressed.from + step, pressed.to + step);
	}

	/* A pointer that hovers: a finger does not. */
	point(event) {
		if (event.pointerType !== "touch" && event.currentTarget === this.view.canvas) {
			this.hover = event;
			this.view.tip.show(event, this.pick(event));
		}
	}

	release(event) {
		const {view, pressed} = this;
		this.pointers.delete(event.pointerId);
		if (pressed && pressed.isMoved && pressed.isRange && view.range) {
			view.selection.select(null); /* shows what is in the time */
		}
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

	/* The line at the pointer's height. */
	lineAt(event) {
		const {canvas, layout, stuckHeight} = this.view, y = event.clientY - canvas.getBoundingClientRect().top;
		return layout.find((line) => {
			const top = this.view.topOf(line);
			return line.isShown && y >= top && y < top + line.height && (!stuckHeight || line.isPinned === y < stuckHeight);
		});
	}

	/* The slice, bucket or counter under the pointer, with its line. */
	pick(event) {
		const {canvas, scale, gutter} = this.view;
		const bounds = canvas.getBoundingClientRect(), line = this.lineAt(event), ns = this.timeAt(event), wide = 2 / scale;
		if (!line || event.clientX - bounds.left < gutter) {
			return null;
		}
		if (line.counter) {
			return {line, counter: line.counter, ns};
		}
		const depth = Math.floor((event.clientY - bounds.top - this.view.topOf(line)) / ROW), row = line.track && line.track.rows[depth];
		if (!row || depth >= Math.round((line.height - GAP) / ROW)) {
			return null;
		}
		const i = atLeast(row.end, ns - wide), j = atLeast(row.begin, ns + wide);
		if (i < j) {
			const exact = firstFrom(row, ns);
			return {line, row, slice: [row, exact < j && row.begin[exact] <= ns && (row.end[exact] - row.begin[exact]) * scale >= WIDE ? exact : longest(row, i, j)]};
		}
		const {data} = this.view, isOpen = openIn(data, data.tracks[row.track].process, ns - wide, ns + wide) > 0;
		const at = Math.floor(ns / row.bucketWidth), bucket = isOpen && row.buckets.find((each) => each.at === at);
		return bucket ? {line, row, bucket} : null;
	}
}

Zoom.help = help;
return Zoom;
})();
