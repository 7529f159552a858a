/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page of `gprof-report html`. Its data are the tables of `summary --format json` and, under
 * `page`, what columns are called. Whatever comes from a profiled program is set as textContent,
 * title or value, never as markup.
 */
"use strict";

(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const shapes = data.page.tables;
const main = document.getElementById("main");
/* Okabe and Ito's colours, which those who see fewer colours can tell apart. */
const colors = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#5f6670", "#7722cc", "#3b7a57"];
const ROWS = 25;
/* Version 2 is another library in all but its name. */
const hasCharts = typeof Chart === "function" && parseInt(Chart.version, 10) >= 3;

/* ---- elements and numbers ---- */

function make(name, parent, text, className) {
	const element = document.createElement(name);
	if (text !== undefined && text !== null) {
		element.textContent = text;
	}
	if (className) {
		element.className = className;
	}
	if (parent) {
		parent.append(element);
	}
	return element;
}

const units = {
	time: [["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]],
	size: [["GB", 1e9], ["MB", 1e6], ["KB", 1e3], ["B", 1]],
	rate: [["GB/s", 1e9], ["MB/s", 1e6], ["KB/s", 1e3], ["B/s", 1]],
};

/* The unit that keeps most digits before the point without many of them, as in text. */
function unitOf(type, values, least = 10) {
	const list = units[type];
	if (!list) {
		return null;
	}
	let most = 0;
	for (const value of values) {
		most = Math.max(most, Math.abs(value || 0));
	}
	return list.find((unit) => most >= least * unit[1]) || list[3];
}

function show(value, type, unit) {
	if (value === null || value === undefined) {
		return "–";
	}
	if (type === "text" || type === "id") {
		return String(value);
	}
	if (type === "percent" || type === "number") {
		return Number(value).toFixed(2);
	}
	if (unit && unit[1] > 1) {
		return (value / unit[1]).toLocaleString("en-US", {minimumFractionDigits: 3, maximumFractionDigits: 3});
	}
	return Number(value).toLocaleString("en-US");
}

/* One number by itself, with its unit. */
function one(value, type) {
	const unit = unitOf(type, [value], 1);
	if (value === null || value === undefined) {
		return "unknown";
	}
	return type === "percent" ? Number(value).toFixed(1) + " %"
		: unit && unit[1] > 1 ? Number((value / unit[1]).toPrecision(4)) + " " + unit[0] : show(value, type) + (unit ? " " + unit[0] : "");
}

function rowsOf(key) {
	return data[key] ? data[key].rows : [];
}

function columnsOf(key) {
	return shapes[key].columns.map(([id, title, type, isWide]) => ({id, title, type, isWide: !!isWide}));
}

function mean(values) {
	const known = values.filter((value) => value !== null && value !== undefined);
	return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
}

/* ---- tables: sorted, searched, rows in rows ---- */

/* Rows as a tree: a row lies in the last one before of a lower level. */
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
		return none(a) - none(b); /* unknown ones last, either way */
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

/* What is looked for most stands where it is seen without scrolling. */
const front = {
	kernel: ["name", "share_pct", "total_ns", "calls", "avg_ns", "occupancy_pct", "limit", "tensor_cores"],
	kernel_operator: ["name", "operator", "share_pct", "total_ns", "calls", "avg_ns", "occupancy_pct", "limit", "tensor_cores"],
	memcpy: ["name", "share_pct", "total_ns", "calls", "total_bytes", "bytes_per_s"],
	gaps: ["cause", "duration_ns", "work", "host_op", "host_call"],
};

/* Names come first; what no row knows comes only with all columns. */
function chooseColumns(key, rows, isAll) {
	const columns = columnsOf(key).filter((column) => isAll ||
		((!column.isWide || (front[key] && front[key].includes(column.id))) && (!rows.length || rows.some((row) => row[column.id] !== null && row[column.id] !== ""))));
	const find = (id) => columns.find((column) => column.id === id);
	const name = ["name", "stack", "cause", "part", "role", "metric", "rule", "command"].map(find).find(Boolean);
	const first = front[key] ? front[key].map(find).filter(Boolean) : name ? [name] : [];
	return [...first, ...columns.filter((column) => !first.includes(column))];
}

/* ---- links: what is shown is in the address ---- */

/* The address of a page, of a table in it, of what is searched for there. */
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
	return /^\d+$/.test(row.step) ? hashOf("step", row.pid, row.step) : null;
}

/* Values that lead to what they name, by table and column, or by column of any table. */
const valueLinks = {
	step: (row) => (row.pid === undefined ? null : stepHash(row)),
	"kernel_operator operator": (row) => operatorHash(row.operator),
	"kernel_operator name": (row) => kernelHash(row.name),
	"gaps work": (row) => kernelHash(row.work),
	"gaps op": (row) => operatorHash(row.op),
	"gaps host_op": (row) => operatorHash(row.host_op),
	"launch name": (row) => kernelHash(row.name),
	"collectives name": (row) => kernelHash(row.name),
	"memory name": (row) => operatorHash(row.name),
	"critical-path name": (row) => operatorHash(row.name) || kernelHash(row.name),
	"optype name": (row) => operatorHash(row.name),
};

/* What else there is about a row, by table: [text, address or null]. */
const rowLinks = {
	kernel: [["operators", (row) => rowsHash("kernels", "kernel_operator", "name", row.name)]],
	operator: [["kernels", (row) => rowsHash("kernels", "kernel_operator", "operator", row.name)]],
};

/* Names whose slices the timeline has. */
for (const key of ["kernel", "kernel_operator", "memcpy", "memset", "operator", "api", "nvtx", "userdefined", "python", "collectives"]) {
	rowLinks[key] = [...(rowLinks[key] || []), ["timeline", (row) => timeline.hashOf("find", row.name)]];
}

function addLink(parent, text, hash) {
	const link = make("a", parent, text);
	link.href = hash;
	return link;
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
		cell.title = "unknown";
	} else if (column.id.startsWith("change_")) {
		cell.className = node.row.noise !== "beyond" ? "" : value > 0 ? "bad" : "good";
		cell.textContent = (value > 0 ? "+" : "") + cell.textContent;
	} else if (column.type === "percent") {
		cell.className = "share";
		cell.style.backgroundSize = Math.max(0, Math.min(100, value)) + "% 75%";
	}
}

/* Words that a row must have; in quotes, a value that it must have. */
function finder(text) {
	const whole = text.trim(), words = whole.toLowerCase().split(/\s+/).filter(Boolean);
	if (whole.length > 1 && whole.startsWith('"') && whole.endsWith('"')) {
		return (row, columns) => columns.some((column) => String(row[column.id]) === whole.slice(1, -1));
	}
	return (row, columns) => words.every((word) => columns.some((column) => String(row[column.id]).toLowerCase().includes(word)));
}

/* query: what is searched for at first. keep: of which rows the table is. */
function drawTable(parent, key, query = "", keep = null) {
	const table = keep ? {...data[key], rows: rowsOf(key).filter(keep), rows_left_out: 0} : data[key];
	const section = make("section", parent), levels = keep ? null : shapes[key].levels;
	const tree = treeOf(table.rows, levels), sort = {id: null, rises: false};
	let limit = ROWS, fits = finder(query), isAll = false;
	section.id = "table-" + key;
	make("h3", section, table.title);
	if (table.note || shapes[key].help) {
		make("p", section, [shapes[key].help, table.note].filter(Boolean).join("; "), "note");
	}
	if (!table.rows.length) {
		make("p", section, "no rows", "note");
		return section;
	}
	const tools = make("div", section, null, "tools"), search = make("input", tools);
	search.type = "search";
	search.placeholder = "search";
	search.value = query;
	search.title = 'words that a row has, or a value of it "in quotes"';
	search.setAttribute("aria-label", "search " + table.title.toLowerCase());
	const all = make("button", tools, "all columns");
	all.setAttribute("aria-pressed", "false");
	const count = make("span", tools);
	count.setAttribute("role", "status");
	const scroll = make("div", section, null, "scroll"), element = make("table", scroll);
	const more = make("button", section, "more rows");

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
			const cell = make("th", null, "See", "links");
			cell.scope = "col";
			head.cells[0].after(cell);
		}
		count.textContent = Math.min(limit, found.length) + " of " + found.length + (found.length < table.rows.length ? " found in " + table.rows.length : "") + " rows" +
			(table.rows_left_out ? "; " + table.rows_left_out.toLocaleString("en-US") + " more are not in this page (--top)" : "");
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
		all.textContent = isAll ? "fewer columns" : "all columns";
		fill();
	});
	more.addEventListener("click", () => {
		limit = limit * 8;
		fill();
	});
	fill();
	return section;
}

