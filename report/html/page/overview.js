/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first screen: step time and its breakdown, findings, the overhead of profiling, and whether the data are complete.
 */
"use strict";

const pageOverview = (() => {
const {make, prose, one} = pageText, {data, shapes, rowsOf, mean, isManyLoops, who, stepLabel} = pageData;
const {charts, stack, topBars, operatorTypes} = pageChart, {breakdownParts, breakdownNote, stepTimes} = pageStep;

function card(parent, title, value, lines, mood) {
	const element = make("div", parent, null, "card");
	make("h3", element, title);
	make("b", element, value, [mood, value.length > 12 ? "words" : ""].filter(Boolean).join(" "));
	for (const line of lines.filter(Boolean)) {
		prose("p", element, line);
	}
}

/* The lines of the first screen as gprof-report prints them: what ran, figures with their names, findings. */
function headline(parent) {
	const lines = shapes.headline && shapes.headline.figure;
	if (!lines) {
		return;
	}
	const section = make("section", parent, null, "headline"), isFinding = (line) => /^\d\. /.test(line);
	prose("h3", section, lines[0]);
	const list = make("dl", section);
	for (const line of lines.slice(1).filter((each) => !isFinding(each))) {
		const [, name, text] = line.match(/^(\w+):?\s+(.*)$/) || ["", "", "", line];
		make("dt", list, name, /^(INCOMPLETE|HUNG)$/.test(name) ? "bad" : "");
		prose("dd", list, text);
	}
	const findings = make("ol", section);
	lines.filter(isFinding).forEach((line) => prose("li", findings, line.slice(3)));
}

function stepCard(parent) {
	const [row] = rowsOf("headline");
	if (!row || row.median_ns === null) {
		card(parent, "Step time", "n/a", ["no complete step recorded", "GPROF_STEP defines the steps"]);
		return;
	}
	const change = row.trend_pct === null ? "" : "last third vs. first third: " + (row.trend_pct >= 0 ? "+" : "−") + Math.abs(row.trend_pct).toFixed(1) + " %";
	card(parent, "Step time", one(row.median_ns, "time"), ["median of " + row.steps + (row.steps === 1 ? " step" : " steps") + (row.ranks > 1 ? " of " + row.ranks + " ranks" : "") +
		(row.warm_up_steps ? ", without " + row.warm_up_steps + " to warm up" : "") +
		(row.outlier_steps ? ", without " + row.outlier_steps + (row.outlier_steps === 1 ? " outlier" : " outliers") : ""),
		"mean " + one(row.mean_ns, "time") + ", p99 " + one(row.p99_ns, "time"), change]);
}

function deviceCards(parent) {
	const use = rowsOf("gpu_summary"), all = rowsOf("device");
	const ofGpus = (rows) => (rows.length > 1 ? "mean of " + rows.length + " GPUs" : rows.length ? rows[0].name : "");
	if (use.length) {
		const hasSteps = rowsOf("breakdown").some((row) => row.step !== "all");
		card(parent, "GPU utilization", one(mean(use.map((row) => row.utilization_pct)), "percent"),
			["of " + (hasSteps ? "the steps and the pauses between them" : "the recording") + " with a kernel running",
				rowsOf("headline").some((row) => row.warm_up_steps || row.outlier_steps) ? "warm-up steps and outliers excluded" : "", ofGpus(use)]);
	} else if (all.length) {
		card(parent, "GPU busy", one(mean(all.map((row) => row.busy_pct)), "percent"),
			["of the time from the first to the last GPU activity, copies included", ofGpus(all)]);
	}
	const occupancy = mean(use.map((row) => row.occupancy_pct)), unknown = mean(use.map((row) => row.unknown_tensor_pct)), used = mean(use.map((row) => row.tensor_pct));
	if (occupancy !== null) {
		card(parent, "Est. achieved occupancy", one(occupancy, "percent"), ["of maximum warps per SM, weighted by kernel time",
			"estimated SM efficiency: " + one(mean(use.map((row) => row.sm_efficiency_pct)), "percent")]);
	}
	if (unknown !== null && unknown <= 50) {
		card(parent, "Tensor cores", one(used, "percent"), ["of kernel time, by kernel names", unknown ? "unknown for " + one(unknown, "percent") : ""]);
	}
}

function overheadCard(parent) {
	const sum = (rows) => rows.reduce((all, row) => all + row.total_ns, 0);
	const own = rowsOf("overhead").filter((row) => row.name.startsWith("gprof: "));
	const others = rowsOf("overhead").filter((row) => !row.name.startsWith("gprof: "));
	const span = rowsOf("processes").reduce((all, row) => all + (row.duration_ns || 0), 0);
	if (own.length) {
		card(parent, "Profiler overhead", one(sum(own), "time"),
			[span ? (100 * sum(own) / span).toFixed(2) + " % of one core (CPU time of gprof's threads)" : "", others.length ? "CUPTI: " + one(sum(others), "time") : ""]);
	}
}

function wholeCard(parent) {
	const processes = rowsOf("processes");
	const missing = processes.reduce((sum, row) => sum + (row.missing || 0), 0);
	const bad = processes.filter((row) => row.state !== "complete").length, left = data.processes.rows_left_out || 0;
	card(parent, "Data", bad || missing ? "INCOMPLETE" : "complete",
		[processes.reduce((sum, row) => sum + row.events, 0).toLocaleString("en-US") + " events of " + processes.length + (processes.length === 1 ? " process" : " processes"),
			missing ? missing.toLocaleString("en-US") + " events missing" : bad ? "" : "no events missing",
			bad ? bad + (bad === 1 ? " process" : " processes") + " incomplete; see Overhead and losses" : "", left ? left + " more processes not shown (--top)" : ""], bad || missing ? "bad" : "good");
}

/* Steps that waited for data, by what delayed them. */
function loadingCard(parent) {
	const rows = rowsOf("data_loading_steps"), delayed = rows.filter((row) => row.delayed === "yes"), causes = new Map();
	if (rows.length) {
		delayed.forEach((row) => causes.set(row.stage, (causes.get(row.stage) || 0) + 1));
		card(parent, "Data loading", delayed.length + " of " + rows.length, ["steps delayed", ...[...causes].map(([cause, nr]) => (cause || "cause unknown") + (causes.size > 1 ? ": " + nr + (nr === 1 ? " step" : " steps") : ""))], delayed.length ? "bad" : "good");
	}
}

/* The newest run beside the one before. */
function historyCard(parent) {
	const rows = rowsOf("history"), last = rows[rows.length - 1];
	if (last) {
		const isChange = last.significance === "slower" || last.significance === "faster", before = rows[rows.length - 2];
		const change = last.change_pct === null ? "no steps to compare"
			: isChange ? "steps are " + one(Math.abs(last.change_pct), "percent") + " " + last.significance + " than in run " + before.run
			: "no significant change of steps since run " + before.run;
		card(parent, "History", rows.length + " runs", [change, "see History"], last.significance === "slower" ? "bad" : last.significance === "faster" ? "good" : "");
	}
}

function timelineCard(parent) {
	const rows = rowsOf("timeline_summary"), sum = (id) => rows.reduce((all, row) => all + row[id], 0);
	const count = (id, one, many = one + "s") => (sum(id) ? sum(id).toLocaleString("en-US") + " " + (sum(id) === 1 ? one : many) : "");
	const line = (id, ...counts) => [...counts, sum(id) ? one(sum(id), "time") : ""].filter(Boolean).join(", ");
	/* Processes may run the same operators: their numbers do not add up. */
	const operators = rows.length === 1 ? [count("operators", "operator"), count("calls", "call")] : [count("calls", "call of an operator", "calls of operators")];
	if (rows.length) {
		card(parent, "Timeline", one(Math.max(...rows.map((row) => row.span_ns || 0)), "time"), [
			line("operators_ns", ...operators),
			line("gpu_ns", count("streams", "stream"), count("activities", "GPU activity", "GPU activities"))]);
	}
}

/* The last processes that hung for a while. */
function hangCard(parent) {
	const hangs = rowsOf("hang").filter((row) => row.what === "hang");
	if (hangs.length) {
		const lines = hangs.slice(-3).map((row) => who(row) + ": " + row.name + ", " + row.where + ", " + row.state);
		card(parent, "Hangs", String(hangs.length), [...lines, "see Distributed"], "bad");
	}
}

/* What would make the run faster, and where; of the table `advice` also the rules that are evidence of it. */
function findingList(parent, rows) {
	const list = make("ol", parent, null, "advice");
	let item;
	for (const row of rows) {
		if (row.rule) {
			const tool = row.source.split(":")[0], rule = row.rule + (tool === "gprof" ? "" : " of " + tool);
			prose("p", item, row.finding + ": " + row.evidence + " [" + [rule, who(row)].filter(Boolean).join(", ") + "]");
			prose("p", item, "Try: " + row.try, "note");
			continue;
		}
		item = make("li", list);
		prose("strong", item, row.sentence || row.finding);
		if (row.places || row.sites) {
			prose("p", item, "Where: " + (row.places || row.sites));
		}
	}
	return rows.length;
}

function overviewPage(parent) {
	headline(parent);
	const cards = make("div", parent, null, "cards");
	stepCard(cards);
	deviceCards(cards);
	overheadCard(cards);
	wholeCard(cards);
	timelineCard(cards);
	loadingCard(cards);
	historyCard(cards);
	hangCard(cards);
	const isMean = (row) => row.step === "average", rows = rowsOf("breakdown");
	const grid = charts(parent);
	stack(grid, isManyLoops ? "Step time breakdown, mean per process" : "Step time breakdown", "breakdown", stepLabel, breakdownParts,
		{rows: isManyLoops ? rows.filter(isMean) : rows.slice(0, 61), axis: isManyLoops ? "" : "step", note: breakdownNote()});
	const section = make("section", grid);
	make("h3", section, "Top findings");
	if (findingList(section, rowsOf("findings").slice(0, 3))) {
		make("a", make("p", section), "All findings").href = "#advice";
	} else {
		make("p", section, "No findings", "note");
	}
	stepTimes(grid);
	operatorTypes(grid);
	topBars(grid, "Top kernels by total time", "kernel", "name", "total_ns", 8);
}

return {card, headline, stepCard, findingList, overviewPage};
})();
