/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables with sorting, search and nested rows that fold. The address has their state, and their rows can be copied.
 */
"use strict";

const pageTable = (() => {
const {make, prose, addProse, unitOf, show, sentence, shortStack} = pageText, {data, shapes, rowsOf, columnsOf, shownName, searchedText} = pageData;
const {hashOf, partsOfHash, valueLinks, rowLinks, addLink} = pageLink, {addExport} = pageExport;
const ROWS = 25;
const LEVELS = " .:-=+*#%@"; /* of the view utilization */

/* ---- state in the address ---- */

/*
 * Behind the parts that name the page, the address has three for each table that the user changed: its key, the search, and
 * options such as "by.total_ns~all~rows.200~folds.all~fold.3.7": all rows are folded but for these two.
 */
let page = null; /* the parts that name the page; null if its address has no tables */
const states = new Map();

/* Reads the address of a page that `nr` parts name. Returns the first table that it names. */
function readAddress(nr) {
	const parts = partsOfHash();
	page = nr ? [parts[0] || "overview", ...parts.slice(1, nr)] : null;
	states.clear();
	for (let i = nr; nr && i < parts.length; i += 3) {
		const state = stateOf(parts[i], parts[i + 1]);
		for (const word of (parts[i + 2] || "").split("~")) {
			const [option, ...values] = word.split(".");
			if (option === "by" || option === "up") {
				state.sort = {id: values[0], rises: option === "up"};
			} else if (option === "folds") {
				state.folds = values[0];
			} else if (option === "fold") {
				state.toggled = new Set(values.map(Number));
			} else if (option === "rows") {
				state.limit = Math.max(ROWS, Number(values[0]) || 0);
			} else if (option === "all") {
				state.isAll = true;
			}
		}
	}
	return nr ? parts[nr] : undefined;
}

/* Rules that do not apply are not shown at first. */
const firstRows = (key, query) => (key === "advice" && !query && rowsOf(key).filter((row) => row.verdict === "finding").length) || ROWS;

/* The state of a table, which the address may have. */
function stateOf(key, query = "") {
	if (!states.has(key)) {
		states.set(key, {query, sort: {id: null, rises: false}, isAll: false, limit: firstRows(key, query), folds: "", toggled: new Set()});
	}
	return states.get(key);
}

function optionsOf({sort, isAll, limit, folds, toggled}) {
	return [sort.id ? (sort.rises ? "up." : "by.") + sort.id : "", isAll ? "all" : "", limit > ROWS ? "rows." + limit : "", folds && "folds." + folds,
		toggled.size ? "fold." + [...toggled].join(".") : ""]
		.filter(Boolean).join("~");
}

function writeAddress() {
	if (page) {
		const {dataset} = document.getElementById("main"), isDrawn = dataset.drawn === location.hash, parts = [...page];
		for (const [key, state] of states) {
			if (state.query || optionsOf(state)) {
				parts.push(key, state.query, optionsOf(state));
			}
		}
		history.replaceState(null, "", hashOf(...parts));
		if (isDrawn) {
			dataset.drawn = location.hash;
		}
	}
}

/* ---- rows ---- */

/* Rows as a tree: the parent of a row is the last row before it with a lower level. */
function treeOf(rows, levels) {
	const top = [], open = [];
	rows.forEach((row, i) => {
		const node = {row, i, level: levels ? levels[i] : 0, inner: []};
		while (open.length && open[open.length - 1].level >= node.level) {
			open.pop();
		}
		(open.length ? open[open.length - 1].inner : top).push(node);
		open.push(node);
	});
	return top;
}

/* What makes a row a large one: of several times, that of GPUs. */
const sizes = ["gpu_total_ns", "total_ns", "duration_ns", "at_peak_bytes"];

/* At first the largest rows are open, as long as no more than ROWS rows are shown. */
function openLargest(top) {
	const size = (node) => sizes.reduce((most, id) => most || node.row[id] || 0, 0), queue = [...top];
	for (let nr = top.length; queue.length;) {
		const [node] = queue.splice(queue.reduce((best, each, i) => (size(each) > size(queue[best]) ? i : best), 0), 1);
		if (nr + node.inner.length <= ROWS) {
			node.isOpen = true;
			nr += node.inner.length;
			queue.push(...node.inner);
		}
	}
}

function isFolded(state, node) {
	return (state.folds ? state.folds === "all" : !node.isOpen) !== state.toggled.has(node.i);
}

/* All columns have room for whole names. */
function named(state, value, id) {
	return state.isAll ? value : id === "stack" && value ? shortStack(value) : shownName(value);
}

function compare(a, b, rises) {
	const none = (value) => value === null || value === undefined;
	if (none(a) || none(b)) {
		return none(a) - none(b); /* unknown values come last in both orders */
	}
	const order = typeof a === "number" ? a - b : a < b ? -1 : a > b;
	return rises ? order : -order;
}

/* Rows in their order, without those in folded rows. */
function flatten(nodes, state, fits, holdsRows, out = []) {
	const {id, rises} = state.sort;
	const order = id ? [...nodes].sort((a, b) => compare(named(state, a.row[id]), named(state, b.row[id]), rises)) : nodes;
	for (const node of order) {
		const at = out.length;
		out.push(node);
		if (holdsRows(node)) {
			flatten(node.inner, state, fits, holdsRows, out);
		}
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
	module: ["name", "class", "share_pct", "gpu_total_ns", "gpu_self_ns", "total_ns", "self_ns", "flops", "allocated_bytes", "kept_bytes", "calls"],
	utilization: ["metric", "device", "avg", "max", "min", "unit", "curve", "samples"],
	locks: ["name", "share_pct", "total_ns", "calls", "avg_ns", "holder", "site"],
	compiled_kernels: ["name", "operators"],
	"idle_gaps": ["cause", "duration_ns", "activity", "host_op", "host_call"],
};

/* Names come first. Columns without a known value appear only with all columns. */
function chooseColumns(key, rows, isAll) {
	const columns = columnsOf(key).filter((column) => isAll ||
		((!column.isWide || (front[key] && front[key].includes(column.id))) && (!rows.length || rows.some((row) => row[column.id] !== null && row[column.id] !== ""))));
	const find = (id) => columns.find((column) => column.id === id);
	const name = ["name", "stack", "cause", "part", "role", "metric", "rule", "command", "stage"].map(find).find(Boolean);
	const first = front[key] ? front[key].map(find).filter(Boolean) : name ? [name] : [];
	const all = [...first, ...columns.filter((column) => !first.includes(column))], main = all.findIndex((column) => isMeasure(column));
	if (isNarrow.matches && all[0].type === "text" && main > 1) {
		all.splice(1, 0, ...all.splice(main, 1));
	}
	return all;
}

/* In a narrow window the main number stands beside the name. */
const isNarrow = matchMedia("(max-width: 50rem)"), isMeasure = (column) => !["text", "id"].includes(column.type);

/* Tables whose columns do not all fit say that they scroll. */
const watcher = new ResizeObserver((entries) => entries.forEach(({target}) => showClipped(target.closest(".scroll"))));

function showClipped(scroll) {
	scroll.classList.toggle("clipped", scroll.scrollLeft + scroll.clientWidth < scroll.scrollWidth - 1);
}

/* The curve of values that a text shows as characters, the lowest first. */
function fillCurve(cell, text) {
	const space = "http://www.w3.org/2000/svg", curve = document.createElementNS(space, "svg"), line = document.createElementNS(space, "path"), most = LEVELS.length - 1;
	const points = [...text].map((each, i) => (i ? "L" : "M") + i + " " + (most - LEVELS.indexOf(each))).join("");
	curve.setAttribute("class", "curve");
	curve.setAttribute("viewBox", "0 0 " + Math.max(1, text.length - 1) + " " + most);
	curve.setAttribute("preserveAspectRatio", "none");
	line.setAttribute("d", points + (text.length === 1 ? "H1" : ""));
	curve.append(line);
	cell.replaceChildren(curve);
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

function fillCell(cell, column, node, isFirst, key, state) {
	const value = node.row[column.id], text = show(named(state, value, column.id), column.type, column.unit), link = valueLinks[key + " " + column.id] || valueLinks[column.id];
	const address = link ? link(node.row) : null;
	cell.textContent = address ? "" : text;
	if (address) {
		addLink(cell, text, address);
	}
	if (column.id === "stack") {
		cell.dataset.whole = value;
	}
	if (column.id === "curve" && value) {
		fillCurve(cell, value);
	} else if (column.type === "text") {
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
	return (row, columns) => words.every((word) => columns.some((column) => searchedText(row[column.id]).includes(word)));
}

/* The table as it is shown, for a spreadsheet: all rows that the search finds, in their order. */
function shownText(columns, nodes, state) {
	return [columns.map((column) => column.title + (column.unit ? " (" + column.unit[0] + ")" : "")),
		...nodes.map((node) => columns.map((column) => (node.row[column.id] === null ? "" : show(named(state, node.row[column.id]), column.type, column.unit))))];
}

/* As in `summary --format csv`: keys with units, plain numbers. */
function rawValues(key, nodes) {
	const columns = columnsOf(key);
	return [columns.map((column) => column.id), ...nodes.map((node) => columns.map((column) => node.row[column.id]))];
}

/* A button before the name of a row with rows inside; others have room for one. */
function addFold(cell, node, state, fill) {
	const button = make(node.inner.length ? "button" : "span", null, null, "fold"), isOpen = !isFolded(state, node);
	cell.prepend(button);
	if (!node.inner.length) {
		return;
	}
	button.setAttribute("aria-expanded", String(isOpen));
	button.setAttribute("aria-label", "Rows inside");
	button.addEventListener("click", () => {
		state.toggled[state.toggled.has(node.i) ? "delete" : "add"](node.i);
		fill();
		document.getElementById("main").querySelector("[data-row='" + node.i + "'] .fold").focus();
	});
}

/* keep: selects the rows of the table. A table without rows is one line. */
function drawTable(parent, key, keep = null) {
	const table = keep ? {...data[key], rows: rowsOf(key).filter(keep), rows_left_out: 0} : data[key];
	if (!table.rows.length) {
		const line = make("p", parent, null, "note");
		line.id = "table-" + key;
		make("b", line, table.title + ": ");
		addProse(line, "no rows" + (table.note ? ". " + sentence(table.note) : ""));
		return line;
	}
	const section = make("section", parent), state = stateOf(key), tree = treeOf(table.rows, keep ? null : shapes[key].levels);
	const canFold = tree.length < table.rows.length;
	let fits = finder(state.query), columns = [], found = [];
	openLargest(tree);
	section.id = "table-" + key;
	make("h3", section, table.title);
	if (shapes[key].help && sentence(shapes[key].help) !== table.title) {
		prose("p", section, sentence(shapes[key].help), "note");
	}
	const tools = make("div", section, null, "tools"), search = make("input", tools);
	search.type = "search";
	search.placeholder = "Search (/)";
	search.value = state.query;
	search.title = 'Finds rows that contain all words, or a whole value "in quotes"';
	search.setAttribute("aria-label", "Search " + table.title);
	const all = make("button", tools);
	const folds = canFold ? make("button", tools) : null;
	addExport(tools, table.title, key, () => shownText(columns, found, state), () => rawValues(key, found));
	const count = make("span", tools);
	count.setAttribute("role", "status");
	const scroll = make("div", section, null, "scroll"), element = make("table", scroll);
	const more = make("button", section, "More rows");
	scroll.addEventListener("scroll", () => showClipped(scroll));
	watcher.observe(scroll);
	watcher.observe(element);
	if (table.note) {
		prose("p", section, sentence(table.note), "note");
	}

	function fillHead(head) {
		for (const column of columns) {
			const cell = make("th", head, null, column.type === "text" ? "text" : "");
			const button = make("button", cell, column.title + (column.unit ? " (" + column.unit[0] + ")" : ""));
			cell.scope = "col";
			if (state.sort.id === column.id) {
				cell.setAttribute("aria-sort", state.sort.rises ? "ascending" : "descending");
			}
			button.addEventListener("click", () => {
				const {id, rises} = state.sort;
				state.sort = {id: column.id, rises: id === column.id ? !rises : column.type === "text" || column.type === "id"};
				change();
				element.querySelector("th[aria-sort] button").focus();
			});
		}
	}

	function fill() {
		columns = chooseColumns(key, table.rows, state.isAll);
		for (const column of columns) {
			column.unit = unitOf(column.type, table.rows.map((row) => row[column.id]));
		}
		/* A search also finds what is folded. */
		const isSearched = state.query.trim() !== "";
		found = flatten(tree, state, (row) => fits(row, columns), (node) => isSearched || !isFolded(state, node));
		const hasLinks = rowLinks[key] && table.rows.some((row) => rowLinks[key].some(([, hash]) => hash(row)));
		const linksAt = isNarrow.matches && columns.length > 1 && isMeasure(columns[1]) ? 2 : 1;
		element.replaceChildren();
		const head = make("tr", make("thead", element)), body = make("tbody", element);
		fillHead(head);
		for (const node of found.slice(0, state.limit)) {
			const row = make("tr", body);
			columns.forEach((column, i) => fillCell(make("td", row), column, node, i === 0, key, state));
			if (hasLinks) {
				fillLinks(row.insertCell(linksAt), key, node.row);
			}
			if (canFold && columns[0].type === "text") {
				row.dataset.row = node.i;
				addFold(row.cells[0], node, state, change);
			}
		}
		if (hasLinks) {
			const cell = make("th", null, "Go to", "links");
			cell.scope = "col";
			head.cells[linksAt - 1].after(cell);
		}
		all.setAttribute("aria-pressed", String(state.isAll));
		all.textContent = state.isAll ? "Fewer columns" : "All columns";
		const nr = table.rows.length, nrHidden = nr - found.length;
		count.textContent = Math.min(state.limit, found.length) + " of " + (isSearched && nrHidden ? found.length + " matching rows, " + nr + " in all" : nr + " rows") +
			(!isSearched && nrHidden ? ", " + nrHidden + " of them folded" : "") +
			(table.rows_left_out ? "; " + table.rows_left_out.toLocaleString("en-US") + " more not in this page (--top)" : "");
		more.hidden = state.limit >= found.length;
		if (canFold) {
			folds.textContent = nrHidden ? "Unfold all" : "Fold all";
			folds.disabled = isSearched;
		}
	}

	function change() {
		fill();
		writeAddress();
	}
	element.addEventListener("click", (event) => {
		const cell = event.target.closest("a, button") ? null : event.target.closest("td.text");
		if (cell && !String(getSelection())) {
			cell.classList.toggle("open");
			if (cell.dataset.whole && !cell.querySelector("*")) {
				cell.textContent = cell.classList.contains("open") ? cell.dataset.whole : shortStack(cell.dataset.whole);
			}
		}
	});
	search.addEventListener("input", () => {
		state.query = search.value;
		fits = finder(state.query);
		state.limit = ROWS;
		change();
	});
	all.addEventListener("click", () => {
		state.isAll = !state.isAll;
		change();
	});
	if (canFold) {
		folds.addEventListener("click", () => {
			state.folds = found.length < table.rows.length ? "none" : "all";
			state.toggled.clear();
			change();
		});
	}
	more.addEventListener("click", () => {
		state.limit = 8 * Math.max(state.limit, ROWS);
		change();
	});
	fill();
	return section;
}

return {readAddress, drawTable};
})();
