/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page's data: the tables of `summary --format json` and, under `page`, the titles of their columns.
 */
"use strict";

const pageData = (() => {
const data = JSON.parse(document.getElementById("data").textContent);
const shapes = data.page.tables;

function rowsOf(key) {
	return data[key] ? data[key].rows : [];
}

function columnsOf(key) {
	return shapes[key].columns.map(([id, title, type, isWide]) => ({id, title, type, isWide: !!isWide}));
}

/* Rows of the top level: they include the rows in them. */
function outerRows(key) {
	const levels = shapes[key] && shapes[key].levels;
	return rowsOf(key).filter((row, i) => !levels || levels[i] === 0);
}

/* Short names of kernels, as text has them. */
const shortNames = new Map();
(shapes.kernel && shapes.kernel.short_names || []).forEach((name, i) => name && shortNames.set(data.kernel.rows[i].name, name));

/* How a value is shown where there is room for a short name alone. */
function shownName(value) {
	return shortNames.get(value) || value;
}

/* What a search for words looks in. */
function searchedText(value) {
	const name = shownName(value);
	return (name === value ? String(value) : value + "\n" + name).toLowerCase();
}

function mean(values) {
	const known = values.filter((value) => value !== null && value !== undefined);
	return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
}

const isMany = rowsOf("processes").length > 1;

const byPid = new Map();
for (const row of rowsOf("processes")) {
	byPid.set(row.pid, (byPid.get(row.pid) || []).concat(row));
}

/* The processes that a row may belong to: in containers several ranks have the same pid. */
function processesOf(row) {
	const same = byPid.get(row.pid) || [];
	return row.rank === undefined ? same : same.filter((each) => each.rank === row.rank);
}

/* The key of a process in addresses; null if a row may belong to several. */
function keyOf(row) {
	const own = processesOf(row), same = byPid.get(row.pid) || [];
	if (own.length > 1) {
		return null;
	}
	return same.length > own.length ? row.pid + "." + (own[0] || row).rank : String(row.pid);
}

/* The rows of each process, without rows that may belong to several. */
function rowsByProcess(rows) {
	const groups = new Map();
	for (const row of rows.filter((each) => keyOf(each) !== null)) {
		groups.set(keyOf(row), (groups.get(keyOf(row)) || []).concat(row));
	}
	return groups;
}

/* The process of a row, where there are several. */
function who(row) {
	const own = processesOf(row), rank = row.rank ?? (own.length === 1 ? own[0].rank : null);
	return !isMany ? "" : rank !== null ? "rank " + rank : "pid " + row.pid;
}

/* Loader workers and launchers have no steps, so in most runs only one process has some. */
const loops = new Set(rowsOf("steps").map(keyOf)), isManyLoops = isMany && (loops.size !== 1 || loops.has(null));

function stepLabel(row) {
	const name = isManyLoops || !loops.has(keyOf(row)) ? who(row) : "";
	return [row.step === "average" ? (name ? "" : "Mean") : String(row.step), name].filter(Boolean).join(", ");
}

return {data, shapes, rowsOf, columnsOf, outerRows, shownName, searchedText, mean, isMany, isManyLoops, keyOf, rowsByProcess, who, stepLabel};
})();
