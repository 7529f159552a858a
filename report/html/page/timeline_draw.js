/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws a view of the timeline. Slices that are narrower than a pixel become one column in the colour of the longest
 * one; the busier, the more opaque. The time for a frame depends on the width of the canvas, not on the number of slices.
 */
"use strict";

const timelinePictureOf = (tools) => {
const {longest, atLeast, firstFrom, isInstant} = timelineData;
const {valueAt, textOf} = timelineCountersOf(tools);
const {ROW, GAP, WIDE, COUNTER, kindOf, kindAt, shadesOf, timeText, tickOf} = timelineRows;

class Picture {
	constructor(view) {
		this.view = view;
		this.labels = []; /* names of the rows, cut to their room */
	}

	draw() {
		const {canvas, box, layout, width, height, gutter, stuckHeight} = this.view;
		const context = canvas.getContext("2d"), style = getComputedStyle(box), shown = layout.filter((line) => line.isShown);
		[this.ink, this.dim, this.lines] = ["--ink", "--dim", "--line"].map(tools.css);
		context.clearRect(0, 0, gutter + width, height);
		context.font = "11px " + style.fontFamily;
		context.textBaseline = "middle";
		this.drawAxis(context);
		this.within(context, stuckHeight, height, () => shown.filter((line) => !line.isPinned || !stuckHeight).forEach((line) => this.drawLine(context, line)));
		this.within(context, 0, stuckHeight, () => shown.filter((line) => line.isPinned).forEach((line) => this.drawLine(context, line)));
		if (stuckHeight) {
			context.fillStyle = this.ink;
			context.fillRect(0, stuckHeight - 1, gutter + width, 1);
		}
		this.within(context, 0, height, () => {
			this.drawRange(context);
			this.drawSelected(context);
			this.drawMarked(context);
		});
	}

	/* Draws only between two heights, right of the names. */
	within(context, top, bottom, draw) {
		const {gutter, width} = this.view;
		context.save();
		context.beginPath();
		context.rect(gutter, top, width, Math.max(0, bottom - top));
		context.clip();
		draw();
		context.restore();
	}

	drawLine(context, line) {
		const y = this.view.topOf(line);
		if (y + line.height < 0 || y > this.view.height) {
			return;
		}
		if (line.counter) {
			this.drawCounter(context, line.counter, y);
		}
		const nr = line.track ? Math.round((line.height - GAP) / ROW) : 0;
		for (let depth = 0; depth < nr; depth++) {
			this.drawMerged(context, line.track.rows[depth], y + depth * ROW);
			this.drawRow(context, line.track.rows[depth], y + depth * ROW);
		}
	}

	/* An area: in each column of pixels the largest value. */
	drawCounter(context, counter, y) {
		const {from, to, scale, width, gutter} = this.view, curve = counter.curve();
		let i = atLeast(curve.at, from), level = valueAt(curve, from) || 0;
		context.fillStyle = this.dim;
		context.globalAlpha = .55;
		for (let x = 0; x < width;) {
			const until = from + (x + 1) / scale;
			let most = level;
			for (; i < curve.at.length && curve.at[i] < until; i++) {
				level = curve.value[i];
				most = Math.max(most, level);
			}
			const next = i < curve.at.length && curve.at[i] < to ? Math.max(x + 1, Math.floor((curve.at[i] - from) * scale)) : width;
			/* What stays the same up to the next point becomes one rectangle. */
			const columns = [[x, x + 1, most], [x + 1, next, level]];
			for (const [begin, end, value] of columns) {
				const height = curve.most > 0 ? value / curve.most * COUNTER : 0;
				context.fillRect(gutter + begin, y + COUNTER - height, Math.max(0, end - begin), height);
			}
			x = next;
		}
		context.globalAlpha = 1;
		context.fillStyle = this.ink;
		context.fillText("at most " + textOf(counter, curve.most), gutter + 4, y + 7);
	}

	drawAxis(rows) {
		const {axis, box, layout, from, to, scale, width, gutter, origin} = this.view;
		const context = axis.getContext("2d"), height = axis.clientHeight, step = tickOf(to - from, width / 110);
		context.clearRect(0, 0, gutter + width, height);
		context.font = "11px " + getComputedStyle(box).fontFamily;
		context.textBaseline = "middle";
		context.fillStyle = this.dim;
		context.fillText(this.view.more.axis || "Time since the start", 6, height / 2, gutter - 12);
		/* A counted loop: in damaged streams times may be so large that adding a step changes nothing. */
		const first = Math.ceil((from - origin) / step) * step + origin, nr = Math.min(200, Math.floor((to - first) / step) + 1);
		for (let k = 0; k < nr; k++) {
			const ns = first + k * step, x = gutter + (ns - from) * scale;
			const text = timeText(ns - origin, step);
			context.fillStyle = this.dim;
			if (x + 4 + context.measureText(text).width < gutter + width) {
				context.fillText(text, x + 4, height / 2);
			}
			context.fillRect(x, height - 6, 1, 6);
			rows.fillStyle = this.lines;
			rows.fillRect(x, 0, 1, this.view.height);
		}
		for (const line of layout.filter((each) => each.isShown)) {
			rows.fillStyle = this.lines;
			rows.fillRect(0, this.view.topOf(line) - 2, line.isGroup ? gutter + width : gutter, 1);
		}
	}

	/* Neighbouring columns of the same colour and opacity become one rectangle. */
	strip(context, x, width, y, height, fill, alpha) {
		const run = this.run;
		if (run && run.fill === fill && run.alpha === alpha && run.y === y && run.height === height && run.x + run.width >= x - .01) {
			run.width = x + width - run.x;
			return;
		}
		this.flush(context);
		this.run = {x, width, y, height, fill, alpha};
	}

	flush(context) {
		const run = this.run;
		if (run) {
			context.globalAlpha = run.alpha;
			context.fillStyle = run.fill;
			context.fillRect(this.view.gutter + run.x, run.y, run.width, run.height);
			context.globalAlpha = 1;
			this.run = null;
		}
	}

	fillOf(row, i) {
		return shadesOf.get(kindAt(this.view.data, row, i)).fill[this.view.data.shades[row.name[i]]];
	}

	drawRow(context, row, y) {
		const {data, from, to, scale, width} = this.view;
		for (let i = firstFrom(row, from); i < row.nr && row.begin[i] < to;) {
			const x = (row.begin[i] - from) * scale, end = (row.end[i] - from) * scale;
			if (isInstant(data, row, i)) {
				this.flush(context);
				i = this.drawInstant(context, row, i, x, y);
				continue;
			}
			if (end - x >= WIDE) {
				this.flush(context);
				this.drawSlice(context, row, i, Math.max(x, -2), Math.min(end, width + 2), y);
				i++;
				continue;
			}
			const column = Math.floor(x), until = from + (column + 1) / scale;
			let next = Math.max(i + 1, atLeast(row.begin, until, i));
			if (next > i + 1 && (row.end[next - 1] - row.begin[next - 1]) * scale >= WIDE) {
				next--;
			}
			const most = longest(row, i, next), share = Math.min(1, (row.busy[next] - row.busy[i]) * scale);
			this.strip(context, column, 1, y, ROW - 2, this.fillOf(row, most), this.strength(row.name[most], share));
			i = next;
		}
		this.flush(context);
	}

	/* Does the search look for another name? */
	isFaded(name) {
		const {found} = this.view.selection;
		return found !== null && !found[name];
	}

	/* The opacity of a column: in steps, so that neighbours can be drawn at once. */
	strength(name, share) {
		return this.isFaded(name) ? .13 : [.45, .65, .85, 1][Math.min(3, Math.floor(share * 4))];
	}

	/* A pin; pins that would hide each other become one. Returns the place of the next slice. */
	drawInstant(context, row, i, x, y) {
		const until = row.begin[i] + 3 / this.view.scale;
		context.globalAlpha = this.isFaded(row.name[i]) ? .2 : 1;
		context.fillStyle = this.fillOf(row, i);
		context.fillRect(this.view.gutter + x, y, 1, ROW - 2);
		context.fillRect(this.view.gutter + x - 2, y, 5, 4);
		context.globalAlpha = 1;
		const next = Math.max(i + 1, atLeast(row.begin, until, i));
		return row.busy[next] === row.busy[i] ? next : i + 1;
	}

	drawSlice(context, row, i, x, end, y) {
		const kind = kindAt(this.view.data, row, i), name = row.name[i], width = end - x;
		context.globalAlpha = this.isFaded(name) ? .2 : 1;
		context.fillStyle = shadesOf.get(kind).fill[this.view.data.shades[name]];
		context.fillRect(this.view.gutter + x, y, width > 4 ? width - 1 : width, ROW - 2);
		if (width > 26) {
			const begin = Math.max(x, 0), room = Math.min(end, this.view.width) - begin - 8;
			context.fillStyle = shadesOf.get(kind).ink[this.view.data.shades[name]];
			context.fillText(this.fit(name, room), this.view.gutter + begin + 4, y + ROW / 2 - 1, Math.max(room, 1));
		}
		context.globalAlpha = 1;
	}

	/* The part of a name that fits; of a step, its number says all. */
	fit(name, room) {
		let label = this.labels[name] = this.labels[name] || tools.short(tools.shownName(this.view.data.strings[name]), 120);
		const nr = Math.floor(room / 6.1);
		if (label.length > nr && /^step \d+$/.test(label)) {
			label = label.slice(5);
			return label.length <= nr ? label : "";
		}
		return label.length <= nr ? label : nr < 4 ? "" : label.slice(0, nr - 1) + "…";
	}

	/* Sums of dropped slices, but not where all slices are there. */
	drawMerged(context, row, y) {
		const {data, from, to, scale, gutter} = this.view;
		if (!row.buckets.length) {
			return;
		}
		let begin = from;
		const spans = (data.covered.get(data.tracks[row.track].process) || []).filter((span) => span[1] > from && span[0] < to);
		for (const [next, after] of [...spans, [to, to]]) {
			if (next > begin && spans.length) {
				context.save();
				context.beginPath();
				context.rect(gutter + (begin - from) * scale, y, (next - begin) * scale, ROW);
				context.clip();
				this.drawBuckets(context, row, y);
				context.restore();
			} else if (next > begin) {
				this.drawBuckets(context, row, y);
			}
			begin = after;
		}
	}

	/* Paler than slices, as high as their share of the time. */
	drawBuckets(context, row, y) {
		const {from, to, scale} = this.view;
		const pixel = 1 / scale, most = row.bucketLevels.length - 1;
		const level = Math.min(most, Math.max(0, Math.ceil(Math.log2(pixel / row.bucketWidth)))), width = row.bucketWidth * 2 ** level;
		const buckets = row.bucketLevels[level], first = Math.floor(from / width);
		let low = 0, high = buckets.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (buckets[middle].at < first) {
				low = middle + 1;
			} else {
				high = middle;
			}
		}
		for (; low < buckets.length && buckets[low].at * width < to; low++) {
			const bucket = buckets[low], x = (bucket.at * width - from) * scale, end = x + width * scale;
			const height = Math.max(2, Math.round(Math.min(1, bucket.busy / Math.max(1, width - bucket.hole)) * (ROW - 2)));
			const kind = this.view.data.nameKinds[bucket.name] || kindOf(null);
			this.strip(context, x, end - x, y + ROW - 2 - height, height, shadesOf.get(kind).fill[1], this.isFaded(bucket.name) ? .13 : .5);
		}
		this.flush(context);
	}

	drawRange(context) {
		const {from, scale, range, height, gutter} = this.view;
		if (range) {
			const x = (range[0] - from) * scale, end = (range[1] - from) * scale;
			context.globalAlpha = .16;
			context.fillStyle = this.ink;
			context.fillRect(gutter + x, 0, Math.max(1, end - x), height);
			context.globalAlpha = 1;
			context.fillText(tools.one(Math.round(range[1] - range[0]), "time"), gutter + Math.max(x, 0) + 4, height - 10);
		}
	}

	/* Null for a row that is not shown. */
	yOf(row) {
		const line = this.view.lineOf(row);
		return line.isShown ? this.view.topOf(line) + Math.min(row.depth * ROW, line.height - ROW) : null;
	}

	/* Returns false where the row of the slice is not shown. */
	outline(context, [row, i]) {
		const {from, scale, gutter} = this.view, y = this.yOf(row), x = (row.begin[i] - from) * scale;
		if (y === null) {
			return false;
		}
		const width = Math.max(3, (row.end[i] - row.begin[i]) * scale);
		context.strokeStyle = this.ink;
		context.lineWidth = 2;
		context.strokeRect(gutter + x - 1, y - 1, width + 1, ROW);
		return true;
	}

	/* The counterpart of the slice that the pointer is over in another view. */
	drawMarked(context) {
		if (this.view.marked) {
			context.setLineDash([4, 3]);
			this.outline(context, this.view.marked);
			context.setLineDash([]);
		}
	}

	drawSelected(context) {
		const {selection} = this.view;
		if (!selection.slice || !this.outline(context, selection.slice)) {
			return;
		}
		for (const [from, to] of selection.arrows()) {
			this.drawArrow(context, from, to);
		}
	}

	drawArrow(context, [a, i], [b, k]) {
		const {from, scale, gutter} = this.view;
		if (this.yOf(a) === null || this.yOf(b) === null) {
			return;
		}
		const x = gutter + (a.begin[i] - from) * scale, y = this.yOf(a) + ROW - 2;
		const toX = gutter + (b.begin[k] - from) * scale, toY = this.yOf(b) + ROW / 2, bend = Math.max(24, Math.abs(toX - x) / 3);
		context.beginPath();
		context.moveTo(x, y);
		context.bezierCurveTo(x + bend, y, toX - bend, toY, toX, toY);
		context.moveTo(toX - 6, toY - 4);
		context.lineTo(toX, toY);
		context.lineTo(toX - 6, toY + 4);
		context.strokeStyle = this.ink;
		context.lineWidth = 1.5;
		context.stroke();
	}
}

return Picture;
};
