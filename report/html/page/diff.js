/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages that compare two runs: whether B is faster or slower than A, what changed most, and whether the difference is
 * significant. Their data are the tables of `diff --format json`. pages.js provides the functions that draw and link.
 */
"use strict";

const diffOf = ({make, prose, one, rowsOf, chart, charts, card, addLink, hashOf, short, shownName, aboutPage, pair, pathsApart}) => {
const sections = [["step", "Steps"], ["phase", "Phases"], ["operator", "Operators"], ["kernel", "Kernels"], ["copy", "Copies"]];
const words = {step_time: "Step time", run_time: "Run time", kernel_time: "Sum of kernel times", copy_time: "Sum of memcpy and memset times"};
const MOST_CHANGES = 15;
const sides = rowsOf("sides"), isOfSteps = sides.every((row) => row.steps !== null);

function signed(value) {
	return (value < 0 ? "−" : "+") + one(Math.abs(value), "time");
}

function percent(row) {
	return row.change_pct === null ? "" : " (" + (row.change_pct < 0 ? "−" : "+") + Math.abs(row.change_pct).toFixed(1) + " %)";
}

function significance(row) {
	const p = row.p === null || row.p === undefined ? "" : row.p < .01 ? " (p < 0.01)" : " (p = " + row.p.toFixed(2) + ")";
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

const [answer] = rowsOf("answer");

/* The first lines of the page are those of `diff`. */
function verdict(parent) {
	const section = make("section", parent, null, "headline"), list = make("dl", section);
	section.id = "verdict";
	section.prepend(prose("h3", null, answer.answer.replaceAll(" -> ", " → ")));
	if (answer.low_ns !== null) {
		make("dt", list, "99 % interval");
		prose("dd", list, signed(answer.low_ns) + " to " + signed(answer.high_ns) + " per step");
	}
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

/* The significant changes of all sections, by their size. */
function changes(parent) {
	const rows = sections.slice(1).flatMap(([key, title]) => rowsOf(key).filter((row) => row.significance === "significant").map((row) => ({...row, key, title})));
	const section = make("section", parent, null, "wide");
	section.id = "changes";
	make("h3", section, "Significant changes");
	if (!rows.length) {
		make("p", section, rowsOf("step").some((row) => row.significance !== "unknown") ? "None" : "n/a: significance needs two steps on each side", "note");
		return;
	}
	rows.sort((a, b) => Math.abs(b.change_ns) - Math.abs(a.change_ns));
	if (rows.length > MOST_CHANGES) {
		make("h4", section, "The " + MOST_CHANGES + " largest of " + rows.length);
	}
	const list = make("ol", section, null, "advice");
	for (const row of rows.slice(0, MOST_CHANGES)) {
		const item = make("li", list), what = make("strong", item, signed(row.change_ns) + percent(row), mood(row));
		what.title = significance(row);
		item.append(" — ");
		addLink(item, short(shownName(row.name), 80), hashOf(row.key, row.key, '"' + row.name + '"')).title = row.name;
		make("span", item, ", " + row.title.toLowerCase() + (row.match === "new" ? ", only in B" : row.match === "gone" ? ", only in A" : ""));
		addViews(item, row);
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
	who: pathsApart(sides.map((row) => row.path)).map((path, i) => sides[i].side + ": " + path).join(", "),
	pages: [
		["overview", "Overview", overview, ["answer", "sides", "step"]],
		["timelines", "Timelines", (parent) => pair.drawRuns(make("div", parent)), []],
		["flame", "Flame graph", (parent) => pageFlame.drawDiff(parent, isOfSteps && sides.every((row) => row.steps) ? sides.map((row) => row.steps + row.excluded) : null), []],
		...sections.slice(1).map(([key, title]) => [key, title, (parent) => beside(parent, "Largest changes", key, 20), [key]]),
		["about", "About", aboutPage, []],
	],
};
};