/* ---- charts ---- */

const shown = []; /* what has update() and resize(), until another page is open */

/* Paper is white, whatever the screen is; when charts are drawn for it, styles are still the screen's. */
const paper = {"--ink": "#000", "--dim": "#444", "--line": "#bbb", "--card": "#fff"};
let isPrinting = false;

function css(name) {
	return isPrinting ? paper[name] : getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/* A colour that a chart asks for whenever it is drawn. */
const ink = () => css("--ink"), dim = () => css("--dim"), line = () => css("--line"), back = () => css("--card");

/* Of a C++ name without its arguments and result, which tell least; cut in the middle. */
function short(text, most = 44) {
	let name = String(text).replace(/^void /, "");
	for (let at = name.length - 1, depth = 0; name.endsWith(")") && at > 0; at--) {
		depth += (name[at] === ")") - (name[at] === "(");
		if (depth === 0) {
			name = /[\w>]/.test(name[at - 1]) ? name.slice(0, at) : name;
			break;
		}
	}
	const letters = [...name];
	const last = Math.min(15, Math.floor(most / 2) - 1);
	return letters.length <= most ? name : letters.slice(0, most - 1 - last).join("") + "…" + letters.slice(-last).join("");
}

/* Of a text that is too long for one line of a small chart, broken where it has a space. */
function twoLines(text, most = 18) {
	if (text.length <= most) {
		return text;
	}
	const space = text.lastIndexOf(" ", most), at = space > 0 && text.length - space <= most + 4 ? space : most;
	return [text.slice(0, at), text.slice(at).trim()];
}

/* Without Chart.js: a bar for each label, in pieces of its series. */
function drawPlain(section, spec) {
	if (spec.kind === "line" && (spec.isStepped || spec.series.length > 1)) {
		make("p", section, "curves need libjs-chart.js when gprof-report is built; the table has their numbers", "note");
		return;
	}
	const bars = make("div", section, null, "bars");
	const sums = spec.labels.map((label, i) => spec.series.reduce((sum, series) => sum + (series.values[i] || 0), 0));
	const most = spec.most || Math.max(...sums, 1e-9);
	spec.labels.slice(0, 100).forEach((label, i) => {
		make("span", bars, label).title = label;
		const bar = make("div", bars);
		spec.series.forEach((series) => {
			const piece = make("i", bar);
			piece.style.width = 100 * (series.values[i] || 0) / most + "%";
			piece.style.background = series.color;
			piece.title = series.name;
		});
		make("span", bars, show(sums[i], spec.type) + (spec.unit ? " " + spec.unit : ""));
	});
	if (spec.series.length > 1) {
		const legend = make("div", section, null, "legend");
		spec.series.forEach((series) => {
			const item = make("span", legend);
			make("i", item).style.background = series.color;
			item.append(series.name);
		});
	}
}

function options(spec) {
	const isBar = spec.kind === "bars" || spec.kind === "stack", isAcross = spec.kind === "bars" || spec.isAcross;
	const text = (value) => Number(value).toLocaleString("en-US", {maximumFractionDigits: 3}) + (spec.unit ? " " + spec.unit : "");
	const value = {stacked: spec.kind === "stack", beginAtZero: true, max: spec.most, title: {display: !!spec.unit, text: spec.unit, color: dim}, ticks: {color: dim}, grid: {color: line}};
	const label = {stacked: spec.kind === "stack", title: {display: !!spec.axis, text: spec.axis, color: dim}, grid: {display: false},
		ticks: {color: dim, autoSkip: !isAcross, callback(at) { return this.chart.width < 480 ? twoLines(short(this.getLabelForValue(at), 36)) : short(this.getLabelForValue(at), 34); }}};
	if (spec.isStepped) {
		Object.assign(label, {type: "linear", ticks: {color: dim}});
	}
	return {
		animation: false, responsive: true, maintainAspectRatio: false, indexAxis: isAcross ? "y" : "x",
		onClick: (event, items) => {
			const address = items.length && spec.hashes ? spec.hashes[items[0].index] : null;
			if (address) {
				location.hash = address;
			}
		},
		onHover: (event, items) => {
			event.native.target.style.cursor = items.length && spec.hashes && spec.hashes[items[0].index] ? "pointer" : "";
		},
		interaction: {mode: spec.kind === "pie" || spec.isStepped ? "nearest" : "index", axis: isAcross ? "y" : "x", intersect: spec.kind === "pie"},
		scales: spec.kind === "pie" ? {} : isBar && isAcross ? {x: value, y: label} : {x: label, y: value},
		plugins: {
			legend: {display: spec.kind === "pie" || spec.series.length > 1, position: spec.kind === "pie" ? "right" : "bottom",
				labels: {color: ink, boxWidth: 12}},
			tooltip: {callbacks: {
				title: (items) => !items.length ? "" : spec.isStepped ? items[0].parsed.x + " " + spec.axis : short(spec.labels[items[0].dataIndex], 90),
				label: (item) => (spec.series.length > 1 ? item.dataset.label + ": " : "") + text(spec.isStepped ? item.parsed.y : item.raw),
			}},
		},
	};
}

/* spec: kind "stack", "bars", "line" or "pie"; labels, and where a click on each leads (hashes); series of {name, values};
 * type and values in base units. */
function chart(parent, title, spec) {
	const known = spec.series.map((series, k) => ({...series, color: colors[k % colors.length], isDashed: k >= colors.length}))
		.filter((series) => series.values.some((value) => value));
	if (!spec.labels.length || !known.length) {
		return null;
	}
	const unit = unitOf(spec.type, known.flatMap((series) => series.values), 1);
	const scale = spec.isStepped ? unitOf("time", spec.labels, 1) : null;
	const drawn = {...spec, unit: unit ? unit[0] : spec.type === "percent" ? "%" : spec.unit || "", axis: scale ? scale[0] + " " + spec.axis : spec.axis,
		series: known.map((series) => ({...series, values: series.values.map((value) => value === null || value === undefined ? null : unit ? value / unit[1] : value)}))};
	const section = make("section", parent);
	make("h3", section, title);
	if (spec.note) {
		make("p", section, spec.note, "note");
	}
	if (!hasCharts) {
		drawPlain(section, {...drawn, type: "number"});
		return section;
	}
	const box = make("div", section, null, "canvas"), canvas = make("canvas", box);
	if (spec.kind === "bars" || spec.isAcross) {
		box.classList.add("across");
		box.style.height = Math.max(spec.isAcross ? 12 : 9, 4.5 + 1.75 * spec.labels.length) + "rem";
	}
	if (spec.kind === "pie") {
		box.classList.add("pie");
		box.style.height = "15rem";
	}
	canvas.setAttribute("role", "img");
	canvas.setAttribute("aria-label", title + "; the table has its numbers");
	shown.push(new Chart(canvas, {
		type: spec.kind === "line" ? "line" : spec.kind === "pie" ? "doughnut" : "bar",
		data: {
			labels: scale ? undefined : spec.kind === "pie" ? spec.labels.map((label) => short(label, 30)) : spec.labels,
			datasets: drawn.series.map((series) => ({
				label: series.name, data: scale ? series.points.map(([x, y]) => ({x: x / scale[1], y: y / unit[1]})) : series.values,
				stepped: !!scale, borderWidth: spec.kind === "line" ? 2 : spec.kind === "pie" ? 1 : 0,
				borderColor: spec.kind === "pie" ? back : series.color,
				backgroundColor: spec.kind === "pie" ? colors : series.color, maxBarThickness: 34,
				borderDash: spec.kind === "line" && series.isDashed ? [5, 3] : [], spanGaps: false,
				/* Points of a curve with gaps may have no line beside them. */
				pointRadius: series.values.filter((value) => value !== null).length > 60 ? 0 : 2,
			})),
		},
		options: options(drawn),
	}));
	return section;
}

/* Rows that lie in no other one: what lies in one is counted there. */
function outerRows(key) {
	const levels = shapes[key] && shapes[key].levels;
	return rowsOf(key).filter((row, i) => !levels || levels[i] === 0);
}

/* The largest rows of a table by a column. */
function topBars(parent, title, key, name, id, nr = 10) {
	const column = data[key] && columnsOf(key).find((each) => each.id === id);
	if (!column) {
		return null;
	}
	const rows = outerRows(key).filter((row) => row[id] > 0).sort((a, b) => b[id] - a[id]).slice(0, nr);
	return chart(parent, title, {kind: "bars", labels: rows.map((row) => row[name] || "(no name)"), type: column.type,
		series: [{name: column.title, values: rows.map((row) => row[id])}]});
}

function topPie(parent, title, key, name, id, nr = 8) {
	const column = data[key] && columnsOf(key).find((each) => each.id === id);
	if (!column) {
		return null;
	}
	const rows = outerRows(key).filter((row) => row[id] > 0).sort((a, b) => b[id] - a[id]);
	const rest = rows.slice(nr).reduce((sum, row) => sum + row[id], 0);
	return chart(parent, title, {kind: "pie", type: column.type, labels: rows.slice(0, nr).map((row) => row[name]).concat(rest ? ["others of the table"] : []),
		series: [{name: column.title, values: rows.slice(0, nr).map((row) => row[id]).concat(rest ? [rest] : [])}]});
}

/* Columns of rows on top of each other. */
function stack(parent, title, key, label, ids, more = {}) {
	const rows = (more.rows || rowsOf(key)).slice(0, 200);
	return data[key] ? chart(parent, title, {kind: "stack", type: "time", labels: rows.map(label), hashes: rows.map(stepHash),
		series: ids.map(([id, name]) => ({name, values: rows.map((row) => row[id])})), ...more}) : null;
}

function charts(parent) {
	return make("div", parent, null, "charts");
}

/* ---- pages ---- */

const timeline = timelineOf({make, one, short, css, rowsOf, rowsHash, stepHash, hashOf, partsOfHash, shown});

const breakdownParts = [["kernel_ns", "kernels"], ["memcpy_ns", "copies"], ["memset_ns", "sets"], ["communication_ns", "communication alone"],
	["runtime_ns", "CUDA calls"], ["dataloader_ns", "data loader"], ["cpu_exec_ns", "operators on the CPU"], ["other_ns", "other"]];
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

function card(parent, title, value, lines, mood) {
	const element = make("div", parent, null, "card");
	make("h3", element, title);
	make("b", element, value, [mood, value.length > 12 ? "words" : ""].filter(Boolean).join(" "));
	for (const line of lines.filter(Boolean)) {
		make("p", element, line);
	}
}

/* How the last third of the steps stands against the first; of those whose begin and end are known. */
function trend(pid) {
	const known = new Set(rowsOf("breakdown").filter((row) => row.pid === pid).map((row) => row.step));
	const times = rowsOf("steps").filter((row) => row.pid === pid && row.duration_ns !== null && known.has(String(row.step))).map((row) => row.duration_ns);
	const third = Math.floor(times.length / 3);
	if (third < 2) {
		return "too few steps for a trend";
	}
	const change = mean(times.slice(-third)) / mean(times.slice(0, third)) - 1;
	return "last third against first: " + (change >= 0 ? "+" : "−") + Math.abs(100 * change).toFixed(1) + " %";
}

function stepCard(parent) {
	const rows = rowsOf("step-stats").filter((row) => row.part === "Step");
	const row = rows.reduce((worst, each) => (!worst || each.avg_ns > worst.avg_ns ? each : worst), null);
	if (!row) {
		card(parent, "Step time", "unknown", ["no steps whose begin and end are known", "GPROF_STEP says what ends one"]);
		return;
	}
	card(parent, rows.length > 1 ? "Step time of the slowest, " + who(row) : "Step time", one(row.avg_ns, "time"),
		[row.stddev_ns === null ? "of one step" : "± " + one(row.stddev_ns, "time") + " (deviation of " + row.steps + " steps)",
			"median " + one(row.median_ns, "time") + ", p99 " + one(row.p99_ns, "time"), trend(row.pid)]);
}

function deviceCards(parent) {
	const use = rowsOf("gpu_use"), all = rowsOf("device");
	const ofGpus = (rows) => (rows.length > 1 ? "mean of " + rows.length + " GPUs" : rows.length ? rows[0].name : "");
	if (use.length) {
		card(parent, "GPU utilization", one(mean(use.map((row) => row.utilization_pct)), "percent"), ["of the steps' time something ran", ofGpus(use)]);
	} else {
		card(parent, "GPU utilization", one(mean(all.map((row) => row.busy_pct)), "percent"),
			[all.length ? "of the span from the first to the last work" : "no device records", ofGpus(all)]);
	}
	card(parent, "Achieved occupancy", one(mean(use.map((row) => row.occupancy_pct)), "percent"), ["of the warps that fit, by kernels' time",
		"SM efficiency at most " + one(mean(use.map((row) => row.sm_efficiency_pct)), "percent")]);
	const unknown = mean(use.map((row) => row.unknown_tensor_pct));
	const used = mean(use.map((row) => row.tensor_pct));
	if (unknown === null || unknown > 50) {
		card(parent, "Tensor cores", "unknown", use.length ? ["used in " + one(used, "percent") + " of kernels' time,", one(unknown, "percent") + " is not told by names"] : []);
	} else {
		card(parent, "Tensor cores", one(used, "percent"), ["of kernels' time used them", "not told by the name: " + one(unknown, "percent")]);
	}
}

function overheadCard(parent) {
	const sum = (rows) => rows.reduce((all, row) => all + row.total_ns, 0);
	const own = rowsOf("overhead").filter((row) => row.name.startsWith("gprof: "));
	const others = rowsOf("overhead").filter((row) => !row.name.startsWith("gprof: "));
	const span = rowsOf("processes").reduce((all, row) => all + (row.duration_ns || 0), 0);
	card(parent, "What gprof cost", own.length ? one(sum(own), "time") : "unknown",
		[own.length && span ? (100 * sum(own) / span).toFixed(2) + " % of one core: CPU time of its own threads" : "the data do not tell",
			others.length ? "CUPTI's own: " + one(sum(others), "time") : ""]);
}

function wholeCard(parent) {
	const processes = rowsOf("processes");
	const missing = processes.reduce((sum, row) => sum + (row.missing || 0), 0) ;
	const bad = processes.filter((row) => row.state !== "complete").length, left = data.processes.rows_left_out || 0;
	card(parent, "Data", bad || missing ? "INCOMPLETE" : "complete",
		[processes.reduce((sum, row) => sum + row.events, 0).toLocaleString("en-US") + " events of " + processes.length + (processes.length === 1 ? " process" : " processes"),
			missing ? missing.toLocaleString("en-US") + " events are missing" : bad ? "" : "none is missing",
			bad ? bad + " not whole; see Overhead and losses" : "", left ? left + " processes are not in this page" : ""], bad || missing ? "bad" : "good");
}

function adviceList(parent, rows) {
	const list = make("ol", parent, null, "advice");
	for (const row of rows) {
		const item = make("li", list);
		make("strong", item, row.stake_ns === null ? "at stake: unknown" : "up to " + one(row.stake_ns, "time") +
			(row.stake_pct === null ? "" : ", " + one(row.stake_pct, "percent") + (row.stake_of ? " of " + row.stake_of : "")));
		make("span", item, " — " + [row.rule, who(row)].filter(Boolean).join(", "));
		make("p", item, row.threshold, "note");
		if (row.same_as) {
			make("p", item, "The time at stake is that of " + row.same_as + ", not one more.");
		}
		make("p", item, [row.evidence, row.share_pct === null || row.share_pct === row.stake_pct ? "" : one(row.share_pct, "percent") + (row.of ? " of " + row.of : "")].filter(Boolean).join("; "));
		if (row.try) {
			make("p", item, "Try: " + row.try);
		}
	}
}

function overviewPage(parent) {
	const cards = make("div", parent, null, "cards");
	stepCard(cards);
	deviceCards(cards);
	overheadCard(cards);
	wholeCard(cards);
	const isMean = (row) => row.step === "average", rows = rowsOf("breakdown");
	const grid = charts(parent);
	stack(grid, isMany ? "Where the time of a step went, mean of each process" : "Where the time of steps went", "breakdown", stepLabel, breakdownParts,
		{rows: isMany ? rows.filter(isMean) : rows.slice(0, 61), axis: "step", note: data.breakdown.note});
	const findings = rowsOf("advice").filter((row) => row.verdict === "finding");
	const section = make("section", grid);
	make("h3", section, "What to try first");
	if (findings.length) {
		make("p", section, "what it costs at most; times of several findings overlap", "note");
		adviceList(section, findings.filter((row) => !row.same_as).slice(0, 3));
		make("a", make("p", section), "all advice").href = "#advice";
	} else {
		make("p", section, "no rule fires", "note");
	}
	stepTimes(grid);
	topBars(grid, "Kernels, total time", "kernel", "name", "total_ns", 8);
}

function stepTimes(parent) {
	const pids = [...new Set(rowsOf("steps").map((row) => row.pid))].slice(0, 16);
	const rows = rowsOf("steps").filter((row) => row.duration_ns !== null);
	const steps = [...new Set(rows.map((row) => row.step))].sort((a, b) => a - b);
	if (steps.length < 2) {
		return;
	}
	const hashes = steps.map((step) => stepHash(rows.reduce((most, row) => (row.step === step && (!most || row.duration_ns > most.duration_ns) ? row : most), null)));
	chart(parent, "Time of each step", {kind: "line", type: "time", axis: "step", labels: steps.map(String), hashes, series: pids.map((pid) => {
		const own = new Map(rows.filter((row) => row.pid === pid).map((row) => [row.step, row.duration_ns]));
		return {name: who({pid}) || "step", values: steps.map((step) => own.get(step) ?? null)};
	})});
}

/* One step: its parts beside the mean, and what tables know of it. Returns its title. */
function stepPage(parent, pid, step) {
	const isOf = (row) => row.pid === pid && String(row.step) === step;
	const row = rowsOf("breakdown").find(isOf), average = rowsOf("breakdown").find((each) => each.pid === pid && each.step === "average");
	const all = [...new Set(rowsOf("steps").filter((each) => each.pid === pid).map((each) => String(each.step)))];
	const tools = make("p", parent, null, "links"), at = all.indexOf(step);
	addLink(tools, "all steps", "#steps");
	for (const [text, other] of [["step before", all[at - 1]], ["step after", at < 0 ? undefined : all[at + 1]]]) {
		if (other !== undefined) {
			addLink(tools, text, hashOf("step", pid, other));
		}
	}
	if (at >= 0 && !timeline.isEmpty) {
		addLink(tools, "timeline", timeline.hashOf("step", pid, step));
	}
	if (row) {
		const both = [row, average].filter(Boolean);
		stack(charts(parent), "Where the time of this step went", "breakdown", (each) => (each === row ? "this step" : "mean"), breakdownParts,
			{rows: both, isAcross: true, note: data.breakdown.note});
		partsTable(parent, row, average);
	} else if (at >= 0) {
		make("p", parent, "Its begin or its end is not known, or no table has where its time went.", "note");
	} else {
		make("p", parent, "This page has no such step.", "note");
	}
	for (const key of ["steps", "dataprep-steps", "breakdown"]) {
		if (rowsOf(key).some(isOf)) {
			drawTable(parent, key, "", isOf);
		}
	}
	return ["Step " + step, who({pid})].filter(Boolean).join(", ");
}

function partsTable(parent, row, average) {
	const section = make("section", parent), table = make("table", make("div", section, null, "scroll"));
	const head = make("tr", make("thead", table)), body = make("tbody", table);
	section.id = "parts";
	section.prepend(make("h3", null, "Its parts" + (average ? ", and those of the mean step" : "")));
	for (const title of ["Part", "Time", "% of the step", ...(average ? ["Mean", "More than the mean"] : [])]) {
		make("th", head, title, title === "Part" ? "text" : "").scope = "col";
	}
	const parts = [...breakdownParts, ["total_ns", "the step"]].filter(([id]) => row[id] || (average && average[id]));
	for (const [id, name] of parts) {
		const line = make("tr", body), difference = average ? row[id] - average[id] : 0;
		make("td", line, name, "text");
		make("td", line, one(row[id], "time"));
		const share = make("td", line, (100 * row[id] / row.total_ns).toFixed(2), "share");
		share.style.backgroundSize = 100 * row[id] / row.total_ns + "% 75%";
		if (average) {
			make("td", line, one(average[id], "time"));
			make("td", line, (difference < 0 ? "−" : "+") + one(Math.abs(difference), "time"));
		}
	}
}

function curves(parent) {
	const rows = rowsOf("utilization-time"), groups = new Map();
	for (const row of rows) {
		groups.set(row.pid, (groups.get(row.pid) || []).concat(row));
	}
	for (const [pid, own] of [...groups].slice(0, 8)) {
		const starts = [...new Set(own.map((row) => row.start_ns))].sort((a, b) => a - b);
		const unit = unitOf("time", starts, 1), of = isMany ? ", " + who({pid}) : "";
		const labels = starts.map((start) => String(Number((start / unit[1]).toPrecision(6)))), axis = unit[0] + " after the first event";
		const curve = (name, test, id) => {
			const values = new Map(own.filter((row) => test(row) && row[id] !== null).map((row) => [row.start_ns, row[id]]));
			return {name, values: starts.map((start) => values.get(start) ?? null)};
		};
		const devices = [...new Set(own.map((row) => row.device))].filter((device) => device !== null);
		chart(parent, "Utilization over time" + of, {kind: "line", type: "percent", labels, axis, series: [
			...devices.map((device) => curve("GPU " + device + " busy", (row) => row.device === device, "gpu_pct")),
			...devices.map((device) => curve("GPU " + device + " sampled", (row) => row.device === device, "gpu_sampled_pct")),
			curve("CPU, process (of one core)", () => true, "cpu_process_pct"), curve("CPU, system", () => true, "cpu_system_pct")]});
		chart(parent, "Power over time" + of, {kind: "line", type: "number", unit: "W", labels, axis, series:
			devices.map((device) => curve("GPU " + device, (row) => row.device === device, "gpu_power_w"))});
		chart(parent, "Memory over time" + of, {kind: "line", type: "size", labels, axis, series: [
			curve("process, resident", () => true, "resident_bytes"),
			...devices.map((device) => curve("GPU " + device, (row) => row.device === device, "gpu_memory_bytes"))]});
	}
}

/* What was in use holds until the next moment that is known. */
function memoryCurves(parent) {
	const rows = rowsOf("memory_curve");
	for (const pid of [...new Set(rows.map((row) => row.pid))].slice(0, 8)) {
		const own = rows.filter((row) => row.pid === pid), places = [...new Set(own.map((row) => row.device))].slice(0, 8);
		const last = own.reduce((most, row) => Math.max(most, row.time_ns), 0);
		const curve = (place, name, id) => {
			const points = own.filter((row) => row.device === place && row[id] !== null).map((row) => [row.time_ns, row[id]]);
			return {name: place + ", " + name, points: points.length ? [...points, [last, points[points.length - 1][1]]] : points};
		};
		chart(parent, "Memory over time" + (isMany ? ", " + who({pid}) : ""), {kind: "line", type: "size", isStepped: true,
			labels: own.map((row) => row.time_ns), axis: "after the first event", note: "as the allocator told it; peaks are kept",
			series: places.flatMap((place) => [curve(place, "in use", "allocated_bytes"), curve(place, "reserved", "reserved_bytes")])
				.map((series) => ({...series, values: series.points.map((point) => point[1])}))});
	}
}

function countBars(parent, title, key, id) {
	const times = new Map();
	for (const row of rowsOf(key)) {
		const kind = row[id] || "unknown";
		times.set(kind, (times.get(kind) || 0) + (row.total_ns || 0));
	}
	if (times.size === 1 && times.has("unknown")) {
		return;
	}
	chart(parent, title, {kind: "pie", type: "time", labels: [...times.keys()], series: [{name: title, values: [...times.values()]}]});
}

function aboutPage(parent) {
	const section = make("section", parent);
	make("h3", section, "This page");
	make("p", section, "written " + data.page.written + " by gprof-report " + data.gprof_report + "; tables have up to " +
		(data.page.top || "all") + (data.page.top ? " rows, those over time 2000" : " rows") + "; its figures are those of " + (diff ? "diff" : "summary") + " --format json.");
	make("p", section, "A dash is a value that the data do not tell. Click on a name to see all of it.", "note");
	for (const each of data.page.facts) {
		const details = make("details", section);
		make("summary", details, "what the stream says of pid " + each.pid + (each.side ? " of " + each.side : ""));
		const body = make("tbody", make("table", make("div", details, null, "scroll")));
		for (const [key, value] of each.facts) {
			const row = make("tr", body);
			make("td", row, key, "text");
			make("td", row, value, "text").title = value;
		}
		details.open = data.page.facts.length === 1;
	}
	const licences = make("section", parent);
	make("h3", licences, "Licences");
	make("p", licences, "gprof: Apache-2.0.");
	if (hasCharts) {
		make("p", licences, "Charts: Chart.js " + Chart.version + ", whose terms are");
		make("pre", licences, data.page.licence);
	} else {
		make("p", licences, "This gprof-report was built without libjs-chart.js: charts are plain bars.");
	}
}

/* Pages that put charts where they want them. */
const isPlain = new Set(["overview", "timeline", "about", "advice"]);

const diff = data.page.is_diff ? diffOf({make, one, rowsOf, chart, charts, card, addLink, hashOf, short, aboutPage}) : null;

const pages = diff ? diff.pages : [
	["overview", "Overview", overviewPage, []],
	["steps", "Steps", (parent) => {
		stepTimes(parent);
		stack(parent, "Phases of each step", "steps", stepLabel, [["dataloader_ns", "data loader"], ["forward_ns", "forward"], ["backward_ns", "backward"], ["optimization_ns", "optimizer"], ["others_ns", "others"]], {axis: "step"});
		stack(parent, "Where the time of steps went", "breakdown", stepLabel, breakdownParts, {axis: "step"});
		topBars(parent, "What the length of steps was made of", "critical-path", "name", "total_ns");
	}, ["step-stats", "steps", "breakdown", "model", "overview", "critical-path", "benchmark"]],
	["timeline", "Timeline", (parent) => timeline.draw(parent), []],
	["operators", "Operators", (parent) => {
		topPie(parent, "Self time on the CPU", "operator", "name", "self_ns");
		topPie(parent, "Self time on GPUs", "operator", "name", "gpu_self_ns");
		topBars(parent, "Self time on the CPU, the largest", "operator", "name", "self_ns", 20);
		topBars(parent, "Types by GPU time", "optype", "type", "gpu_self_ns", 20);
	}, ["operator", "optype", "framework", "python"]],
	["kernels", "Kernels", (parent) => {
		topBars(parent, "Total time", "kernel", "name", "total_ns", 15);
		countBars(parent, "Tensor cores, by time of the kernels listed", "kernel", "tensor_cores");
		countBars(parent, "What limits occupancy, by time of the kernels listed", "kernel", "limit");
	}, ["kernel", "kernel_operator", "gpu_use"]],
	["copies", "Copies", (parent) => {
		topBars(parent, "Total time", "memcpy", "name", "total_ns");
		topBars(parent, "Rate while at least one ran", "bandwidth", "name", "rate_bytes_per_s");
	}, ["memcpy", "memset", "bandwidth", "manipulation"]],
	["memory", "Memory", (parent) => {
		memoryCurves(parent);
		topBars(parent, "Allocated, by who asked", "memory", "name", "total_bytes", 15);
		topBars(parent, "Not freed until the end of the recording", "memory", "name", "live_bytes", 15);
	}, ["memory", "memory_curve"]],
	["api", "API", (parent) => {
		topBars(parent, "Time in calls", "api", "name", "total_ns");
		topBars(parent, "Time in waits", "sync", "name", "total_ns");
	}, ["api", "sync", "launch", "queue", "threads"]],
	["nvtx", "NVTX", (parent) => topBars(parent, "Total time", "nvtx", "name", "total_ns"), ["nvtx", "userdefined"]],
	["modules", "Modules", null, ["module"]],
	["dataprep", "Data preparation", (parent) => {
		stack(parent, "Waits for data in each step", "dataprep-steps", stepLabel, [["wait_ns", "waited"], ["gpu_idle_ns", "GPUs idle meanwhile (part of the wait)"]], {kind: "line", axis: "step"});
	}, ["dataprep", "dataprep-steps"]],
	["utilization", "Utilization", curves, ["utilization", "utilization-time", "device", "temporal"]],
	["distributed", "Distributed", (parent) => {
		const name = (row) => [who(row), "GPU " + row.device].filter(Boolean).join(", ");
		stack(parent, "Communication and computation", "distributed", name, [["computation_alone_ns", "computation alone"], ["overlap_ns", "both at once"], ["communication_alone_ns", "communication alone"], ["other_ns", "neither"]], {isAcross: true});
		topBars(parent, "Collectives", "collectives", "name", "total_ns");
	}, ["distributed", "stragglers", "collectives", "communication", "pending"]],
	["idle", "Idle", (parent) => countBars(parent, "Idle time by its cause", "idle", "cause"), ["idle", "gaps"]],
	["advice", "Advice", (parent) => {
		const findings = rowsOf("advice").filter((row) => row.verdict === "finding");
		const section = make("section", parent);
		make("h3", section, findings.length ? "Findings, by what each could save at most" : "No rule fires");
		adviceList(section, findings.slice(0, 20));
	}, ["advice"]],
	["losses", "Overhead and losses", null, ["overhead", "losses", "notices", "windows", "processes"]],
	["about", "About", aboutPage, []],
];

/* Tables that no page names are not lost. */
const named = new Set(pages.flatMap((page) => page[3]).concat("gpu"));
pages.find((page) => page[0] === "about")[3].push(...Object.keys(data).filter((key) => data[key].rows && !named.has(key)));

function open() {
	const [id, key, query] = partsOfHash();
	const page = pages.find((each) => each[0] === (id === "step" ? "steps" : id)) || pages[0], [name, title, draw, tables] = page;
	shown.splice(0).forEach((each) => each.destroy());
	main.replaceChildren();
	scrollTo(0, 0);
	const heading = make("h2", main, title);
	if (id === "step") {
		heading.textContent = stepPage(main, Number(key), query);
	} else {
		if (draw) {
			draw(isPlain.has(name) ? main : charts(main));
		}
		for (const each of tables.filter((each) => data[each])) {
			const section = drawTable(main, each, each === key ? query : "");
			if (each === key) {
				section.scrollIntoView();
			}
		}
	}
	for (const link of document.querySelectorAll("#nav a")) {
		if (link.hash === "#" + name) {
			link.setAttribute("aria-current", "page");
		} else {
			link.removeAttribute("aria-current");
		}
	}
	document.title = heading.textContent + " – gprof report";
}

function begin() {
	const nav = document.getElementById("nav"), first = rowsOf("processes")[0];
	for (const [id, title, , tables] of pages) {
		const isEmpty = id === "timeline" ? timeline.isEmpty : id !== "about" && tables.length && tables.every((key) => !rowsOf(key).length);
		make("a", nav, title, isEmpty ? "none" : "").href = "#" + id;
	}
	if (diff) {
		document.getElementById("who").textContent = document.getElementById("who").title = diff.who;
	} else if (first) {
		const others = rowsOf("processes").length - 1 + (data.processes.rows_left_out || 0);
		const text = (first.command === "?" ? first.file : first.command) + (first.host === "?" ? "" : " on " + first.host) + (others ? " and " + others + " more processes" : "") + (data.selection ? "; only what was chosen" : "");
		document.getElementById("who").textContent = text;
		document.getElementById("who").title = text;
	}
	addEventListener("hashchange", () => {
		open();
		main.focus({preventScroll: true});
	});
	for (const name of ["beforeprint", "afterprint"]) {
		addEventListener(name, () => {
			isPrinting = name === "beforeprint";
			for (const each of shown) {
				each.update("none");
				each.resize();
			}
		});
	}
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", open);
	document.querySelector(".skip").addEventListener("click", (event) => {
		event.preventDefault(); /* the address names the page that is open */
		main.focus();
	});
	open();
}

begin();
})();
