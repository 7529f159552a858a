/* SPDX-License-Identifier: Apache-2.0 */
/* Measures a selected time of the timeline: its duration, events by name, and how busy each row is. */
"use strict";

const timelineMeasureOf = (tools) => {
const {make, one} = tools;
const {firstFrom} = timelineData, {openShare} = timelineDetail;
const {kindOf, timeText} = timelineRows;
const MOST_NAMES = 12;

/* Time of merged events in [from, to), in proportion, and how many they are. */
function mergedIn(data, row, from, to) {
	let busy = 0, nr = 0;
	for (const bucket of row.buckets) {
		const share = openShare(data, row, bucket, from, to);
		busy += bucket.busy * share;
		nr += bucket.nr * share;
	}
	return {busy, nr};
}

/*
 * {names: [{name, kind, nr, total}], rows: [{line, share}], nr, nrMerged} of the rows that are shown. Times are those
 * within [from, to). A row is busy while its outermost slices last.
 */
function measure(data, lines, [from, to]) {
	const names = new Map(), rows = [];
	let nr = 0, nrMerged = 0;
	for (const line of lines) {
		let busy = 0;
		for (const row of line.track.rows) {
			const isOutermost = row.depth === 0, merged = mergedIn(data, row, from, to);
			nrMerged += merged.nr;
			busy += isOutermost ? merged.busy : 0;
			for (let i = firstFrom(row, from); i < row.nr && row.begin[i] < to; i++) {
				const category = data.sets[row.set[i]][0], key = row.name[i] + " " + category, inside = Math.max(0, Math.min(row.end[i], to) - Math.max(row.begin[i], from));
				const sum = names.get(key) || {name: row.name[i], kind: kindOf(data.categories[category]), nr: 0, total: 0};
				sum.nr++;
				sum.total += inside;
				names.set(key, sum);
				busy += isOutermost ? inside : 0;
				nr++;
			}
		}
		rows.push({line, share: Math.min(1, busy / (to - from))});
	}
	return {names: [...names.values()].sort((a, b) => b.total - a.total || b.nr - a.nr), rows, nr, nrMerged: Math.round(nrMerged)};
}

function addTable(parent, title, name, titles, rows) {
	const tool = make("div", parent, null, "tools"), table = make("table", make("div", parent, null, "scroll")), head = make("tr", make("thead", table)), body = make("tbody", table);
	titles.forEach((title, i) => make("th", head, title, i ? "" : "text"));
	for (const [first, ...others] of rows) {
		const line = make("tr", body), cell = make("td", line, null, "text");
		first(cell);
		others.forEach((text) => make("td", line, text));
	}
	tools.addExport(tool, title, name, () => tools.linesOf(table));
}

/* Writes what is in the selected time into an element. */
function showMeasure(parent, view) {
	const {data, layout, range} = view, [from, to] = range, lines = layout.filter((line) => line.isShown && line.track);
	const {names, rows, nr, nrMerged} = measure(data, lines, range), count = (number) => number.toLocaleString("en-US");
	const box = make("div", parent, null, "measure");
	make("h3", box, one(Math.round(to - from), "time") + " selected, " + count(nr) + (nr === 1 ? " event" : " events"));
	make("p", box, "From " + timeText(from, 1) + " to " + timeText(to, 1) + ", in the rows that are shown. Times are those within the selection." +
		(nrMerged ? " The names leave out about " + count(nrMerged) + " merged events." : "") + " F: zoom to it. Esc: clear.", "note");
	const tables = make("div", box, null, "tables"), byName = make("div", tables), byRow = make("div", tables);
	addTable(byName, "names", "selection-names", ["Name", "Count", "Total", "Mean"], names.slice(0, MOST_NAMES).map(({name, kind, nr, total}) => [(cell) => {
		make("i", cell).style.background = kind[2];
		cell.append(tools.short(tools.shownName(data.strings[name]), 60));
		cell.title = data.strings[name];
	}, count(nr), one(Math.round(total), "time"), one(Math.round(total / nr), "time")]));
	if (names.length > MOST_NAMES) {
		make("p", byName, "and " + count(names.length - MOST_NAMES) + " more names", "note");
	}
	addTable(byRow, "rows", "selection-rows", ["Row", "Busy (% of the selection)"], rows.map(({line, share}) => [(cell) => {
		cell.append(view.nameOf(line));
		cell.title = view.nameOf(line);
	}, (100 * share).toFixed(1)]));
}

return showMeasure;
};
