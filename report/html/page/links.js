/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links: the address names what the page shows.
 */
"use strict";

const pageLink = (() => {
const {make} = pageText, {rowsOf, keyOf} = pageData;

/* The address of a page, of a table in it, of a search in that table. */
function hashOf(...parts) {
	return "#" + parts.map(encodeURIComponent).join("/");
}

function partsOfHash() {
	try {
		return location.hash.slice(1).split("/").map(decodeURIComponent);
	} catch (error) {
		return []; /* no address of this page */
	}
}

const valuesOf = new Map();

/* Has any row of the table this text in that column? */
function has(key, id, value) {
	const at = key + " " + id;
	if (!valuesOf.has(at)) {
		valuesOf.set(at, new Set(rowsOf(key).map((row) => row[id])));
	}
	return value !== "" && valuesOf.get(at).has(value);
}

/* The rows of a table with this text in that column; null where there are none. */
function rowsHash(page, key, id, value) {
	return has(key, id, value) ? hashOf(page, key, '"' + value + '"') : null;
}

function kernelHash(name) {
	return rowsHash("kernels", "kernel", "name", name);
}

function operatorHash(name) {
	return rowsHash("operators", "operator", "name", name);
}

function stepHash(row) {
	const key = keyOf(row);
	return key !== null && /^\d+$/.test(row.step) ? hashOf("step", key, row.step) : null;
}

/* Values that link to what they name, by table and column, or by the column of any table. */
const valueLinks = {
	step: (row) => (row.pid === undefined ? null : stepHash(row)),
	"kernel_operator operator": (row) => operatorHash(row.operator),
	"graph_operators operator": (row) => operatorHash(row.operator),
	"kernel_operator name": (row) => kernelHash(row.name),
	"idle_gaps activity": (row) => kernelHash(row.activity),
	"idle_gaps op": (row) => operatorHash(row.op),
	"idle_gaps host_op": (row) => operatorHash(row.host_op),
	"launch name": (row) => kernelHash(row.name),
	"collectives name": (row) => kernelHash(row.name),
	"memory name": (row) => operatorHash(row.name),
	"operator_stacks name": (row) => operatorHash(row.name),
	"critical_path name": (row) => operatorHash(row.name) || kernelHash(row.name),
	"operator_types type": (row) => rowsHash("operators", "single_operators", "type", row.type),
	"single_operators full_name": (row) => operatorHash(row.name),
};

/* Further links of a row, by table: [text, address or null]. */
const rowLinks = {
	kernel: [["operators", (row) => rowsHash("kernels", "kernel_operator", "name", row.name)]],
	operator: [["kernels", (row) => rowsHash("kernels", "kernel_operator", "operator", row.name)],
		["stacks", (row) => rowsHash("operators", "operator_stacks", "name", row.name)]],
};

/* Adds such a link to the rows of tables. */
function linkRows(keys, text, hash) {
	for (const key of keys) {
		rowLinks[key] = [...(rowLinks[key] || []), [text, hash]];
	}
}

function addLink(parent, text, hash) {
	const link = make("a", parent, text);
	link.href = hash;
	return link;
}

return {hashOf, partsOfHash, rowsHash, stepHash, valueLinks, rowLinks, linkRows, addLink};
})();
