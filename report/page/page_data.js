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

const ranks = new Map(rowsOf("processes").map((row) => [row.pid, row.rank]));

/* Which process a row is of, where there are several. */
function who(row) {
	const rank = row.rank ?? ranks.get(row.pid) ?? null;
	return !isMany ? "" : rank !== null ? "rank " + rank : "pid " + row.pid;
}

function stepLabel(row) {
	const isMean = row.step === "average";
	return [isMean ? (isMany ? "" : "mean") : String(row.step), who(row)].filter(Boolean).join(", ");
}

return {data, shapes, rowsOf, columnsOf, outerRows, mean, isMany, who, stepLabel};
})();
