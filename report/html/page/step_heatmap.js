/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A heat map of ranks and steps: the time of each step of each rank, divided by the median of all, or of that step. The
 * median is neutral. The cells are those of the figure of the view `steps` (step_heatmap.c). A cell leads to the timelines of
 * the slowest and the median rank of its step.
 */
"use strict";

const pageHeat = (() => {
const {make, prose, one} = pageText, {shapes, isMany} = pageData, {hashOf} = pageLink;
const {css, shown} = pageChart;
const FEW = 16;	      /* ranks that are shown until the user asks for all */
const MOST_ROWS = 64; /* more ranks share rows */
const GUTTER = 96, AXIS = 20, FONT = "11px ";
/* From much shorter than the median, which is the middle, to much longer. */
const colors = pagePalette.listOf("heat"), colorsInDark = pagePalette.listOf("heatdark");
const MOST_RATIO = 4; /* more has the last colour */
const field = shapes.steps && shapes.steps.figure;

/* ---- colours ---- */

function mix(a, b, share) {
	const part = (color, at) => parseInt(color.slice(at, at + 2), 16);
	return "rgb(" + [1, 3, 5].map((at) => Math.round(part(a, at) + (part(b, at) - part(a, at)) * share)).join() + ")";
}

/* A power below 1 shows small differences, too. */
function colorOf(ratio) {
	const list = css("--card") === "#fff" ? colors : colorsInDark, far = Math.log(Math.max(ratio, 1e-9)) / Math.log(MOST_RATIO);
	const at = 2 + 2 * Math.sign(far) * Math.min(1, Math.abs(far)) ** .65, low = Math.min(3, Math.floor(at));
	return mix(list[low], list[low + 1], at - low);
}

/* ---- rows ---- */

const perRow = (nr) => Math.ceil(nr / MOST_ROWS);

/* {title, cells: [{step, ns, rank}] by column} of ranks; where they share a row, the longest of each column. */
function rankRows(ranks) {
	const rows = [], nr = perRow(ranks.length);
	for (let i = 0; i < ranks.length; i += nr) {
		const own = ranks.slice(i, i + nr), [first, last] = [own[0].rank, own[own.length - 1].rank];
		const longest = (column) => own.reduce((most, {rank, cells}) => {
			const [step, ns] = cells[column];
			return step === undefined || (most && most.ns >= ns) ? most : {step, ns, rank};
		}, null);
		rows.push({title: own.length > 1 ? "ranks " + first + "–" + last : "rank " + first, cells: own[0].cells.map((_, column) => longest(column))});
	}
	return rows;
}

/* The ranks with the longest times, by their numbers. */
function slowest(nr) {
	return [...field.ranks].sort((a, b) => b.total_ns - a.total_ns).slice(0, nr).sort((a, b) => a.rank - b.rank);
}

function quantileRows() {
	const titles = {0: "shortest", 50: "median", 100: "longest"};
	return field.quantiles_pct.map((percent, i) => ({title: titles[percent] || percent + "th percentile", cells: field.quantiles.map((values, column) =>
		(values.length ? {step: field.first + column * field.per_cell, ns: values[i], rank: null} : null))})).reverse();
}

const medianAt = field && field.quantiles_pct.indexOf(50);

/* The time that is neutral in a column. */
function neutralOf(base, column) {
	return base === "step" ? field.quantiles[column][medianAt] : field.median_ns;
}

/* ---- the picture ---- */

class HeatMap {
	constructor(section) {
		this.box = make("div", section, null, "heat");
		this.canvas = make("canvas", this.box);
		this.canvas.tabIndex = 0;
		this.canvas.setAttribute("role", "application");
		this.canvas.setAttribute("aria-label", "Step time per rank / median: arrow keys move, Enter opens the timelines of the step");
		this.said = make("p", section, null, "note");
		this.said.setAttribute("role", "status");
		this.current = null; /* [row, column] */
		this.canvas.addEventListener("pointermove", (event) => this.choose(this.at(event)));
		this.canvas.addEventListener("click", (event) => {
			this.choose(this.at(event));
			this.open();
		});
		this.canvas.addEventListener("keydown", (event) => this.key(event));
		this.observer = new ResizeObserver(() => this.box.clientWidth !== this.width && this.update());
		this.observer.observe(this.box);
	}

	show(rows, base) {
		this.rows = rows;
		this.base = base;
		this.current = null;
		this.update();
	}

	get columns() {
		return this.rows[0].cells.length;
	}

	get cellWidth() {
		return (this.width - GUTTER) / this.columns;
	}

	/* The row and the column under the pointer; null beside cells. */
	at(event) {
		const bounds = this.canvas.getBoundingClientRect(), row = Math.floor((event.clientY - bounds.top) / this.height), column = Math.floor((event.clientX - bounds.left - GUTTER) / this.cellWidth);
		return row >= 0 && row < this.rows.length && column >= 0 && column < this.columns ? [row, column] : null;
	}

	get cell() {
		return this.current && this.rows[this.current[0]].cells[this.current[1]];
	}

	choose(current) {
		if (String(current) === String(this.current)) {
			return;
		}
		this.current = current;
		this.canvas.style.cursor = this.address() ? "pointer" : "";
		this.say();
		this.draw();
	}

	say() {
		const {cell} = this;
		if (!this.current) {
			this.said.textContent = "Point at a cell, or use the arrow keys.";
			return;
		}
		const [row, column] = this.current, neutral = neutralOf(this.base, column);
		const who = this.rows[row].title + (cell && cell.rank !== null && !this.rows[row].title.endsWith(" " + cell.rank) ? ", longest rank " + cell.rank : "");
		this.said.textContent = who + ", step " + (cell ? cell.step : field.first + column * field.per_cell) + ": " + (cell ? one(cell.ns, "time") +
			(neutral ? ", " + (cell.ns / neutral).toFixed(2) + "× the median" + (this.base === "step" ? " of the step, " + one(neutral, "time") : "") : "") : "not recorded");
	}

	address() {
		return this.cell && document.getElementById("timeline").textContent ? hashOf("ranks", this.cell.step) : null;
	}

	open() {
		if (this.address()) {
			location.hash = this.address();
		}
	}

	key(event) {
		const [row, column] = this.current || [0, -1], moves = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};
		const move = moves[event.key];
		if (event.ctrlKey || event.metaKey || event.altKey || !(move || event.key === "Enter")) {
			return;
		}
		event.preventDefault();
		if (move) {
			this.choose([Math.min(Math.max(row + move[0], 0), this.rows.length - 1), Math.min(Math.max(column + move[1], 0), this.columns - 1)]);
		} else {
			this.open();
		}
	}

	/* Also for paper, as charts have it. */
	update() {
		this.width = this.box.clientWidth || 600;
		this.height = this.rows.length > 32 ? 11 : this.rows.length > FEW ? 15 : 20;
		this.canvas.dataset.grid = [this.rows.length, this.columns, this.height, GUTTER].join(" "); /* for tests */
		this.canvas.style.height = this.rows.length * this.height + AXIS + "px";
		this.draw();
	}

	resize() {
		this.update();
	}

	draw() {
		const {canvas, width, height, rows, cellWidth} = this, ratio = window.devicePixelRatio || 1, context = canvas.getContext("2d");
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round((rows.length * height + AXIS) * ratio);
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.font = FONT + getComputedStyle(canvas).fontFamily;
		context.textBaseline = "middle";
		rows.forEach(({title, cells}, row) => {
			context.fillStyle = css("--dim");
			context.fillText(title, 0, (row + .5) * height, GUTTER - 6);
			cells.forEach((cell, column) => {
				if (cell) {
					const neutral = neutralOf(this.base, column);
					context.fillStyle = colorOf(neutral ? cell.ns / neutral : 1);
					context.fillRect(GUTTER + column * cellWidth, row * height + .5, Math.max(1, cellWidth - (cellWidth > 6 ? 1 : 0)), height - 1);
				}
			});
		});
		this.drawAxis(context);
		if (this.current) {
			context.strokeStyle = css("--ink");
			context.lineWidth = 2;
			context.strokeRect(GUTTER + this.current[1] * cellWidth, this.current[0] * height, Math.max(3, cellWidth), height);
		}
	}

	drawAxis(context) {
		const {rows, height, cellWidth, columns} = this, apart = Math.max(1, Math.ceil(60 / cellWidth));
		context.fillStyle = css("--dim");
		context.fillText("step", 0, rows.length * height + AXIS / 2);
		for (let column = 0; column < columns; column += apart) {
			context.fillText(String(field.first + column * field.per_cell), GUTTER + column * cellWidth, rows.length * height + AXIS / 2);
		}
	}

	destroy() {
		this.observer.disconnect();
	}
}

/* ---- the section ---- */

function drawLegend(section) {
	const legend = make("div", section, null, "legend");
	for (const ratio of [.5, .8, .9, 1, 1.1, 1.25, 1.5, 2, MOST_RATIO]) {
		const item = make("span", legend);
		make("i", item).style.background = colorOf(ratio);
		item.append(ratio === 1 ? "the median" : ratio + "×" + (ratio === MOST_RATIO ? " or more" : ""));
	}
}

function heat(parent) {
	if (!field) {
		return;
	}
	const section = make("section", parent, null, "wide"), nr = field.ranks.length, nrLeft = field.nr_ranks - nr, state = {rows: nr > FEW ? "few" : "all", base: "all"};
	make("h3", section, "Step time per rank / median");
	const tools = make("div", section, null, "tools"), map = new HeatMap(section), listOf = {few: () => rankRows(slowest(FEW)), all: () => rankRows(field.ranks), quantiles: quantileRows};
	const draw = () => map.show(listOf[state.rows](), state.base);
	const choice = (label, key, names) => {
		const group = make("span", tools);
		group.setAttribute("role", "group");
		group.setAttribute("aria-label", label);
		for (const [value, text] of names) {
			const button = make("button", group, text);
			button.setAttribute("aria-pressed", String(state[key] === value));
			button.addEventListener("click", () => {
				state[key] = value;
				[...group.children].forEach((each) => each.setAttribute("aria-pressed", String(each === button)));
				draw();
			});
		}
	};
	const binned = nr > MOST_ROWS ? " in rows of " + perRow(nr) : "";
	choice("Rows", "rows", [...(nr > FEW ? [["few", FEW + " slowest ranks"]] : []), ["all", (nrLeft ? nr + " slowest" : "all " + nr) + " ranks" + binned], ["quantiles", "quantiles of all ranks"]]);
	choice("Compared with", "base", [["all", "median of all"], ["step", "median of each step"]]);
	draw();
	map.say();
	shown.push(map);
	drawLegend(section);
	prose("p", section, [field.per_cell > 1 ? "Each cell is the longest of " + field.per_cell + " steps." : "", binned ? "A row shows the longest of its ranks." : "", "Median of all: " + one(field.median_ns, "time") + ".",
		nrLeft ? nrLeft + " faster ranks are not shown." : "", isMany && map.rows && document.getElementById("timeline").textContent ? "Click a cell for the timelines of the slowest and the median rank of its step." : ""].filter(Boolean).join(" "), "note");
}

return {heat, hasField: !!field};
})();
