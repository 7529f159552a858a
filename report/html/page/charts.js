/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Charts by Chart.js, or plain bars without it.
 */
"use strict";

const pageChart = (() => {
const {make, prose, unitOf, show, one, short, sentence} = pageText, {data, rowsOf, columnsOf, outerRows, shownName} = pageData, {stepHash} = pageLink;
const {colorOf, listOf} = pagePalette, colors = listOf("series");
/* The category of the rows of a table. */
const categoryOf = {kernel: "kernel", memcpy: "memcpy", operator: "operator", api: "api", sync: "api", nvtx: "range", collectives: "communication", communication: "communication"};
/* The interface of version 2 differs. */
const hasCharts = typeof Chart === "function" && parseInt(Chart.version, 10) >= 3;

/* Charts of so many labels end below values that are so many times as high as nine in ten are. */
const MANY_LABELS = 8, DWARFING = 10;
/* px: a narrower chart has its legend below, and its labels in two lines. */
const NARROW = 480;

const shown = []; /* charts of the open page: objects with update() and resize() */

/* Paper is white even where the screen is dark; while charts are drawn for paper, styles are still those of the screen. */
const paper = {"--ink": "#000", "--dim": "#444", "--line": "#bbb", "--card": "#fff"};
let isPrinting = false;

function css(name) {
	return isPrinting ? paper[name] : getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/* A colour of the style sheet; charts read it each time they are drawn. */
const ink = () => css("--ink"), dim = () => css("--dim"), line = () => css("--line"), back = () => css("--card");

/* Draws all charts again: for paper, or for the screen. */
function printing(isOn) {
	isPrinting = isOn;
	/* Pictures get the width that they have on paper before the browser lays it out. */
	document.documentElement.classList.toggle("paper", isOn);
	for (const each of shown) {
		each.update("none");
		each.resize();
	}
}

/* Breaks a text where a part of a name ends, if it is too long for one line of a small chart. */
function twoLines(text, most = 18) {
	if (text.length <= most) {
		return text;
	}
	let at = most;
	while (at > 0 && !/[ ,:_<>()+]/.test(text[at - 1])) {
		at--;
	}
	at = at > 0 && text.length - at <= most + 4 ? at : most;
	return [text.slice(0, at).trim(), text.slice(at).trim()];
}

/* Without Chart.js: a bar for each label, in pieces of its series. */
function drawPlain(section, spec) {
	if (spec.kind === "line" && (spec.isTimed || spec.series.length > 1)) {
		make("p", section, "This chart needs Chart.js, which gprof-report was built without. The table has the numbers.", "note");
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
			piece.style.width = Math.min(100, 100 * (series.values[i] || 0) / most) + "%";
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

/* Options of a chart where a click on an element opens its address, if it has one. */
function leading(addressOf) {
	return {
		onClick: (event, items) => {
			const address = items.length ? addressOf(items[0].index, items[0].datasetIndex) : null;
			if (address) {
				location.hash = address;
			}
		},
		onHover: (event, items) => {
			event.native.target.style.cursor = items.length && addressOf(items[0].index, items[0].datasetIndex) ? "pointer" : "";
		},
	};
}

function options(spec) {
	const isBar = spec.kind === "bars" || spec.kind === "stack", isAcross = spec.kind === "bars" || spec.isAcross;
	const text = (value) => Number(value).toLocaleString("en-US", {maximumFractionDigits: 3}) + (spec.unit ? " " + spec.unit : "");
	const value = {stacked: spec.kind === "stack", beginAtZero: true, max: spec.most, title: {display: !!spec.unit, text: spec.unit, color: dim}, ticks: {color: dim}, grid: {color: line}};
	const label = {stacked: spec.kind === "stack", title: {display: !!spec.axis, text: spec.axis, color: dim}, grid: {display: false},
		ticks: {color: dim, autoSkip: !isAcross, callback(at) {
			const name = shownName(this.getLabelForValue(at));
			return this.chart.width < NARROW ? twoLines(short(name, 36)) : short(name, 34);
		}}};
	if (spec.isTimed) {
		Object.assign(label, {type: "linear", ticks: {color: dim}});
	}
	return {
		animation: false, responsive: true, maintainAspectRatio: false, indexAxis: isAcross ? "y" : "x",
		...leading((index) => (spec.hashes ? spec.hashes[index] : null)),
		interaction: {mode: spec.kind === "pie" || spec.isTimed ? "nearest" : "index", axis: isAcross ? "y" : "x", intersect: spec.kind === "pie"},
		scales: spec.kind === "pie" ? {} : isBar && isAcross ? {x: value, y: label} : {x: label, y: value},
		plugins: {
			legend: {display: spec.kind === "pie" || spec.series.length > 1, position: spec.kind === "pie" && !spec.isNarrow ? "right" : "bottom",
				labels: {color: ink, boxWidth: 12}},
			tooltip: {callbacks: {
				title: (items) => !items.length ? "" : spec.isTimed ? Number(items[0].parsed.x.toPrecision(6)) + " " + spec.axis : short(spec.labels[items[0].dataIndex], 90),
				label: (item) => (spec.series.length > 1 ? item.dataset.label + ": " : "") + text(spec.isTimed ? item.parsed.y : item.raw),
			}},
		},
	};
}

function addNote(section, note) {
	if (note) {
		prose("p", section, sentence(note), "note");
	}
}

/*
 * A few values that dwarf all others, such as a first step that loads kernels, would leave these no height: where the axis ends instead, and
 * what it cuts off. {} if it need not.
 */
function cutOff(spec) {
	const isUpright = (spec.kind === "stack" && !spec.isAcross) || (spec.kind === "line" && !spec.isTimed);
	if (!isUpright || spec.most || spec.labels.length < MANY_LABELS) {
		return {};
	}
	const heights = spec.labels.map((label, i) => spec.series.reduce((height, {values}) => (spec.kind === "stack" ? height + (values[i] || 0) : Math.max(height, values[i] || 0)), 0));
	const known = heights.filter((_, i) => spec.series.some(({values}) => values[i] !== null && values[i] !== undefined)).sort((a, b) => a - b);
	const limit = DWARFING * known[Math.floor(0.9 * (known.length - 1))];
	const high = heights.map((height, i) => ({height, i})).filter(({height}) => height > limit).sort((a, b) => b.height - a.height);
	if (!high.length || !limit) {
		return {};
	}
	const names = high.slice(0, 3).map(({height, i}) => (/^\d/.test(spec.labels[i]) && spec.axis ? spec.axis + " " : "") + spec.labels[i] + " (" + one(height, spec.type) + ")");
	return {most: 1.2 * Math.max(...heights.filter((height) => height <= limit)),
		cut: "Higher than the chart: " + names.join(", ") + (high.length > 3 ? " and " + (high.length - 3) + " more" : "") + "."};
}

/* To a number that an axis may end with. */
function roundUp(value) {
	const step = 10 ** Math.floor(Math.log10(value)) / 5;
	return Math.ceil(value / step) * step;
}

/* spec: kind "stack", "bars", "line" or "pie"; labels, and where a click on each leads (hashes); series of {name, values, category of the palette or none};
 * type and values in base units. isTimed: labels are times, and series have points [time, value]; isStepped: their values stay until the next one. */
function chart(parent, title, spec) {
	const known = spec.series.map((series, k) => ({...series, color: series.category ? colorOf(series.category) : colors[k % colors.length], isDashed: !series.category && k >= colors.length}))
		.filter((series) => series.values.some((value) => value));
	if (!spec.labels.length || !known.length) {
		return null;
	}
	const {most, cut} = cutOff(spec), scale = spec.isTimed ? unitOf("time", spec.labels, 1) : null;
	const unit = unitOf(spec.type, known.flatMap((series) => series.values.filter((value) => !most || value <= most)), 1);
	const drawn = {...spec, most: most ? roundUp(most / (unit ? unit[1] : 1)) : spec.most, unit: unit ? unit[0] : spec.type === "percent" ? "%" : spec.unit || "", axis: scale ? scale[0] + " " + spec.axis : spec.axis,
		series: known.map((series) => ({...series, values: series.values.map((value) => value === null || value === undefined ? null : unit ? value / unit[1] : value)}))};
	const section = make("section", parent);
	make("h3", section, title);
	if (!hasCharts) {
		drawPlain(section, {...drawn, type: "number"});
		addNote(section, spec.note);
		addNote(section, cut);
		return section;
	}
	const box = make("div", section, null, "canvas"), canvas = make("canvas", box);
	if (spec.kind === "bars" || spec.isAcross) {
		box.classList.add("across");
		/* In a small chart, labels take two lines. */
		box.style.height = Math.max(spec.isAcross ? 12 : 9, 4.5 + (box.clientWidth < NARROW ? 2.3 : 1.75) * spec.labels.length) + "rem";
	}
	if (spec.kind === "pie") {
		box.classList.add("pie");
		drawn.isNarrow = box.clientWidth < NARROW;
		box.style.height = box.clientWidth < NARROW ? "26rem" : "15rem";
	}
	canvas.setAttribute("role", "img");
	canvas.setAttribute("aria-label", title + "; the table has the numbers");
	shown.push(new Chart(canvas, {
		type: spec.kind === "line" ? "line" : spec.kind === "pie" ? "doughnut" : "bar",
		data: {
			labels: scale ? undefined : spec.kind === "pie" ? spec.labels.map((label) => short(shownName(label), 26)) : spec.labels,
			datasets: drawn.series.map((series) => ({
				label: series.name, data: scale ? series.points.map(([x, y]) => ({x: x / scale[1], y: y === null || !unit ? y : y / unit[1]})) : series.values,
				stepped: !!spec.isStepped, borderWidth: spec.kind === "line" ? 2 : spec.kind === "pie" ? 1 : 0,
				borderColor: spec.kind === "pie" ? back : series.color,
				backgroundColor: spec.kind === "pie" ? colors : series.color, maxBarThickness: 34,
				borderDash: spec.kind === "line" && series.isDashed ? [5, 3] : [], spanGaps: false,
				/* A value between two gaps has no line: few values are drawn as points, too. */
				pointRadius: series.values.filter((value) => value !== null).length > 60 ? 0 : 2,
			})),
		},
		options: options(drawn),
	}));
	addNote(section, cut);
	addNote(section, spec.note);
	return section;
}

/* The largest rows of a table by a column. */
function topBars(parent, title, key, name, id, nr = 10) {
	const column = data[key] && columnsOf(key).find((each) => each.id === id);
	if (!column) {
		return null;
	}
	const rows = outerRows(key).filter((row) => row[id] > 0).sort((a, b) => b[id] - a[id]).slice(0, nr);
	return chart(parent, title, {kind: "bars", labels: rows.map((row) => row[name] || "(no name)"), type: column.type,
		series: [{name: column.title, values: rows.map((row) => row[id]), category: categoryOf[key]}]});
}

function topPie(parent, title, key, name, id, nr = 8) {
	const column = data[key] && columnsOf(key).find((each) => each.id === id);
	if (!column) {
		return null;
	}
	const rows = outerRows(key).filter((row) => row[id] > 0).sort((a, b) => b[id] - a[id]);
	const rest = rows.slice(nr).reduce((sum, row) => sum + row[id], 0);
	return chart(parent, title, {kind: "pie", type: column.type, labels: rows.slice(0, nr).map((row) => row[name]).concat(rest ? ["Other rows"] : []),
		series: [{name: column.title, values: rows.slice(0, nr).map((row) => row[id]).concat(rest ? [rest] : [])}]});
}

/* Stacked bars: a bar for each row, a part for each column; ids: [column, name, category of the palette or none]. */
function stack(parent, title, key, label, ids, more = {}) {
	const rows = (more.rows || rowsOf(key)).slice(0, 200);
	return data[key] ? chart(parent, title, {kind: "stack", type: "time", labels: rows.map(label), hashes: rows.map(stepHash),
		series: ids.map(([id, name, category]) => ({name, category, values: rows.map((row) => row[id])})), ...more}) : null;
}

function charts(parent) {
	return make("div", parent, null, "charts");
}

function countBars(parent, title, key, id) {
	const times = new Map();
	for (const row of rowsOf(key)) {
		const kind = row[id] || "n/a";
		times.set(kind, (times.get(kind) || 0) + (row.total_ns || 0));
	}
	if (times.size === 1) {
		return; /* the table says it */
	}
	chart(parent, title, {kind: "pie", type: "time", labels: [...times.keys()], series: [{name: title, values: [...times.values()]}]});
}

/* A chart that the reader draws in another way: groups of names, one of each pressed, which draw(parent, name...) gets. */
function choice(parent, title, groups, draw) {
	const place = make("div", parent, null, "choice"), chosen = groups.map((names) => names[0]);
	const redraw = () => {
		for (const each of shown.filter((chart) => chart.canvas && place.contains(chart.canvas))) {
			shown.splice(shown.indexOf(each), 1);
			each.destroy();
		}
		place.replaceChildren();
		const section = draw(place, ...chosen);
		if (!section) {
			return;
		}
		const tools = make("div", null, null, "tools");
		section.firstChild.after(tools);
		groups.forEach((names, i) => {
			const group = make("span", tools);
			group.setAttribute("role", "group");
			group.setAttribute("aria-label", title);
			for (const name of names) {
				const button = make("button", group, name);
				button.setAttribute("aria-pressed", name === chosen[i]);
				button.onclick = () => {
					chosen[i] = name;
					redraw();
					place.querySelectorAll("[role=group]")[i].querySelector("[aria-pressed=true]").focus();
				};
			}
		});
	};
	redraw();
}

/* The largest rows of a table by one of several columns, [["Total", id], ...], as a pie or as bars: what comes first is drawn first. */
function ranking(parent, what, key, name, measures, kinds) {
	choice(parent, what, [measures.map((measure) => measure[0]), kinds], (place, measure, kind) => {
		const title = what + " by " + measure.toLowerCase() + " time", id = measures.find((each) => each[0] === measure)[1];
		return kind === "Pie" ? topPie(place, title, key, name, id, 9) : topBars(place, title, key, name, id, 20);
	});
}

/* On GPUs; without these on the CPU. */
function operatorTypes(parent) {
	ranking(parent, "Operator types", "operator_types", "type", [["Average", "time_avg_ns"], ["Total", "total_ns"]], ["Pie", "Bars"]);
}

return {ranking, operatorTypes, hasCharts, shown, css, ink, dim, line, back, printing, leading, chart, charts, topBars, topPie, countBars, stack};
})();
