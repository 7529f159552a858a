/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory by category over time, and the largest blocks at the time of a click.
 */
"use strict";

const pageMemory = (() => {
const {make, prose, addProse, unitOf, one} = pageText, {rowsOf, columnsOf, isMany, rowsByProcess, who} = pageData;
const {hasCharts, shown, css, ink, dim, line} = pageChart, {drawTable} = pageTable, {colorOf} = pagePalette;
/* Columns and their colours. */
const CATEGORIES = [["parameters_bytes", "memory-parameter"], ["gradients_bytes", "memory-gradient"], ["optimizer_state_bytes", "memory-optimizer"],
	["activations_bytes", "memory-activation"], ["inputs_bytes", "memory-input"], ["temporary_bytes", "memory-temporary"], ["other_bytes", "memory-other"],
	["unknown_bytes", "frame"]];

function hasCategories(row) {
	return CATEGORIES.some(([id]) => row[id] !== null);
}

function isInUse(block, ns) {
	return block.allocation_ns <= ns && (block.release_ns === null || block.release_ns > ns);
}

/* Below the charts: the largest blocks in use in that memory at the time of a row of its curve. */
function showBlocks(place, row) {
	const own = (block) => block.pid === row.pid && block.rank === row.rank && block.place === row.device && isInUse(block, row.time_ns);
	const bytes = rowsOf("memory_blocks").filter(own).reduce((sum, block) => sum + block.bytes, 0);
	place.replaceChildren();
	const section = drawTable(place, "memory_blocks", own), heading = section.firstChild; /* of a table, or of a line that there is none */
	section.id = "blocks-then";
	heading.replaceChildren();
	addProse(heading, "Largest blocks in use at " + one(row.time_ns, "time") + ", " + row.device + (isMany ? ", " + who(row) : ""));
	heading.after(prose("p", null, one(bytes, "size") + " of " + one(row.allocated_bytes, "size") + " in use. Click the chart for another time.", "note"));
}

/* Where the chart begins: where a first step, with all before it, takes more than half of the time, behind it. */
function beginOf(rows) {
	const ends = rows.filter((row) => row.step !== null), last = rows[rows.length - 1].time_ns;
	return ends.length > 2 && ends[0].time_ns > last / 2 ? ends[0] : null;
}

/* A chart of all categories of a memory of a process, stacked. */
function stackOf(parent, rows, blocks) {
	const title = "Memory by category over time, " + rows[0].device + (isMany ? ", " + who(rows[0]) : "");
	const section = make("section", parent, null, "wide");
	make("h3", section, title);
	if (!hasCharts) {
		make("p", section, "This chart needs Chart.js, which gprof-report was built without. The table memory-curve has the numbers.", "note");
		return;
	}
	const begin = beginOf(rows), size = unitOf("size", rows.map((row) => row.allocated_bytes), 1), time = unitOf("time", rows.map((row) => row.time_ns), 1);
	const titles = new Map(columnsOf("memory_curve").map((column) => [column.id, column.title]));
	const canvas = make("canvas", make("div", section, null, "canvas"));
	canvas.setAttribute("role", "img");
	canvas.setAttribute("aria-label", title + "; the table has the numbers");
	const curve = (name, id, color, more) => ({label: name, data: rows.map((row) => ({x: row.time_ns / time[1], y: row[id] / size[1]})),
		stepped: true, borderColor: color, borderWidth: 1, pointRadius: 0, ...more});
	const datasets = CATEGORIES.map(([id, color]) => curve(titles.get(id), id, colorOf(color), {backgroundColor: colorOf(color), fill: true, stack: "categories"}))
		.filter((set) => set.data.some((point) => point.y));
	if (rows.some((row) => row.reserved_bytes !== null)) {
		datasets.push(curve("Reserved", "reserved_bytes", ink, {fill: false, stack: "reserved", borderDash: [5, 3], borderWidth: 2, backgroundColor: "transparent"}));
	}
	const linear = (text, more) => ({type: "linear", title: {display: true, text, color: dim}, ticks: {color: dim}, grid: {color: line}, ...more});
	shown.push(new Chart(canvas, {type: "line", data: {datasets}, options: {
		animation: false, responsive: true, maintainAspectRatio: false, interaction: {mode: "index", axis: "x", intersect: false},
		scales: {x: linear(time[0] + " since the start of the recording", {grid: {display: false}, min: begin ? begin.time_ns / time[1] : undefined, max: rows[rows.length - 1].time_ns / time[1]}), y: linear(size[0], {stacked: true, beginAtZero: true})},
		onClick: (event, items) => items.length && showBlocks(blocks, rows[items[0].index]),
		onHover: (event, items) => {
			event.native.target.style.cursor = items.length ? "pointer" : "";
		},
		plugins: {legend: {position: "bottom", labels: {color: ink, boxWidth: 12}}, tooltip: {callbacks: {
			title: (items) => (items.length ? one(rows[items[0].dataIndex].time_ns, "time") + ", " + one(rows[items[0].dataIndex].allocated_bytes, "size") + " in use" : ""),
			label: (item) => item.dataset.label + ": " + one(item.raw.y * size[1], "size"),
		}}},
	}}));
	make("p", section, "Stacked, by what the memory is for. Click a time for its largest blocks." +
		(begin ? " The chart begins at the end of step " + begin.step + "; the table has what is before." : ""), "note");
}

/* GPUs first. The blocks of the highest peak are there from the start. */
function memoryCategories(parent) {
	const charts = make("div", parent, null, "charts"), blocks = make("div", parent);
	const groups = [];
	for (const own of rowsByProcess(rowsOf("memory_curve").filter(hasCategories)).values()) {
		for (const device of new Set(own.map((row) => row.device))) {
			groups.push(own.filter((row) => row.device === device));
		}
	}
	const peakOf = (rows) => rows.reduce((most, row) => (row.allocated_bytes > most.allocated_bytes ? row : most), rows[0]);
	groups.sort((a, b) => peakOf(b).allocated_bytes - peakOf(a).allocated_bytes);
	for (const rows of groups.slice(0, 8)) {
		stackOf(charts, rows, blocks);
	}
	if (groups.length) {
		showBlocks(blocks, peakOf(groups[0]));
	}
}

return {memoryCategories, hasCategories};
})();
