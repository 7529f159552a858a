/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps: their times, and the breakdown of one step.
 */
"use strict";

const pageStep = (() => {
const {make, one} = pageText, {data, rowsOf, keyOf, rowsByProcess, who} = pageData, {hashOf, stepHash, addLink} = pageLink;
const {drawTable} = pageTable, {addExport, linesOf} = pageExport, {chart, charts, stack} = pageChart;

const breakdownParts = [["kernel_ns", "Kernels", "kernel"], ["memcpy_ns", "Memcpy", "memcpy"], ["memset_ns", "Memset", "memset"],
	["communication_ns", "Exposed communication", "communication"], ["runtime_ns", "CUDA API calls", "api"], ["dataloader_ns", "Data loader", "loader"],
	["cpu_exec_ns", "CPU operators", "operator"], ["other_ns", "Other", "other"]];

function stepTimes(parent) {
	const groups = [...rowsByProcess(rowsOf("steps")).values()].slice(0, 16);
	/* In a damaged stream a step may have no number, and so no place on the axis. */
	const rows = rowsOf("steps").filter((row) => row.duration_ns !== null && row.step !== null);
	const steps = [...new Set(rows.map((row) => row.step))].sort((a, b) => a - b);
	if (steps.length < 2) {
		return;
	}
	const hashes = steps.map((step) => stepHash(rows.reduce((most, row) => (row.step === step && (!most || row.duration_ns > most.duration_ns) ? row : most), null)));
	chart(parent, "Step time", {kind: "line", type: "time", axis: "step", labels: steps.map(String), hashes, series: groups.map((group) => {
		/* A damaged stream may have a step twice. */
		const own = new Map(group.filter((row) => row.duration_ns !== null).map((row) => [row.step, row.duration_ns]));
		return {name: who(group[0]) || "Step time", values: steps.map((step) => own.get(step) ?? null)};
	})});
}

/* Where the breakdown of a step is longer than the step, it says why. */
function breakdownNote() {
	const times = new Map(rowsOf("steps").filter((row) => row.duration_ns).map((row) => [keyOf(row) + " " + row.step, row.duration_ns]));
	const isLonger = rowsOf("breakdown").some((row) => row.total_ns > 1.001 * (times.get(keyOf(row) + " " + row.step) || Infinity));
	return [isLonger ? "A step ends here with the last GPU activity that it launched." : "", data.breakdown && data.breakdown.note].filter(Boolean).join(" ");
}

/* The page of one step: its breakdown beside the mean, and the rows of tables about it. Returns its title. */
function stepPage(parent, timeline, key, step) {
	const isOfProcess = (row) => keyOf(row) === key, isOf = (row) => isOfProcess(row) && String(row.step) === step;
	const row = rowsOf("breakdown").find(isOf), average = rowsOf("breakdown").find((each) => isOfProcess(each) && each.step === "average");
	const all = [...new Set(rowsOf("steps").filter(isOfProcess).map((each) => String(each.step)))];
	const tools = make("p", parent, null, "links"), at = all.indexOf(step);
	addLink(tools, "All steps", "#steps");
	for (const [text, other] of [["Previous step", all[at - 1]], ["Next step", at < 0 ? undefined : all[at + 1]]]) {
		if (other !== undefined) {
			addLink(tools, text, hashOf("step", key, other));
		}
	}
	if (at >= 0 && !timeline.isEmpty) {
		addLink(tools, "Timeline", timeline.hashOf("step", key, step));
	}
	if (row) {
		const both = [row, average].filter(Boolean);
		stack(charts(parent), "Step time breakdown", "breakdown", (each) => (each === row ? "This step" : "Mean step"), breakdownParts,
			{rows: both, isAcross: true, note: breakdownNote()});
		partsTable(parent, row, average);
	} else if (at >= 0) {
		make("p", parent, "No breakdown: the recording does not contain both ends of this step.", "note");
	} else {
		make("p", parent, "No such step in this page.", "note");
	}
	for (const table of ["steps", "data_loading_steps", "breakdown"]) {
		if (rowsOf(table).some(isOf)) {
			drawTable(parent, table, isOf);
		}
	}
	return ["Step " + step, who(rowsOf("processes").find(isOfProcess) || {pid: key})].filter(Boolean).join(", ");
}

function partsTable(parent, row, average) {
	const section = make("section", parent), table = make("table", make("div", section, null, "scroll"));
	const head = make("tr", make("thead", table)), body = make("tbody", table);
	section.id = "parts";
	const title = "Parts of the step" + (average ? ", compared with the mean step" : ""), tools = make("div", null, null, "tools");
	section.prepend(make("h3", null, title), tools);
	addExport(tools, title, "parts", () => linesOf(table));
	for (const title of ["Part", "Time", "% of step", ...(average ? ["Mean", "Difference"] : [])]) {
		make("th", head, title, title === "Part" ? "text" : "").scope = "col";
	}
	const parts = [...breakdownParts, ["total_ns", "Total"]].filter(([id]) => row[id] || (average && average[id]));
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

return {breakdownParts, breakdownNote, stepTimes, stepPage};
})();
