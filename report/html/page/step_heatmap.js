/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A heat map of ranks and steps: the time of each step of each rank, divided by the median of all. The cells are those of
 * the figure of the view `steps` (step_heatmap.c).
 */
"use strict";

const pageHeat = (() => {
const {make, one} = pageText, {shapes, rowsOf, keyOf} = pageData, {stepHash} = pageLink;
const {hasCharts, shown, ink, dim, back, leading} = pageChart;
const FEW = 16; /* ranks that are shown until the user asks for all */
const colors = pagePalette.listOf("heat");
const field = shapes.steps && shapes.steps.figure;

function levelOf(ns) {
	const level = field.levels_pct.findIndex((pct) => ns * 100 <= field.median_ns * pct);
	return level < 0 ? field.levels_pct.length : level;
}

function levelName(level) {
	const most = field.levels_pct[level], least = field.levels_pct[level - 1];
	return most ? "≤ " + most / 100 + "×" : "> " + least / 100 + "×";
}

/* The cells of the figure as bars from step to step. */
function cellsOf(ranks) {
	return ranks.flatMap(({rank, pid: first, cells}) => cells.map(([step, ns, pid = first], i) => {
		const from = field.first + i * field.per_cell - .5;
		return {x: [from, from + field.per_cell], y: "rank " + rank, rank, pid, step, ns};
	})).filter((cell) => cell.step !== undefined);
}

/* The ranks with the longest times, by their numbers. */
function longest(nr) {
	return [...field.ranks].sort((a, b) => b.total_ns - a.total_ns).slice(0, nr).sort((a, b) => a.rank - b.rank);
}

function dataOf(ranks) {
	const cells = cellsOf(ranks);
	return {labels: ranks.map(({rank}) => "rank " + rank), datasets: [{data: cells, backgroundColor: cells.map((cell) => colors[levelOf(cell.ns)]),
		grouped: false, barPercentage: 1, categoryPercentage: .9, borderColor: back, borderWidth: {right: 1}, borderSkipped: false}]};
}

function tooltip(cell) {
	return one(cell.ns, "time") + (field.median_ns ? ", " + (cell.ns / field.median_ns).toFixed(2) + "× the median" : "");
}

/* Only steps that the page has get a link. */
function options(cellAt) {
	const known = new Set(rowsOf("steps").map((row) => keyOf(row) + " " + row.step));
	return {
		animation: false, responsive: true, maintainAspectRatio: false, indexAxis: "y",
		...leading((index) => (known.has(keyOf(cellAt(index)) + " " + cellAt(index).step) ? stepHash(cellAt(index)) : null)),
		interaction: {mode: "nearest", intersect: true},
		scales: {
			x: {type: "linear", min: field.first - .5, max: field.first - .5 + field.ranks[0].cells.length * field.per_cell, title: {display: true, text: "step", color: dim},
				ticks: {color: dim, precision: 0, includeBounds: false}, grid: {display: false}},
			y: {type: "category", ticks: {color: dim, autoSkip: false}, grid: {display: false}},
		},
		plugins: {
			legend: {display: false, labels: {color: ink}},
			tooltip: {callbacks: {
				title: (items) => (items.length ? items[0].raw.y + ", step " + items[0].raw.step : ""),
				label: (item) => tooltip(item.raw),
			}},
		},
	};
}

function drawLegend(section) {
	const legend = make("div", section, null, "legend");
	colors.forEach((color, level) => {
		const item = make("span", legend);
		make("i", item).style.background = color;
		item.append(levelName(level));
	});
}

/* A button that toggles between all ranks and a few. */
function drawButton(section, act) {
	const few = "Show the " + FEW + " slowest ranks", all = "Show all " + field.ranks.length + " ranks";
	const button = make("button", make("div", section, null, "tools"), all);
	button.addEventListener("click", () => {
		const isAll = button.textContent === all;
		button.textContent = isAll ? few : all;
		act(isAll ? field.ranks.length : FEW);
	});
}

function drawCells(section) {
	const box = make("div", section, null, "canvas across"), canvas = make("canvas", box);
	const drawn = new Chart(canvas, {type: "bar", data: dataOf(longest(FEW)), options: options((index) => drawn.data.datasets[0].data[index])});
	const fit = () => {
		box.style.height = (4.5 + 1.35 * drawn.data.labels.length) + "rem";
	};
	fit();
	canvas.setAttribute("role", "img");
	canvas.setAttribute("aria-label", "Step time per rank / median; the table of steps has the numbers");
	shown.push(drawn);
	if (field.ranks.length > FEW) {
		drawButton(section, (nr) => {
			drawn.data = dataOf(longest(nr));
			fit();
			drawn.update("none");
		});
	}
}

function heat(parent) {
	if (!field) {
		return;
	}
	const section = make("section", parent, null, "wide"), nr_left = field.nr_ranks - field.ranks.length;
	make("h3", section, "Step time per rank / median");
	if (!hasCharts) {
		make("p", section, "This heat map needs Chart.js, which gprof-report was built without. summary --view steps prints it as text.", "note");
		return;
	}
	drawCells(section);
	drawLegend(section);
	make("p", section, [field.per_cell > 1 ? "Each cell is the longest of " + field.per_cell + " steps." : "", "Median: " + one(field.median_ns, "time") + ".",
		nr_left ? nr_left + " faster ranks are not shown." : ""].filter(Boolean).join(" "), "note");
}

return {heat, hasField: !!field};
})();
