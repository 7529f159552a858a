/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps: their times, and the parts of one step.
 */
"use strict";

const pageStep = (() => {
const {make, one} = pageText, {data, rowsOf, keyOf, rowsByProcess, who} = pageData, {hashOf, stepHash, addLink} = pageLink;
const {drawTable} = pageTable, {chart, charts, stack} = pageChart;

const breakdownParts = [["kernel_ns", "kernels"], ["memcpy_ns", "copies"], ["memset_ns", "sets"], ["communication_ns", "communication alone"],
	["runtime_ns", "CUDA calls"], ["dataloader_ns", "data loader"], ["cpu_exec_ns", "operators on the CPU"], ["other_ns", "other"]];

function stepTimes(parent) {
	const groups = [...rowsByProcess(rowsOf("steps")).values()].slice(0, 16);
	const rows = rowsOf("steps").filter((row) => row.duration_ns !== null);
	const steps = [...new Set(rows.map((row) => row.step))].sort((a, b) => a - b);
	if (steps.length < 2) {
		return;
	}
	const hashes = steps.map((step) => stepHash(rows.reduce((most, row) => (row.step === step && (!most || row.duration_ns > most.duration_ns) ? row : most), null)));
	chart(parent, "Time of each step", {kind: "line", type: "time", axis: "step", labels: steps.map(String), hashes, series: groups.map((group) => {
		const own = new Map(group.map((row) => [row.step, row.duration_ns]));
		return {name: who(group[0]) || "step", values: steps.map((step) => own.get(step) ?? null)};
	})});
}

/* The page of one step: its parts beside the mean, and the rows of tables about it. Returns its title. */
function stepPage(parent, timeline, key, step) {
	const isOfProcess = (row) => keyOf(row) === key, isOf = (row) => isOfProcess(row) && String(row.step) === step;
	const row = rowsOf("breakdown").find(isOf), average = rowsOf("breakdown").find((each) => isOfProcess(each) && each.step === "average");
	const all = [...new Set(rowsOf("steps").filter(isOfProcess).map((each) => String(each.step)))];
	const tools = make("p", parent, null, "links"), at = all.indexOf(step);
	addLink(tools, "all steps", "#steps");
	for (const [text, other] of [["step before", all[at - 1]], ["step after", at < 0 ? undefined : all[at + 1]]]) {
		if (other !== undefined) {
			addLink(tools, text, hashOf("step", key, other));
		}
	}
	if (at >= 0 && !timeline.isEmpty) {
		addLink(tools, "timeline", timeline.hashOf("step", key, step));
	}
	if (row) {
		const both = [row, average].filter(Boolean);
		stack(charts(parent), "Where the time of this step went", "breakdown", (each) => (each === row ? "this step" : "mean"), breakdownParts,
			{rows: both, isAcross: true, note: data.breakdown.note});
		partsTable(parent, row, average);
	} else if (at >= 0) {
		make("p", parent, "Its begin or its end is not known, or no table has where its time went.", "note");
	} else {
		make("p", parent, "This page has no such step.", "note");
	}
	for (const table of ["steps", "data_loading_steps", "breakdown"]) {
		if (rowsOf(table).some(isOf)) {
			drawTable(parent, table, "", isOf);
		}
	}
	return ["Step " + step, who(rowsOf("processes").find(isOfProcess) || {pid: key})].filter(Boolean).join(", ");
}

function partsTable(parent, row, average) {
	const section = make("section", parent), table = make("table", make("div", section, null, "scroll"));
	const head = make("tr", make("thead", table)), body = make("tbody", table);
	section.id = "parts";
	section.prepend(make("h3", null, "Its parts" + (average ? ", and those of the mean step" : "")));
	for (const title of ["Part", "Time", "% of the step", ...(average ? ["Mean", "More than the mean"] : [])]) {
		make("th", head, title, title === "Part" ? "text" : "").scope = "col";
	}
	const parts = [...breakdownParts, ["total_ns", "the step"]].filter(([id]) => row[id] || (average && average[id]));
	for (const [id, name] of parts) {
		const line = make("tr", body), difference = average ? row[id] - average[id] : 0;
		make("td", line, name, "text");
		make("td", line, one(row[id], "time"));
		const share = make("td", line, (100 * row[id] / row.total_ns).toFixed(2), "share");
		share.style.backgroundSize = 100 * row[id] / row.total_ns + "% 75%";
		if (average) {
			make("td", line, one(average[id], "time"));
			make("td", line, (difference < 0 ? "−" : "+") + one(Math.abs(difference), "time"));
		}
	}
}

return {breakdownParts, stepTimes, stepPage};
})();
