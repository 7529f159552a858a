/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The roofline of a GPU: operators and kernels by arithmetic intensity and FLOP/s, below what memory and arithmetic units allow.
 */
"use strict";

const pageRoofline = (() => {
const {make, one, short} = pageText, {rowsOf} = pageData, {rowsHash} = pageLink;
const {hasCharts, shown, ink, dim, line, leading} = pageChart, {colorOf, listOf} = pagePalette;

/* 1234e9: "1.23 T" */
function large(value) {
	const [factor, name] = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]].find(([each]) => value >= each) || [1, ""];
	return Number((value / factor).toPrecision(3)) + " " + name;
}

function hashOfRow(row) {
	return row.kind === "kernel" ? rowsHash("kernels", "kernel", "name", row.name) : rowsHash("operators", "operator", "name", row.name);
}

/* The roof of each type with a known peak: along the memory's slope to its own height. */
function roofsOf(rows, from, to) {
	const roofs = new Map();
	for (const row of rows.filter((each) => each.peak_flops_per_s !== null && each.peak_bytes_per_s !== null)) {
		const ridge = row.peak_flops_per_s / row.peak_bytes_per_s;
		const at = (x) => ({x, y: Math.min(row.peak_flops_per_s, x * row.peak_bytes_per_s)});
		roofs.set(row.type + " " + row.peak_flops_per_s + " " + row.peak_bytes_per_s, {name: row.type + ": " + large(row.peak_flops_per_s) + "FLOP/s, " + large(row.peak_bytes_per_s) + "B/s",
			points: [...new Set([from, Math.min(Math.max(ridge, from), to), to])].map(at)});
	}
	return [...roofs.values()];
}

function tipOf(row) {
	return [large(row.flops_per_byte) + "FLOPs/B, " + large(row.flops_per_s) + "FLOP/s, " + large(row.bytes_per_s) + "B/s",
		(row.roof_pct === null ? "roof not known" : row.roof_pct.toFixed(1) + " % of the roof, bound by " + row.bound) + ", " + row.type,
		one(row.gpu_total_ns, "time") + " in " + row.calls.toLocaleString("en-US") + " calls"];
}

/* The area of a point is the share of its time. */
function radius(row, most) {
	return 3 + 13 * Math.sqrt(row.gpu_total_ns / most);
}

function drawRoofline(parent) {
	const rows = rowsOf("roofline").filter((row) => row.flops_per_byte > 0 && row.flops_per_s > 0);
	if (!rows.length) {
		return;
	}
	const section = make("section", parent, null, "wide");
	make("h3", section, "Roofline");
	if (!hasCharts) {
		make("p", section, "This chart needs Chart.js, which gprof-report was built without. The table has the numbers.", "note");
		return;
	}
	const most = Math.max(...rows.map((row) => row.gpu_total_ns)), all = rows.map((row) => row.flops_per_byte);
	const from = Math.min(...all) / 3, to = Math.max(...all, ...rows.map((row) => (row.peak_flops_per_s === null ? 0 : 3 * row.peak_flops_per_s / row.peak_bytes_per_s))) * 3;
	const canvas = make("canvas", make("div", section, null, "canvas tall")), colors = listOf("series");
	canvas.setAttribute("role", "img");
	canvas.setAttribute("aria-label", "Roofline; the table has the numbers");
	const points = (label, kind, color, style) => {
		const own = rows.filter((row) => row.kind === kind);
		return {label, rows: own, data: own.map((row) => ({x: row.flops_per_byte, y: row.flops_per_s})), backgroundColor: color + "b0", borderColor: color,
			pointStyle: style, pointRadius: own.map((row) => radius(row, most)), pointHoverRadius: own.map((row) => radius(row, most) + 2), showLine: false};
	};
	const roofs = roofsOf(rows, from, to).map((roof, i) => ({label: roof.name, data: roof.points, showLine: true, borderColor: colors[(5 + 3 * i) % colors.length], pointStyle: "line",
		backgroundColor: "transparent", borderWidth: 2, pointRadius: 0, pointHitRadius: 0, borderDash: i ? [6, 3] : []}));
	const datasets = [points("Operators", "operator", colorOf("operator"), "circle"), points("Kernels", "kernel", colorOf("kernel"), "rectRot"), ...roofs].filter((set) => set.data.length);
	const scale = (text) => ({type: "logarithmic", title: {display: true, text, color: dim}, grid: {color: (tick) => (tick.tick && tick.tick.label ? line() : "transparent")},
		ticks: {color: dim, autoSkip: false, maxRotation: 0, callback: (value) => (Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-6 ? large(value) : null)}});
	shown.push(new Chart(canvas, {type: "scatter", data: {datasets}, options: {
		animation: false, responsive: true, maintainAspectRatio: false,
		scales: {x: {...scale("FLOPs per byte"), min: from, max: to}, y: {...scale("FLOP/s"), suggestedMax: 2 * Math.max(...rows.map((row) => Math.max(row.flops_per_s, row.peak_flops_per_s)))}},
		...leading((index, set) => (datasets[set].rows ? hashOfRow(datasets[set].rows[index]) : null)),
		plugins: {legend: {position: "bottom", labels: {color: ink, boxWidth: 12, usePointStyle: true}}, tooltip: {filter: (item) => item.dataset.rows, callbacks: {
			title: (items) => items.map((item) => short(item.dataset.rows[item.dataIndex].name, 60)).join("\n"),
			label: (item) => tipOf(item.dataset.rows[item.dataIndex]),
		}}},
	}}));
	make("p", section, "Areas are GPU times. Click a point for its row.", "note");
	const unknown = rows.filter((row) => row.roof_pct === null).length;
	if (unknown) {
		make("p", section, unknown + " of " + rows.length + " rows have no roof: the peaks of their GPU or type are not known.", "note");
	}
}

return {drawRoofline};
})();
