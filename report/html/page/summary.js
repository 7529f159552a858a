/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages of a summary of `reduce`: many ranks, without their streams. Their data are the tables of `summary --format json`
 * of the summary. pages.js provides the functions that draw.
 */
"use strict";

const reducedOf = ({make, one, data, rowsOf, who, charts, chart, stack, topBars, card, headline, stepCard, heat, breakdownParts, aboutPage}) => {
const processes = rowsOf("processes"), many = data.page.processes + (data.page.processes === 1 ? " process" : " processes");

/* The row with that name of a table over processes. */
function over(key, name) {
	return rowsOf(key).find((row) => row.name === name);
}

function rankOf(rank) {
	return rank === "" ? "" : " (" + (/^\d+$/.test(rank) ? "rank " + rank : rank) + ")";
}

/* The minimum, median and maximum across processes. */
function spreadCard(parent, title, row) {
	if (row) {
		card(parent, title, one(row.median_ns, "time"), ["per step, median of " + row.processes + " processes",
			"min " + one(row.min_ns, "time") + rankOf(row.min_rank), "max " + one(row.max_ns, "time") + rankOf(row.max_rank)]);
	}
}

function wholeCard(parent) {
	const {incomplete, missing} = data.page, left = data.processes.rows_left_out || 0;
	const worlds = new Set(processes.map((row) => row.world_size).filter((world) => world !== null));
	card(parent, "Data", incomplete ? "INCOMPLETE" : "complete", [many + (worlds.size === 1 ? ", world size " + [...worlds][0] : ""),
		missing ? missing.toLocaleString("en-US") + " events missing" : "no events missing",
		incomplete ? incomplete + (incomplete === 1 ? " process" : " processes") + " incomplete; see Processes" : "", left ? "tables have the first " + processes.length + " processes" : ""], incomplete ? "bad" : "good");
}

/* A table over processes as bars, three for each row. */
function spreadBars(parent, title, key, type, unit) {
	const rows = rowsOf(key);
	chart(parent, title, {kind: "bars", type, labels: rows.map((row) => row.name), note: data[key] && data[key].note,
		series: [["Min", "min_"], ["Median", "median_"], ["Max", "max_"]].map(([name, column]) => ({name, values: rows.map((row) => row[column + unit])}))});
}

function overview(parent) {
	headline(parent);
	const cards = make("div", parent, null, "cards");
	stepCard(cards);
	spreadCard(cards, "Computing", over("breakdown_over_processes", "Kernel"));
	spreadCard(cards, "Exposed communication", over("breakdown_over_processes", "Communication"));
	wholeCard(cards);
	const grid = charts(parent);
	heat(grid);
	spreadBars(grid, "Step time breakdown, across processes", "breakdown_over_processes", "time", "ns");
	topBars(grid, "Top kernels by total time of all processes", "kernel", "name", "total_ns", 8);
}

function steps(parent) {
	const rows = rowsOf("steps");
	chart(parent, "Step time across processes", {kind: "line", type: "time", axis: "step", labels: rows.map((row) => String(row.step)),
		series: [["Min", "min_ns"], ["Median", "median_ns"], ["Max", "max_ns"]].map(([name, column]) => ({name, values: rows.map((row) => row[column])}))});
	heat(parent);
}

function distributed(parent) {
	spreadBars(parent, "Mean step, across processes", "distributed_over_processes", "time", "ns");
	stack(parent, "Step time breakdown, mean per process", "breakdown", (row) => who(row) || "pid " + row.pid, breakdownParts, {isAcross: true, hashes: null, rows: rowsOf("breakdown").slice(0, 64)});
	topBars(parent, "NCCL operations by kernel time of all ranks", "communication", "name", "time_ns");
}

const tops = (title, key) => (parent) => topBars(parent, title, key, "name", "total_ns", 15);

return {
	who: many + (processes.length && processes[0].command !== "?" ? ", first: " + processes[0].command : "") + " (summary by reduce)",
	pages: [
		["overview", "Overview", overview, []],
		["steps", "Steps", steps, ["steps"]],
		["distributed", "Ranks", distributed, ["distributed_over_processes", "breakdown_over_processes", "distributed", "breakdown", "communication", "collectives"]],
		["operators", "Operators", tops("Top operators by total time", "operator"), ["operator"]],
		["kernels", "Kernels", tops("Top kernels by total time", "kernel"), ["kernel"]],
		["copies", "Copies", tops("Memcpy time by kind", "memcpy"), ["memcpy", "memset"]],
		["memory", "Memory", (parent) => spreadBars(parent, "Memory peaks, across processes", "memory_over_processes", "size", "bytes"), ["memory_over_processes", "memory"]],
		["api", "API", tops("Top API calls by total time", "api"), ["api"]],
		["nvtx", "NVTX", tops("Top NVTX ranges by total time", "nvtx"), ["nvtx"]],
		["losses", "Processes", null, ["processes"]],
		["about", "About", aboutPage, []],
	],
};
};
