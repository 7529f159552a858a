/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page's timeline: rows of slices on a canvas. What is narrower than a pixel is drawn as one
 * column that tells by its strength how much of it was busy, in the colour of the longest slice in
 * it; so a frame takes as long as the canvas is wide, not as there are slices. Names of a profiled
 * program are drawn or set as text, never as markup.
 */
"use strict";

const timelineOf = (tools) => {
const {make, one} = tools;
const {longest, atLeast, firstFrom, categoryOf, isMoment, argsOf, flowsOf, flowOf, traceOf} = timelineData;
const packed = document.getElementById("timeline").textContent;
const LABELS = 208, ROW = 18, GAP = 5, DEPTHS = 8, WIDE = 1.5;

/* Okabe and Ito's colours, and darker ones of the same kind. [category, what it is, colour] */
const kinds = [
	["step", "steps and windows", "#3b7a57"], ["cpu_op", "operators", "#56b4e9"], ["python_function", "Python", "#f0e442"],
	["user_annotation", "ranges", "#009e73"], ["cuda_runtime", "CUDA calls", "#e69f00"], ["cuda_driver", "CUDA calls", "#e69f00"],
	["library", "CUDA calls", "#e69f00"], ["kernel", "kernels", "#0072b2"], ["kernel,nccl", "communication", "#d55e00"],
	["gpu_memcpy", "copies", "#cc79a7"], ["gpu_memset", "memsets", "#7a5195"], ["cuda_sync", "waits", "#8a8f98"],
	["nccl", "NCCL calls", "#f0a07a"], ["overhead", "CUPTI's overhead", "#6b5b4f"], ["mark", "losses and notices", "#a8071a"],
];
const other = [null, "others", "#8a8f98"];
const kindOf = new Map(kinds.map((kind) => [kind[0], kind]));

/* Which page has a table with such names. */
const tablesOf = {kernel: ["kernels", "kernel"], "kernel,nccl": ["kernels", "kernel"], gpu_memcpy: ["copies", "memcpy"], gpu_memset: ["copies", "memset"],
	cpu_op: ["operators", "operator"], cuda_runtime: ["api", "api"], cuda_driver: ["api", "api"], user_annotation: ["nvtx", "nvtx"], python_function: ["operators", "python"]};

let loading = null;

/* The data, unpacked when they are first asked for. */
function dataOf() {
	loading = loading || timelineData.load(packed).then((data) => {
		data.shades = data.strings.map((name) => {
			let hash = 7;
			for (let i = 0; i < name.length; i++) {
				hash = (hash * 31 + name.charCodeAt(i)) | 0;
			}
			return (Math.imul(hash, 0x9e3779b1) >>> 8) % 3;
		});
		data.nameKinds = [];
		for (const row of data.rows) {
			for (let i = 0; i < row.nr; i++) {
				data.nameKinds[row.name[i]] = kindOf.get(categoryOf(data, row, i)) || other;
			}
		}
		data.labels = [];
		data.flows = null;
		return data;
	});
	return loading;
}

/* A colour nearer to white or black, so that neighbours of one kind can be told apart. */
const shadesOf = new Map(kinds.concat([other]).map((kind) => {
	const parts = [1, 3, 5].map((at) => parseInt(kind[2].slice(at, at + 2), 16));
	const shade = (toward, share) => "rgb(" + parts.map((part) => Math.round(part + (toward - part) * share)).join() + ")";
	const isDark = parts[0] * .3 + parts[1] * .59 + parts[2] * .11 < 130;
	return [kind, {fill: [kind[2], shade(255, .22), shade(0, .16)], ink: isDark ? "#fff" : "#000"}];
}));

/* ---- rows ---- */

/* Tracks in the order of the page: of each process its steps first, then threads, then devices. */
function layoutOf(data) {
	const list = [];
	const isOf = (track, ...categories) => track.rows.some((row) => row.nr && categories.includes(categoryOf(data, row, 0)));
	const isSteps = (track) => isOf(track, "step", "mark");
	const order = (tracks) => [...tracks].sort((a, b) => a.process - b.process || isSteps(b) - isSteps(a) || (b.kind === "thread") - (a.kind === "thread") || a.rank - b.rank || isOf(a, "cuda_sync") - isOf(b, "cuda_sync") || a.i - b.i);
	const walk = (track, level) => {
		if (level === 0 || track.rows.length) {
			list.push({track, level, isHead: level === 0, isOpen: track.rows.length <= DEPTHS, depths: track.rows.length});
		}
		order(track.inner).forEach((inner) => walk(inner, level + 1));
	};
	const tops = data.tracks.filter((track) => track.parent < 0 && (track.rows.length || track.inner.length));
	[...tops].sort((a, b) => a.process - b.process || (b.kind === "process") - (a.kind === "process") || a.i - b.i).forEach((track) => walk(track, 0));
	return list;
}

function place(layout) {
	let y = 4;
	for (const line of layout) {
		line.y = y;
		line.height = line.isHead && !line.depths ? ROW + 4 : (line.isOpen ? line.depths : Math.min(line.depths, line.depths > DEPTHS ? DEPTHS : 1)) * ROW + GAP;
		y += line.height;
	}
	return y;
}

/* ---- numbers ---- */

const units = [["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]];

/* A time on the axis: enough digits to tell neighbours apart. */
function moment(ns, step) {
	const unit = units.find((each) => Math.max(Math.abs(ns), step) >= each[1]) || units[3];
	return Number((ns / unit[1]).toFixed(Math.max(0, Math.ceil(Math.log10(unit[1] / step))))).toLocaleString("en-US", {maximumFractionDigits: 9}) + " " + unit[0];
}

function tickOf(span, most) {
	const least = span / most, power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
	return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least) || 10 * power;
}

/* ---- the view ---- */

class View {
	constructor(parent, data) {
		this.data = data;
		this.layout = layoutOf(data);
		this.from = data.first;
		this.to = data.last;
		this.found = null; /* by name: searched for */
		this.hits = [];
		this.at = -1;
		this.selected = null; /* [row, i] */
		this.range = null;
		this.pointers = new Map();
		this.build(parent);
		this.resize();
	}

	/* ---- elements ---- */

	build(parent) {
		const data = this.data, section = this.section = make("section", parent);
		const note = data.all.toLocaleString("en-US") + " slices and moments, times since the first event. " + (data.dropped
			? data.nr.toLocaleString("en-US") + " are drawn one by one; the other " + data.dropped.toLocaleString("en-US") + ", none longer than " + one(data.longest_dropped_ns, "time") +
				", only as sums of " + one(2 ** data.bucket_shift, "time") + ": paler, as high as their share of it. A shorter time (--steps, --window) or --timeline-kb has more of them."
			: "All of them are here.");
		make("p", section, note, "note");
		this.buildTools(section);
		const box = this.box = make("div", section, null, "timeline");
		this.axis = make("canvas", box);
		this.axis.setAttribute("aria-hidden", "true");
		this.scroll = make("div", box, null, "rows");
		this.scroll.tabIndex = 0;
		this.scroll.setAttribute("role", "group");
		this.scroll.setAttribute("aria-label", "timeline; w and s zoom, a and d move, comma and point go from slice to slice, brackets from row to row, n to the next that was found, f zooms to the slice, 0 shows all");
		this.inner = make("div", this.scroll);
		this.canvas = make("canvas", this.inner);
		this.canvas.setAttribute("role", "img");
		this.buildLabels();
		this.details = make("div", section);
		this.details.setAttribute("aria-live", "polite");
		this.showDetails();
		this.buildLegend(section);
		this.listen();
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
		this.search.placeholder = "search slices by name";
		this.search.setAttribute("aria-label", this.search.placeholder);
		this.search.addEventListener("input", () => this.find(this.search.value));
		this.search.addEventListener("keydown", (event) => event.key === "Enter" && this.hit(event.shiftKey ? -1 : 1));
		button("‹", "previous that was found", () => this.hit(-1));
		button("›", "next that was found", () => this.hit(1));
		this.status = make("span", tools);
		this.status.setAttribute("role", "status");
		button("+", "zoom in", () => this.zoom(.5));
		button("−", "zoom out", () => this.zoom(2));
		button("◂", "earlier", () => this.pan(-.3));
		button("▸", "later", () => this.pan(.3));
		button("all", "the whole time", () => this.show(this.data.first, this.data.last));
		button("save .pftrace", "saves the slices of the chosen or shown time for Perfetto", () => this.save());
		const command = make("span", section, null, "tools");
		this.command = make("code", command);
		this.command.title = "the same time with everything in it, from the data that the page was made of (DUMP)";
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
			seen.add((kindOf.get(this.data.categories[set[0]]) || other)[1]);
		}
		for (const [, title, color] of kinds.concat([other])) {
			if (seen.delete(title)) {
				const item = make("span", legend);
				make("i", item).style.background = color;
				item.append(title);
			}
		}
		this.legend = legend;
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

	zoom(factor, at = (this.from + this.to) / 2) {
		this.show(at - (at - this.from) * factor, at + (this.to - at) * factor);
	}

	pan(share) {
		const step = (this.to - this.from) * share;
		this.show(this.from + step, this.to + step);
	}

	timeAt(event) {
		return this.from + (event.clientX - this.canvas.getBoundingClientRect().left - LABELS) / this.scale;
	}

	resize() {
		const height = place(this.layout), ratio = window.devicePixelRatio || 1, bounds = this.scroll.clientWidth;
		this.inner.style.height = height + "px";
		this.box.style.height = Math.max(160, Math.min(height + 40, Math.max(352, innerHeight - 384))) + "px";
		this.width = Math.max(100, bounds - LABELS);
		this.height = this.scroll.clientHeight;
		for (const [canvas, nr] of [[this.canvas, this.height], [this.axis, this.axis.clientHeight]]) {
			canvas.width = Math.round(bounds * ratio);
			canvas.height = Math.round(nr * ratio);
			canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
		}
		this.canvas.style.width = bounds + "px";
		this.canvas.style.height = this.height + "px";
		/* Labels lie on the canvas, which must take no room among them. */
		this.canvas.style.marginBottom = -this.height + "px";
		for (const line of this.layout) {
			line.label.style.top = line.y + "px";
			line.label.style.paddingLeft = line.isHead ? "" : (.4 + .7 * line.level) + "rem";
		}
		this.drawNow();
	}

	redraw() {
		this.frame = this.frame || requestAnimationFrame(() => this.drawNow());
	}

	drawNow() {
		const begin = performance.now();
		cancelAnimationFrame(this.frame);
		this.frame = 0;
		this.draw();
		this.box.dataset.drawMs = (performance.now() - begin).toFixed(2);
	}

	/* Paper is white, whatever the screen is. */
	print(isPrinting) {
		this.isPrinting = isPrinting;
		this.drawNow();
	}

	/* ---- drawing ---- */

	draw() {
		const context = this.canvas.getContext("2d"), style = getComputedStyle(this.box), top = this.scroll.scrollTop;
		[this.ink, this.dim, this.lines] = this.isPrinting ? ["#000", "#444", "#bbb"] : ["--ink", "--dim", "--line"].map((name) => style.getPropertyValue(name).trim());
		context.clearRect(0, 0, LABELS + this.width, this.height);
		context.font = "11px " + style.fontFamily;
		context.textBaseline = "middle";
		this.drawAxis(context);
		context.save();
		context.beginPath();
		context.rect(LABELS, 0, this.width, this.height);
		context.clip();
		for (const line of this.layout) {
			const y = line.y - top;
			if (y + line.height < 0 || y > this.height || !line.depths) {
				continue;
			}
			const nr = Math.round((line.height - GAP) / ROW);
			for (let depth = 0; depth < nr; depth++) {
				this.drawBuckets(context, line.track.rows[depth], y + depth * ROW);
				this.drawRow(context, line.track.rows[depth], y + depth * ROW);
			}
		}
		this.drawRange(context);
		this.drawSelected(context);
		context.restore();
		this.command.textContent = this.commandText();
		this.canvas.setAttribute("aria-label", "timeline from " + one(Math.max(0, Math.round(this.from)), "time") + " to " + one(Math.round(this.to), "time"));
	}

	drawAxis(rows) {
		const context = this.axis.getContext("2d"), height = this.axis.clientHeight, step = tickOf(this.to - this.from, this.width / 110);
		context.clearRect(0, 0, LABELS + this.width, height);
		context.font = "11px " + getComputedStyle(this.box).fontFamily;
		context.textBaseline = "middle";
		context.fillStyle = this.dim;
		context.fillText("since the first event", 6, height / 2, LABELS - 12);
		/* Counted, as times of damaged streams may be so large that a step more is the same number. */
		const first = Math.ceil(this.from / step) * step, nr = Math.min(200, Math.floor((this.to - first) / step) + 1);
		for (let k = 0; k < nr; k++) {
			const ns = first + k * step, x = LABELS + (ns - this.from) * this.scale;
			const text = moment(ns, step);
			context.fillStyle = this.dim;
			if (x + 4 + context.measureText(text).width < LABELS + this.width) {
				context.fillText(text, x + 4, height / 2);
			}
			context.fillRect(x, height - 6, 1, 6);
			rows.fillStyle = this.lines;
			rows.fillRect(x, 0, 1, this.height);
		}
		for (const line of this.layout) {
			rows.fillStyle = this.lines;
			rows.fillRect(0, line.y - this.scroll.scrollTop - 2, line.isHead ? LABELS + this.width : LABELS, 1);
		}
	}

	/* Columns of one colour and strength become one rectangle. */
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
			context.fillRect(LABELS + run.x, run.y, run.width, run.height);
			context.globalAlpha = 1;
			this.run = null;
		}
	}

	fillOf(row, i) {
		return shadesOf.get(kindOf.get(categoryOf(this.data, row, i)) || other).fill[this.data.shades[row.name[i]]];
	}

	drawRow(context, row, y) {
		const {from, to, scale} = this, last = this.width;
		for (let i = firstFrom(row, from); i < row.nr && row.begin[i] < to;) {
			const x = (row.begin[i] - from) * scale, end = (row.end[i] - from) * scale;
			if (isMoment(this.data, row, i)) {
				this.flush(context);
				i = this.drawMoment(context, row, i, x, y);
				continue;
			}
			if (end - x >= WIDE) {
				this.flush(context);
				this.drawSlice(context, row, i, Math.max(x, -2), Math.min(end, last + 2), y);
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

	/* How much is to be seen of a column: in steps, so that neighbours can be drawn at once. */
	strength(name, share) {
		return this.found && !this.found[name] ? .13 : [.45, .65, .85, 1][Math.min(3, Math.floor(share * 4))];
	}

	/* A pin; those that would hide each other are one. Returns what comes behind them. */
	drawMoment(context, row, i, x, y) {
		const until = row.begin[i] + 3 / this.scale;
		context.globalAlpha = this.found && !this.found[row.name[i]] ? .2 : 1;
		context.fillStyle = this.fillOf(row, i);
		context.fillRect(LABELS + x, y, 1, ROW - 2);
		context.fillRect(LABELS + x - 2, y, 5, 4);
		context.globalAlpha = 1;
		const next = Math.max(i + 1, atLeast(row.begin, until, i));
		return row.busy[next] === row.busy[i] ? next : i + 1;
	}

	drawSlice(context, row, i, x, end, y) {
		const kind = kindOf.get(categoryOf(this.data, row, i)) || other, name = row.name[i], width = end - x;
		context.globalAlpha = this.found && !this.found[name] ? .2 : 1;
		context.fillStyle = shadesOf.get(kind).fill[this.data.shades[name]];
		context.fillRect(LABELS + x, y, width > 4 ? width - 1 : width, ROW - 2);
		if (width > 26) {
			const begin = Math.max(x, 0), room = Math.min(end, this.width) - begin - 8;
			context.fillStyle = shadesOf.get(kind).ink;
			context.fillText(this.fit(name, room), LABELS + begin + 4, y + ROW / 2 - 1, Math.max(room, 1));
		}
		context.globalAlpha = 1;
	}

	/* As much of a name as there is room for. */
	fit(name, room) {
		const label = this.data.labels[name] = this.data.labels[name] || tools.short(this.data.strings[name], 120);
		const nr = Math.floor(room / 6.1);
		return label.length <= nr ? label : nr < 4 ? "" : label.slice(0, nr - 1) + "…";
	}

	/* What has no slices of its own: as high as its share of the time, and paler. */
	drawBuckets(context, row, y) {
		if (!row.buckets.length) {
			return;
		}
		const pixel = 1 / this.scale, most = row.bucketLevels.length - 1;
		const level = Math.min(most, Math.max(0, Math.ceil(Math.log2(pixel / row.bucketWidth)))), width = row.bucketWidth * 2 ** level;
		const buckets = row.bucketLevels[level], first = Math.floor(this.from / width);
		let low = 0, high = buckets.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (buckets[middle].at < first) {
				low = middle + 1;
			} else {
				high = middle;
			}
		}
		for (; low < buckets.length && buckets[low].at * width < this.to; low++) {
			const bucket = buckets[low], x = (bucket.at * width - this.from) * this.scale, end = x + width * this.scale;
			const height = Math.max(2, Math.round(Math.min(1, bucket.busy / width) * (ROW - 2)));
			const kind = this.data.nameKinds[bucket.name] || other;
			this.strip(context, x, end - x, y + ROW - 2 - height, height, shadesOf.get(kind).fill[1], this.found && !this.found[bucket.name] ? .13 : .5);
		}
		this.flush(context);
	}

	drawRange(context) {
		if (this.range) {
			const x = (this.range[0] - this.from) * this.scale, end = (this.range[1] - this.from) * this.scale;
			context.globalAlpha = .16;
			context.fillStyle = this.ink;
			context.fillRect(LABELS + x, 0, Math.max(1, end - x), this.height);
			context.globalAlpha = 1;
		}
	}

	yOf(row) {
		const line = this.layout.find((each) => each.track.i === row.track);
		return line.y - this.scroll.scrollTop + Math.min(row.depth * ROW, line.height - ROW);
	}

	drawSelected(context) {
		if (!this.selected) {
			return;
		}
		const [row, i] = this.selected, y = this.yOf(row), x = (row.begin[i] - this.from) * this.scale;
		const width = Math.max(3, (row.end[i] - row.begin[i]) * this.scale);
		context.strokeStyle = this.ink;
		context.lineWidth = 2;
		context.strokeRect(LABELS + x - 1, y - 1, width + 1, ROW);
		for (const [from, to] of this.arrows()) {
			this.drawArrow(context, from, to);
		}
	}

	/* From a call to its work. */
	arrows() {
		const flow = this.flow();
		return flow ? flow.calls.slice(0, 4).flatMap((call) => flow.works.slice(0, 64).map((work) => [call, work])) : [];
	}

	flow() {
		const [row, i] = this.selected;
		this.data.flows = this.data.flows || flowsOf(this.data);
		return flowOf(this.data, this.data.flows, row, i);
	}

	drawArrow(context, [a, i], [b, k]) {
		const x = LABELS + (a.begin[i] - this.from) * this.scale, y = this.yOf(a) + ROW - 2;
		const toX = LABELS + (b.begin[k] - this.from) * this.scale, toY = this.yOf(b) + ROW / 2, bend = Math.max(24, Math.abs(toX - x) / 3);
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

	/* ---- what was asked for ---- */

	/* isExact: the whole name. process: only its slices. */
	find(text, isExact = false, process = 0) {
		const word = text.toLowerCase();
		this.hits = [];
		this.at = -1;
		this.found = word ? this.data.strings.map((name) => (isExact ? name === text : name.toLowerCase().includes(word))) : null;
		for (const row of word ? this.data.rows : []) {
			if (!process || this.data.tracks[row.track].process === process) {
				for (let i = 0; i < row.nr; i++) {
					if (this.found[row.name[i]]) {
						this.hits.push([row, i]);
					}
				}
			}
		}
		this.hits.sort(([a, i], [b, k]) => a.begin[i] - b.begin[k]);
		this.tellHits();
		this.redraw();
	}

	tellHits() {
		const nr = this.hits.length.toLocaleString("en-US");
		this.status.textContent = !this.found ? "" : !this.hits.length ? "none is drawn by itself" + (this.data.dropped ? "; it may be in the sums" : "")
			: (this.at >= 0 ? (this.at + 1).toLocaleString("en-US") + " of " : "") + nr + (this.at < 0 ? " found" : "");
	}

	/* The next one that was found; the first time the first in view. */
	hit(step) {
		const nr = this.hits.length;
		if (!nr) {
			return;
		}
		if (this.at < 0) {
			const first = this.hits.findIndex(([row, i]) => row.begin[i] >= this.from);
			this.at = first < 0 ? 0 : first;
		} else {
			this.at = (this.at + step + nr) % nr;
		}
		this.select(this.hits[this.at]);
		this.reveal();
		this.tellHits();
	}

	select(slice) {
		this.selected = slice;
		this.showDetails();
		this.redraw();
	}

	/* Brings the selected slice into view, as wide that it can be read. */
	reveal() {
		const [row, i] = this.selected, line = this.layout.find((each) => each.track.i === row.track);
		const length = row.end[i] - row.begin[i], span = this.to - this.from;
		if (row.depth * ROW >= line.height - GAP && !line.isOpen) {
			line.label.click();
		}
		const y = line.y + row.depth * ROW;
		if (y < this.scroll.scrollTop || y + ROW > this.scroll.scrollTop + this.height) {
			this.scroll.scrollTop = Math.max(0, y - this.height / 2);
		}
		if (length * this.scale < 8 || length > span || row.begin[i] < this.from || row.end[i] > this.to) {
			const wide = Math.min(Math.max(length * 12, 200), Math.max(span, length * 1.3));
			this.show((row.begin[i] + row.end[i] - wide) / 2, (row.begin[i] + row.end[i] + wide) / 2);
		}
		this.redraw();
	}

	/* Slices of its row, and the nearest of rows beside it. */
	step(slices, rows) {
		const lists = this.layout.flatMap((line) => line.track.rows).filter((row) => row.nr);
		if (!this.selected) {
			const row = lists.find((each) => each.nr > atLeast(each.begin, this.from));
			this.select(row ? [row, atLeast(row.begin, this.from)] : null);
			return;
		}
		let [row, i] = this.selected;
		if (rows) {
			const begin = row.begin[i];
			row = lists[Math.min(Math.max(lists.indexOf(row) + rows, 0), lists.length - 1)];
			i = Math.min(row.nr - 1, atLeast(row.end, begin));
		}
		this.select([row, Math.min(Math.max(i + slices, 0), row.nr - 1)]);
		this.reveal();
	}

	/* What the pointer is on: a slice, or a bucket. */
	pick(event) {
		const bounds = this.canvas.getBoundingClientRect(), y = event.clientY - bounds.top + this.scroll.scrollTop;
		const line = this.layout.find((each) => y >= each.y && y < each.y + each.height), ns = this.timeAt(event), wide = 2 / this.scale;
		const row = line && line.track.rows[Math.floor((y - line.y) / ROW)];
		if (!row || event.clientX - bounds.left < LABELS) {
			return null;
		}
		const i = atLeast(row.end, ns - wide), j = atLeast(row.begin, ns + wide);
		if (i < j) {
			const exact = firstFrom(row, ns);
			return {slice: [row, exact < j && row.begin[exact] <= ns && (row.end[exact] - row.begin[exact]) * this.scale >= WIDE ? exact : longest(row, i, j)]};
		}
		const at = Math.floor(ns / row.bucketWidth), bucket = row.buckets.find((each) => each.at === at);
		return bucket ? {bucket, row} : null;
	}

	/* ---- details ---- */

	showDetails(bucket, row) {
		const list = make("dl", null, null, "slice"), data = this.data;
		const add = (key, value, isWide) => {
			const line = make("div", list, null, isWide ? "wide" : "");
			make("dt", line, key);
			return make("dd", line, value);
		};
		this.details.replaceChildren(list);
		if (bucket) {
			add("sum of", bucket.nr.toLocaleString("en-US") + " slices and moments that begin between " + one(bucket.at * row.bucketWidth, "time") + " and " + one((bucket.at + 1) * row.bucketWidth, "time"), true);
			add("busy", one(bucket.busy, "time") + " (" + (100 * bucket.busy / row.bucketWidth).toFixed(1) + " %)");
			add("longest", one(bucket.longest, "time"));
			add("its name", data.strings[bucket.name], true);
		} else if (this.selected) {
			this.fillDetails(add, ...this.selected);
		} else {
			list.append(make("p", null, "A click on a slice shows what is known of it. Wheel, w and s zoom; dragging, a and d move; Shift and dragging chooses a time to save.", "note wide"));
		}
	}

	/* Where the page has more about it. */
	addressOf(track, category, name) {
		const process = tools.rowsOf("processes")[track.process - 1], step = /^step (\d+)$/.exec(name);
		if (category === "step") {
			return process && step ? tools.stepHash({pid: process.pid, step: step[1]}) : null;
		}
		return tablesOf[category] ? tools.rowsHash(...tablesOf[category], "name", name) : null;
	}

	fillDetails(add, row, i) {
		const data = this.data, track = data.tracks[row.track], name = data.strings[row.name[i]], category = categoryOf(data, row, i);
		const flow = this.flow(), length = row.end[i] - row.begin[i], address = this.addressOf(track, category, name);
		const title = add((kindOf.get(category) || other)[1], address ? null : name, true);
		if (address) {
			make("a", title, name).href = address;
		}
		add("begins", moment(row.begin[i], 1));
		if (!isMoment(data, row, i)) {
			add("takes", one(length, "time") + (length >= 1000 ? " (" + length.toLocaleString("en-US") + " ns)" : ""));
		}
		add("on", track.name);
		for (const [key, value] of argsOf(data, row, i)) {
			if (value !== null) {
				const text = key === "bytes" ? value.toLocaleString("en-US") : typeof value === "number" && !Number.isInteger(value) ? String(Number(value.toPrecision(4))) : String(value);
				add(key, text, text.length > 40);
			}
		}
		for (const [key, ends] of flow ? [[flow.isAutograd ? "forward" : "launched by", flow.calls], [flow.isAutograd ? "backward" : "launches", flow.works]] : []) {
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
		data.flows = data.flows || flowsOf(data);
		const url = URL.createObjectURL(new Blob([traceOf(data, data.flows, from, to)], {type: "application/octet-stream"}));
		const link = make("a");
		link.href = url;
		link.download = "selection.pftrace";
		link.click();
		setTimeout(() => URL.revokeObjectURL(url), 60000);
	}

	/* ---- events ---- */

	listen() {
		const canvas = this.canvas;
		this.scroll.addEventListener("scroll", () => this.redraw());
		this.scroll.addEventListener("keydown", (event) => this.key(event));
		this.inner.addEventListener("wheel", (event) => this.wheel(event), {passive: false});
		canvas.addEventListener("pointerdown", (event) => this.press(event));
		canvas.addEventListener("pointermove", (event) => this.move(event));
		for (const name of ["pointerup", "pointercancel"]) {
			canvas.addEventListener(name, (event) => this.release(event));
		}
		canvas.addEventListener("dblclick", () => this.selected && this.focusOn());
		this.axis.addEventListener("pointerdown", (event) => this.press(event, true));
		this.axis.addEventListener("pointermove", (event) => this.move(event));
		this.axis.addEventListener("pointerup", (event) => this.release(event));
		this.printers = [() => this.print(true), () => this.print(false)];
		addEventListener("beforeprint", this.printers[0]);
		addEventListener("afterprint", this.printers[1]);
		this.observer = new ResizeObserver(() => {
			if (this.scroll.clientWidth - LABELS !== this.width || this.scroll.clientHeight !== this.height) {
				this.resize();
			}
		});
		this.observer.observe(this.scroll);
	}

	destroy() {
		this.observer.disconnect();
		removeEventListener("beforeprint", this.printers[0]);
		removeEventListener("afterprint", this.printers[1]);
		cancelAnimationFrame(this.frame);
	}

	focusOn() {
		const [row, i] = this.selected, length = Math.max(20, row.end[i] - row.begin[i]);
		this.show(row.begin[i] - length * .1, row.end[i] + length * .1);
	}

	key(event) {
		const acts = {
			w: () => this.zoom(.7), "+": () => this.zoom(.7), "=": () => this.zoom(.7), s: () => this.zoom(1 / .7), "-": () => this.zoom(1 / .7),
			a: () => this.pan(-.15), d: () => this.pan(.15), ArrowLeft: () => this.pan(-.15), ArrowRight: () => this.pan(.15),
			".": () => this.step(1, 0), ",": () => this.step(-1, 0), "]": () => this.step(0, 1), "[": () => this.step(0, -1),
			n: () => this.hit(1), N: () => this.hit(-1), f: () => this.selected && this.focusOn(), 0: () => this.show(this.data.first, this.data.last),
			"/": () => this.search.focus(),
			Escape: () => {
				this.range = null;
				this.select(null);
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
			this.pan(sideways * unit / this.width);
		} else {
			this.zoom(2 ** (event.deltaY * unit / 240), this.timeAt(event));
		}
	}

	press(event, isRange = event.shiftKey) {
		event.currentTarget.setPointerCapture(event.pointerId);
		this.pointers.set(event.pointerId, event);
		this.pressed = {x: event.clientX, y: event.clientY, from: this.from, to: this.to, top: this.scroll.scrollTop, ns: this.timeAt(event), isRange, isMoved: false};
		if (event.currentTarget === this.canvas) {
			this.scroll.focus({preventScroll: true});
		}
	}

	move(event) {
		const pressed = this.pressed;
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
			this.range = [Math.min(ns, pressed.ns), Math.max(ns, pressed.ns)];
			this.redraw();
			return;
		}
		const step = (pressed.x - event.clientX) / this.width * (pressed.to - pressed.from);
		this.scroll.scrollTop = pressed.top + pressed.y - event.clientY;
		this.show(pressed.from + step, pressed.to + step);
	}

	release(event) {
		const pressed = this.pressed;
		this.pointers.delete(event.pointerId);
		if (!pressed || pressed.isMoved || event.type === "pointercancel") {
			this.pressed = this.pointers.size ? pressed : null;
			return;
		}
		this.pressed = null;
		const found = event.currentTarget === this.canvas ? this.pick(event) : null;
		this.range = null;
		this.selected = found && found.slice ? found.slice : null;
		this.showDetails(found && found.bucket, found && found.row);
		this.redraw();
	}
}

/* ---- the page ---- */

/* What the address asks for: #timeline/find/NAME, or #timeline/step/PID/STEP. */
function follow(view) {
	const [, what, first, second] = tools.partsOfHash();
	/* Processes of the data are in the order of that table. */
	const at = what === "step" ? tools.rowsOf("processes").findIndex((row) => String(row.pid) === first) : -1;
	if (what !== "step" && what !== "find") {
		return;
	}
	view.search.value = what === "step" ? "step " + second : first;
	view.find(view.search.value, true, at + 1);
	if (view.hits.length) {
		view.hit(1);
	}
	if (view.hits.length && what === "step") {
		view.focusOn();
	}
}

/* Draws it into the page that is open; done when its promise is. */
async function draw(parent) {
	const status = make("p", parent, "unpacking …", "note");
	if (!packed || typeof DecompressionStream !== "function") {
		status.textContent = packed ? "This browser cannot unpack the timeline; gprof-report timeline writes one for Perfetto."
			: "No timeline is in this page: there is nothing to draw, or it was written with --timeline-kb 0.";
		return;
	}
	const data = await dataOf();
	if (!status.isConnected) {
		return; /* another page was opened meanwhile */
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
