/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages that compare two runs: whether B is slower than A, what takes longer in it, and whether the difference is
 * significant. Their data are the tables of `diff --format json`. pages.js provides the functions that draw and link.
 */
"use strict";

const diffOf = ({make, one, rowsOf, chart, charts, card, addLink, hashOf, short, shownName, aboutPage, pair}) => {
const sections = [["step", "Steps"], ["phase", "Phases"], ["operator", "Operators"], ["kernel", "Kernels"], ["copy", "Copies"]];
const words = {step_time: "Step time", run_time: "Run time", kernel_time: "Sum of kernel times", copy_time: "Sum of memcpy and memset times"};
const MOST_CHANGES = 10; /* of each direction */
const sides = rowsOf("sides"), isOfSteps = sides.every((row) => row.steps !== null);

function signed(value) {
	return (value < 0 ? "−" : "+") + one(Math.abs(value), "time");
}

function percent(row) {
	return row.change_pct === null ? "" : " (" + (row.change_pct < 0 ? "−" : "+") + Math.abs(row.change_pct).toFixed(1) + " %)";
}

function significance(row) {
	const p = row.p === null || row.p === undefined ? "" : row.p < .001 ? " (p < 0.001)" : " (p = " + row.p.toFixed(3) + ")";
	return (row.significance === "unknown" ? "significance unknown" : row.significance) + p;
}

/* Growth is bad, shrinking is good; only significant changes get a colour. */
function mood(row) {
	return row.significance !== "significant" ? "" : row.change_ns > 0 ? "bad" : "good";
}

function stepCards(parent) {
	for (const row of rowsOf("step").slice(0, 6)) {
		card(parent, words[row.name] || row.name, signed(row.change_ns) + percent(row),
			["A " + one(row.a_ns, "time") + ", B " + one(row.b_ns, "time") + (isOfSteps ? " per step" : ""), significance(row)], mood(row));
	}
}

const results = {passed: ["passed", "B is not slower than A", "good"], FAILED: ["FAILED", "B is slower than A", "bad"],
	inconclusive: ["inconclusive", "the runs are too short or too noisy to tell whether B is slower", ""]};

/* Is B slower? The first line of the page is the condition `step_time>0%` of `diff`. */
function verdict(parent) {
	const [row] = rowsOf("checks"), step = row && rowsOf("step").find((each) => each.name === row.name);
	if (!step) {
		return;
	}
	const section = make("section", parent, null, "headline"), list = make("dl", section), [word, meaning, tone] = results[row.result] || ["not judged", "", ""];
	const add = (name, text, className) => {
		make("dt", list, name);
		make("dd", list, text, className);
	};
	section.id = "verdict";
	section.prepend(make("h3", null, words[row.name] + ": A " + one(step.a_ns, "time") + " → B " + one(step.b_ns, "time") + ", mean" + (isOfSteps ? " per step" : "")));
	add("Result", word + ": " + meaning + " (" + row.condition + ")", tone);
	add("Change", signed(row.change_ns) + percent(row) + (row.by === "median" ? ", the median of the differences between steps of B and A" : ", of the means"));
	add("99 % interval", row.change_low_ns === null ? "n/a: the runs have too few steps" : signed(row.change_low_ns) + " to " + signed(row.change_high_ns));
	add("p", row.p === null ? "n/a: significance needs two steps on each side" : (row.p < .001 ? "< 0.001" : row.p.toFixed(3)) + (row.by === "median" ? ", Mann-Whitney test" : ", Welch's t-test"));
}

/* Where else a thing can be seen. Phases are neither in timelines nor in flame graphs. */
function addViews(item, row) {
	if (row.key === "phase") {
		return;
	}
	const links = make("span", item, " ", "links");
	addLink(links, "timelines", hashOf("timelines", "", "", "", '"' + row.name + '"'));
	addLink(links, "flame graph", hashOf("flame", row.key === "operator" ? ".cpu" : ".gpu", "", row.name));
}

/* The significant changes of all sections, by the time that they cost: first what takes longer in B. */
function changes(parent) {
	const rows = sections.slice(1).flatMap(([key, title]) => rowsOf(key).filter((row) => row.significance === "significant").map((row) => ({...row, key, title})));
	const section = make("section", parent, null, "wide");
	section.id = "changes";
	make("h3", section, "Significant changes");
	if (!rows.length) {
		make("p", section, rowsOf("step").some((row) => row.significance !== "unknown") ? "None" : "n/a: significance needs two steps on each side", "note");
		return;
	}
	for (const [title, sign] of [["Slower in B", 1], ["Faster in B", -1]]) {
		const own = rows.filter((row) => sign * row.change_ns > 0).sort((a, b) => sign * (b.change_ns - a.change_ns));
		if (!own.length) {
			continue;
		}
		make("h4", section, title + (own.length > MOST_CHANGES ? ": the " + MOST_CHANGES + " largest of " + own.length : ""));
		const list = make("ol", section, null, "advice");
		for (const row of own.slice(0, MOST_CHANGES)) {
			const item = make("li", list), what = make("strong", item, signed(row.change_ns) + percent(row), mood(row));
			what.title = significance(row);
			item.append(" — ");
			addLink(item, short(shownName(row.name), 80), hashOf(row.key, row.key, '"' + row.name + '"')).title = row.name;
			make("span", item, ", " + row.title.toLowerCase() + (row.match === "new" ? ", only in B" : row.match === "gone" ? ", only in A" : ""));
			addViews(item, row);
		}
	}
	make("p", section, "Changes do not add up: phases contain operators.", "note");
}

/* Bars of A and B, side by side. */
function beside(parent, title, key, nr) {
	const rows = rowsOf(key).slice(0, nr);
	chart(parent, title, {kind: "bars", type: "time", labels: rows.map((row) => words[row.name] || row.name || "(no name)"),
		series: [{name: "A", values: rows.map((row) => row.a_ns)}, {name: "B", values: rows.map((row) => row.b_ns)}]});
}

function overview(parent) {
	verdict(parent);
	stepCards(make("div", parent, null, "cards"));
	const grid = charts(parent);
	changes(grid);
	beside(grid, isOfSteps ? "Phases, mean per step" : "Phases", "phase", 12);
	beside(grid, "Kernels with the largest change", "kernel", 10);
	beside(grid, "Operators with the largest change in self time", "operator", 10);
}

return {
	who: sides.map((row) => row.side + ": " + row.path).join(", "),
	pages: [
		["overview", "Overview", overview, ["sides", "step", "checks"]],
		["timelines", "Timelines", (parent) => pair.drawRuns(make("div", parent)), []],
		["flame", "Flame graph", (parent) => pageFlame.drawDiff(parent, isOfSteps && sides.every((row) => row.steps) ? sides.map((row) => row.steps) : null), []],
		...sections.slice(1).map(([key, title]) => [key, title, (parent) => beside(parent, "Largest changes", key, 20), [key]]),
		["about", "About", aboutPage, []],
	],
};
};
