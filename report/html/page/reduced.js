/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages of a summary of `reduce`: many ranks, without their streams. Their data are the tables of `summary --format json`
 * of the summary. page.js provides the functions that draw.
 */
"use strict";

const reducedOf = ({make, one, data, rowsOf, who, charts, chart, stack, topBars, card, heat, breakdownParts, aboutPage}) => {
const processes = rowsOf("processes"), many = data.page.processes + (data.page.processes === 1 ? " process" : " processes");

/* The row with that name of a table over processes. */
function over(key, name) {
	return rowsOf(key).find((row) => row.name === name);
}

function rankOf(rank) {
	return rank === "" ? "" : " (" + (/^\d+$/.test(rank) ? "rank " + rank : rank) + ")";
}

/* The minimum, median and maximum over processes. */
function spreadCard(parent, title, row) {
	if (row) {
		card(parent, title, one(row.median_ns, "time"), ["median of " + row.processes + " processes, mean of the steps of each",
			"least " + one(row.min_ns, "time") + rankOf(row.min_rank), "most " + one(row.max_ns, "time") + rankOf(row.max_rank)]);
	}
}

function wholeCard(parent) {
	const {incomplete, missing} = data.page, left = data.processes.rows_left_out || 0;
	const worlds = new Set(processes.map((row) => row.world_size).filter((world) => world !== null));
	card(parent, "Data", incomplete ? "INCOMPLETE" : "complete", [many + (worlds.size === 1 ? " of a job of " + [...worlds][0] : ""),
		missing ? missing.toLocaleString("en-US") + " events are missing" : "no event is known to be missing",
		incomplete ? incomplete + " not whole; see Processes" : "", left ? "tables have the first " + processes.length + " of them" : ""], incomplete ? "bad" : "good");
}

/* A table over processes as bars, three for each row. */
function spreadBars(parent, title, key, type, unit) {
	const rows = rowsOf(key);
	chart(parent, title, {kind: "bars", type, labels: rows.map((row) => row.name), note: data[key] && data[key].note,
		series: [["least", "min_"], ["median", "median_"], ["most", "max_"]].map(([name, column]) => ({name, values: rows.map((row) => row[column + unit])}))});
}

function overview(parent) {
	const cards = make("div", parent, null, "cards");
	spreadCard(cards, "Step time", over("distributed_over_processes", "Duration"));
	spreadCard(cards, "Computation", over("distributed_over_processes", "Computation"));
	spreadCard(cards, "Communication", over("distributed_over_processes", "Communication"));
	wholeCard(cards);
	const grid = charts(parent);
	heat(grid);
	spreadBars(grid, "Where the time of a step went, over processes", "breakdown_over_processes", "time", "ns");
	topBars(grid, "Kernels, total time of all processes", "kernel", "name", "total_ns", 8);
}

function steps(parent) {
	const rows = rowsOf("steps");
	chart(parent, "Time of each step", {kind: "line", type: "time", axis: "step", labels: rows.map((row) => String(row.step)),
		series: [["least", "min_ns"], ["median", "median_ns"], ["most", "max_ns"]].map(([name, column]) => ({name, values: rows.map((row) => row[column])}))});
	heat(parent);
}

function distributed(parent) {
	spreadBars(parent, "Mean step, over processes", "distributed_over_processes", "time", "ns");
	stack(parent, "Where the time of a step went, mean of each process", "breakdown", (row) => who(row) || "pid " + row.pid, breakdownParts, {isAcross: true, hashes: null, rows: rowsOf("breakdown").slice(0, 64)});
	topBars(parent, "NCCL's operations, kernels of all ranks", "communication", "name", "time_ns");
}

const tops = (title, key) => (parent) => topBars(parent, title, key, "name", "total_ns", 15);

return {
	who: many + (processes.length && processes[0].command !== "?" ? ", the first is " + processes[0].command : "") + "; a summary of reduce",
	pages: [
		["overview", "Overview", overview, []],
		["steps", "Steps", steps, ["steps"]],
		["distributed", "Ranks", distributed, ["distributed_over_processes", "breakdown_over_processes", "distributed", "breakdown", "communication", "collectives"]],
		["operators", "Operators", tops("Total time of all processes", "operator"), ["operator"]],
		["kernels", "Kernels", tops("Total time of all processes", "kernel"), ["kernel"]],
		["copies", "Copies", tops("Total time of all processes", "memcpy"), ["memcpy", "memset"]],
		["memory", "Memory", (parent) => spreadBars(parent, "Peaks over processes", "memory_over_processes", "size", "bytes"), ["memory_over_processes", "memory"]],
		["api", "API", tops("Total time of all processes", "api"), ["api"]],
		["nvtx", "NVTX", tops("Total time of all processes", "nvtx"), ["nvtx"]],
		["losses", "Processes", null, ["processes"]],
		["about", "About", aboutPage, []],
	],
};
};
