/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables with sorting, search and nested rows.
 */
"use strict";

const pageTable = (() => {
const {make, unitOf, show, sentence} = pageText, {data, shapes, rowsOf, columnsOf} = pageData, {valueLinks, rowLinks, addLink} = pageLink;
const ROWS = 25;

/* Rows as a tree: the parent of a row is the last row before it with a lower level. */
function treeOf(rows, levels) {
	const top = [], open = [];
	rows.forEach((row, i) => {
		const node = {row, level: levels ? levels[i] : 0, inner: []};
		while (open.length && open[open.length - 1].level >= node.level) {
			open.pop();
		}
		(open.length ? open[open.length - 1].inner : top).push(node);
		open.push(node);
	});
	return top;
}

function compare(a, b, rises) {
	const none = (value) => value === null || value === undefined;
	if (none(a) || none(b)) {
		return none(a) - none(b); /* unknown values come last in both orders */
	}
	const order = typeof a === "number" ? a - b : a < b ? -1 : a > b;
	return rises ? order : -order;
}

function flatten(nodes, sort, fits, out) {
	const order = sort.id ? [...nodes].sort((a, b) => compare(a.row[sort.id], b.row[sort.id], sort.rises)) : nodes;
	for (const node of order) {
		const at = out.length;
		out.push(node);
		flatten(node.inner, sort, fits, out);
		if (out.length === at + 1 && !fits(node.row)) {
			out.pop();
		}
	}
	return out;
}

/* The columns that are read most come first, visible without scrolling. */
const front = {
	kernel: ["name", "share_pct", "total_ns", "calls", "avg_ns", "occupancy_pct", "limit", "tensor_cores"],
	kernel_operator: ["name", "operator", "share_pct", "total_ns", "calls", "avg_ns", "occupancy_pct", "limit", "tensor_cores"],
	operator_types: ["type", "share_pct", "time_avg_ns", "total_ns", "calls"],
	single_operators: ["full_name", "type", "side", "share_pct", "time_avg_ns", "total_ns", "calls"],
	memcpy: ["name", "share_pct", "total_ns", "calls", "total_bytes", "bytes_per_s"],
	"idle_gaps": ["cause", "duration_ns", "activity", "host_op", "host_call"],
};

/* Names come first. Columns without a known value appear only with all columns. */
function chooseColumns(key, rows, isAll) {
	const columns = columnsOf(key).filter((column) => isAll ||
		((!column.isWide || (front[key] && front[key].includes(column.id))) && (!rows.length || rows.some((row) => row[column.id] !== null && row[column.id] !== ""))));
	const find = (id) => columns.find((column) => column.id === id);
	const name = ["name", "stack", "cause", "part", "role", "metric", "rule", "command"].map(find).find(Boolean);
	const first = front[key] ? front[key].map(find).filter(Boolean) : name ? [name] : [];
	return [...first, ...columns.filter((column) => !first.includes(column))];
}

function fillLinks(cell, key, row) {
	cell.className = "links";
	for (const [text, hash] of rowLinks[key]) {
		const address = hash(row);
		if (address) {
			addLink(cell, text, address);
		}
	}
}

function fillCell(cell, column, node, isFirst, key) {
	const value = node.row[column.id], link = valueLinks[key + " " + column.id] || valueLinks[column.id];
	const address = link ? link(node.row) : null;
	cell.textContent = address ? "" : show(value, column.type, column.unit);
	if (address) {
		addLink(cell, show(value, column.type, column.unit), address);
	}
	if (column.type === "text") {
		cell.className = "text";
		cell.title = String(value);
		if (isFirst && node.level) {
			cell.style.paddingLeft = (.65 + 1.1 * node.level) + "rem";
		}
	} else if (value === null) {
		cell.className = "unknown";
		cell.title = "n/a";
	} else if (column.id.startsWith("change_")) {
		cell.className = node.row.significance !== "significant" ? "" : value > 0 ? "bad" : "good";
		cell.textContent = (value > 0 ? "+" : "") + cell.textContent;
	} else if (column.type === "percent") {
		cell.className = "share";
		cell.style.backgroundSize = Math.max(0, Math.min(100, value)) + "% 75%";
	}
}

/* A row must contain all words; in quotes, it must have the value. */
function finder(text) {
	const whole = text.trim(), words = whole.toLowerCase().split(/\s+/).filter(Boolean);
	if (whole.length > 1 && whole.startsWith('"') && whole.endsWith('"')) {
		return (row, columns) => columns.some((column) => String(row[column.id]) === whole.slice(1, -1));
	}
	return (row, columns) => words.every((word) => columns.some((column) => String(row[column.id]).toLowerCase().includes(word)));
}

/* query: the initial search. keep: selects the rows of the table. */
function drawTable(parent, key, query = "", keep = null) {
	const table = keep ? {...data[key], rows: rowsOf(key).filter(keep), rows_left_out: 0} : data[key];
	const section = make("section", parent), levels = keep ? null : shapes[key].levels;
	const tree = treeOf(table.rows, levels), sort = {id: null, rises: false};
	let limit = ROWS, fits = finder(query), isAll = false;
	section.id = "table-" + key;
	make("h3", section, table.title);
	if (!table.rows.length) {
		section.className = "empty";
		make("p", section, "No rows", "note");
		if (table.note) {
			make("p", section, sentence(table.note), "note");
		}
		return section;
	}
	if (shapes[key].help && sentence(shapes[key].help) !== table.title) {
		make("p", section, sentence(shapes[key].help), "note");
	}
	const tools = make("div", section, null, "tools"), search = make("input", tools);
	search.type = "search";
	search.placeholder = "Search";
	search.value = query;
	search.title = 'Finds rows that contain all words, or a whole value "in quotes"';
	search.setAttribute("aria-label", "Search " + table.title);
	const all = make("button", tools, "All columns");
	all.setAttribute("aria-pressed", "false");
	const count = make("span", tools);
	count.setAttribute("role", "status");
	const scroll = make("div", section, null, "scroll"), element = make("table", scroll);
	const more = make("button", section, "More rows");
	if (table.note) {
		make("p", section, sentence(table.note), "note");
	}

	function fill() {
		const columns = chooseColumns(key, table.rows, isAll);
		const found = flatten(tree, sort, (row) => fits(row, columns), []);
		const hasLinks = rowLinks[key] && table.rows.some((row) => rowLinks[key].some(([, hash]) => hash(row)));
		element.replaceChildren();
		make("caption", element).hidden = true;
		const head = make("tr", make("thead", element)), body = make("tbody", element);
		for (const column of columns) {
			column.unit = unitOf(column.type, table.rows.map((row) => row[column.id]));
			const cell = make("th", head, null, column.type === "text" ? "text" : "");
			const button = make("button", cell, column.title + (column.unit ? " (" + column.unit[0] + ")" : ""));
			cell.scope = "col";
			if (sort.id === column.id) {
				cell.setAttribute("aria-sort", sort.rises ? "ascending" : "descending");
			}
			button.addEventListener("click", () => {
				sort.rises = sort.id === column.id ? !sort.rises : column.type === "text" || column.type === "id";
				sort.id = column.id;
				fill();
				element.querySelector("th[aria-sort] button").focus();
			});
		}
		for (const node of found.slice(0, limit)) {
			const row = make("tr", body);
			columns.forEach((column, i) => fillCell(make("td", row), column, node, i === 0, key));
			if (hasLinks) {
				fillLinks(row.insertCell(1), key, node.row);
			}
		}
		if (hasLinks) {
			const cell = make("th", null, "Go to", "links");
			cell.scope = "col";
			head.cells[0].after(cell);
		}
		count.textContent = Math.min(limit, found.length) + " of " + found.length + (found.length < table.rows.length ? " matching rows, " + table.rows.length + " in all" : " rows") +
			(table.rows_left_out ? "; " + table.rows_left_out.toLocaleString("en-US") + " more not in this page (--top)" : "");
		more.hidden = limit >= found.length;
	}
	element.addEventListener("click", (event) => {
		const cell = event.target.closest("a") ? null : event.target.closest("td.text");
		if (cell && !String(getSelection())) {
			cell.classList.toggle("open");
		}
	});
	search.addEventListener("input", () => {
		fits = finder(search.value);
		limit = ROWS;
		fill();
	});
	all.addEventListener("click", () => {
		isAll = !isAll;
		all.setAttribute("aria-pressed", String(isAll));
		all.textContent = isAll ? "Fewer columns" : "All columns";
		fill();
	});
	more.addEventListener("click", () => {
		limit = limit * 8;
		fill();
	});
	fill();
	return section;
}

return {drawTable};
})();
