/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the page is about: the tables of `summary --format json` and, under `page`, what columns are called.
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

/* Rows that lie in no other one: what lies in one is counted there. */
function outerRows(key) {
	const levels = shapes[key] && shapes[key].levels;
	return rowsOf(key).filter((row, i) => !levels || levels[i] === 0);
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

/* Those that a row may be of: in containers several ranks have the same pid. */
function processesOf(row) {
	const same = byPid.get(row.pid) || [];
	return row.rank === undefined ? same : same.filter((each) => each.rank === row.rank);
}

/* What a process is called in addresses; null if a row may be of several. */
function keyOf(row) {
	const own = processesOf(row), same = byPid.get(row.pid) || [];
	if (own.length > 1) {
		return null;
	}
	return same.length > own.length ? row.pid + "." + (own[0] || row).rank : String(row.pid);
}

/* The rows of each process, those that may be of several left out. */
function rowsByProcess(rows) {
	const groups = new Map();
	for (const row of rows.filter((each) => keyOf(each) !== null)) {
		groups.set(keyOf(row), (groups.get(keyOf(row)) || []).concat(row));
	}
	return groups;
}

/* Which process a row is of, where there are several. */
function who(row) {
	const own = processesOf(row), rank = row.rank ?? (own.length === 1 ? own[0].rank : null);
	return !isMany ? "" : rank !== null ? "rank " + rank : "pid " + row.pid;
}

function stepLabel(row) {
	const isMean = row.step === "average";
	return [isMean ? (isMany ? "" : "mean") : String(row.step), who(row)].filter(Boolean).join(", ");
}

return {data, shapes, rowsOf, columnsOf, outerRows, mean, isMany, keyOf, rowsByProcess, who, stepLabel};
})();
