/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages of `gprof-report html`, what each has, and navigation between them.
 */
"use strict";

(() => {
const {make, prose, one, short, shortPath, pathsApart} = pageText, {data, shapes, rowsOf, keyOf, stepLabel, who, shownName, searchedText} = pageData;
const {hashOf, partsOfHash, rowsHash, stepHash, linkRows, addLink} = pageLink, {readAddress, drawTable} = pageTable, {addExport, linesOf} = pageExport;
const {hasCharts, shown, css, printing, chart, charts, topBars, topPie, countBars, stack, ranking, operatorTypes} = pageChart;
const {breakdownParts, breakdownNote, stepTimes, stepPage} = pageStep, {card, headline, stepCard, findingList, overviewPage} = pageOverview, {curves, memoryCurves} = pageCurve, {memoryCategories} = pageMemory, {heat, hasField} = pageHeat;
const main = document.getElementById("main");

const timelineTools = {make, one, short, shownName, searchedText, css, rowsOf, keyOf, rowsHash, stepHash, hashOf, partsOfHash, shown, addExport, linesOf, phases: shapes.model && shapes.model.figure, facts: data.page.facts, paths: data.page.paths, windowEvents: data.page.window_events || 0};
const timeline = timelineOf(timelineTools), pair = timelinePairOf({...timelineTools, prose, clock: data.page.clock, timeline, timelineB: timelineOf(timelineTools, "timeline-b")});

/* Tables whose names are events of the timeline. */
linkRows(["kernel", "kernel_operator", "memcpy", "memset", "operator", "api", "nvtx", "user_ranges", "python", "collectives"],
	"timeline", (row) => timeline.hashOf("find", row.name));

if (!pageFlame.isEmpty) {
	linkRows(["module"], "flame graph", (row) => hashOf("flame", "modules", "", row.name));
}

function aboutPage(parent) {
	const section = make("section", parent);
	make("h3", section, "This page");
	make("p", section, "Written " + data.page.written + " by gprof-report " + data.gprof_report + ". " + (data.page.top
		? "Tables have up to " + data.page.top + " rows (--top), tables over time up to 2000. " : "") +
		"gprof-report " + (diff ? "diff" : "summary --all") + " --format json prints the same numbers.");
	make("p", section, "A dash (–) marks a value that the recording does not contain. Click a cut-off name to expand it.", "note");
	for (const each of data.page.facts) {
		const details = make("details", section);
		make("summary", details, "Recorded facts, pid " + each.pid + (each.side ? " of " + each.side : ""));
		const table = make("table", make("div", details, null, "scroll")), body = make("tbody", table), tools = make("div", null, null, "tools");
		table.parentElement.before(tools);
		addExport(tools, "facts of pid " + each.pid, "facts-" + each.pid, () => [["fact", "value"], ...each.facts]);
		for (const [key, value] of each.facts) {
			const row = make("tr", body);
			make("td", row, key, "text");
			make("td", row, value, "text").title = value;
		}
		details.open = data.page.facts.length === 1;
	}
	const licences = make("section", parent);
	make("h3", licences, "Licenses");
	make("p", licences, "gprof: Apache-2.0.");
	if (hasCharts) {
		make("p", licences, "Charts: Chart.js " + Chart.version + ", under these terms:");
		make("pre", licences, data.page.licence);
	} else {
		make("p", licences, "gprof-report was built without Chart.js (libjs-chart.js): charts are plain bars.");
	}
}

/* Ranks of a job; its loader workers have none. */
const hasRanks = new Set(rowsOf("processes").map((row) => row.rank).filter((rank) => rank !== null)).size > 1;

/* Pages that place their charts themselves. */
const isPlain = new Set(["overview", "timeline", "timelines", "ranks", "flame", "about", "advice", "memory", "roofline"]);
/* Pages with an address of their own, without the state of tables. */
const hasOwnAddress = new Set(["timeline", "timelines", "ranks", "flame"]);
/* Pages whose first table is the answer: charts stand below it. */
const isTableFirst = new Set(["operators", "kernels", "copies", "api", "nvtx", "modules", "data_loading", "idle"]);

/* Pages for two runs, and for a summary of `reduce`; null for streams. */
const diff = data.page.is_diff ? diffOf({make, prose, one, rowsOf, chart, charts, card, addLink, hashOf, short, shownName, aboutPage, pair, pathsApart}) : null;
const other = data.page.is_reduced ? reducedOf({make, one, data, rowsOf, who, charts, chart, stack, topBars, card, headline, stepCard, heat, breakdownParts, aboutPage}) : diff;

const pages = other ? other.pages : [
	["overview", "Overview", overviewPage, []],
	["steps", "Steps", (parent) => {
		stepTimes(parent);
		stack(parent, "Step trace", "steps", stepLabel, [["interval_ns", "Interval"], ["fp_bp_ns", "Forward and backward"], ["tail_ns", "Tail"]], {axis: "step"});
		const phases = [["dataloader_ns", "Data loader", "loader"], ["forward_ns", "Forward", "forward"], ["backward_ns", "Backward", "backward"], ["optimization_ns", "Optimizer", "optimizer"], ["others_ns", "Other", "other"]];
		/* Inference has no backward and no optimizer. */
		stack(parent, "Step phases", "steps", stepLabel, phases.filter(([id]) => id === "others_ns" || rowsOf("steps").some((row) => row[id])), {axis: "step"});
		stack(parent, "Step time breakdown", "breakdown", stepLabel, breakdownParts, {axis: "step", note: breakdownNote()});
		topBars(parent, "Critical path", "critical_path", "name", "total_ns");
	}, ["step_stats", "steps", "breakdown", "model", "overview", "critical_path", "benchmark", "headline"]],
	...(rowsOf("history").length ? [["history", "History", (parent) => {
		stack(parent, "Median step of each run", "history", (row) => "run " + row.run, [["median_ns", "Median step"]], {kind: "line"});
	}, ["history"]]] : []),
	["timeline", "Timeline", (parent) => timeline.draw(make("div", parent)), ["timeline_summary"]],
	...(hasRanks ? [["ranks", "Ranks side by side", (parent) => pair.drawRanks(make("div", parent)), []]] : []),
	["flame", "Flame graph", pageFlame.drawPage, []],
	["operators", "Operators", (parent) => {
		topPie(parent, "CPU self time", "operator", "name", "self_ns");
		topPie(parent, "GPU self time", "operator", "name", "gpu_self_ns");
		topBars(parent, "Top operators by CPU self time", "operator", "name", "self_ns", 20);
		operatorTypes(parent);
	}, ["operator", "operator_types", "single_operators", "framework", "python", "operator_stacks"]],
	["host", "CPU", (parent) => {
		topBars(parent, "Top lines of Python by self CPU time", "cpu_lines", "name", "self_ns", 20);
		topBars(parent, "Top lines of Python by waiting time", "wait_lines", "name", "wait_ns", 20);
		topBars(parent, "Top functions by self CPU time", "cpu", "name", "self_ns", 20);
		topBars(parent, "Top files and peers by I/O time", "io", "name", "total_ns", 20);
	}, ["cpu_lines", "wait_lines", "cpu", "cpu_threads", "cpu_waits", "off_cpu", "imports", "compilations", "gc", "gil", "gil_holders", "os_runtime", "io", "locks"]],
	["kernels", "Kernels", (parent) => {
		ranking(parent, "Kernels", "kernel", "name", [["Total", "total_ns"], ["Average", "avg_ns"]], ["Bars", "Pie"]);
		countBars(parent, "Tensor core use, by kernel time", "kernel", "tensor_cores");
		countBars(parent, "Occupancy limiter, by kernel time", "kernel", "limit");
	}, ["kernel", "kernel_operator", "compiled_kernels", "graphs", "graph_operators", "gpu_summary"]],
	["roofline", "Roofline", (main) => pageRoofline.drawRoofline(main), ["roofline"]],
	["copies", "Copies", (parent) => {
		topBars(parent, "Memcpy time by kind", "memcpy", "name", "total_ns");
		topBars(parent, "Bandwidth while busy", "bandwidth", "name", "rate_bytes_per_s");
	}, ["memcpy", "memset", "bandwidth", "memops"]],
	["memory", "Memory", (main) => {
		memoryCategories(main);
		const parent = charts(main);
		memoryCurves(parent);
		topBars(parent, "Allocations by operator", "memory", "name", "total_bytes", 15);
		topBars(parent, "In use at the peak, by operator", "memory", "name", "at_peak_bytes", 15);
		topBars(parent, "Still allocated at exit, by operator", "memory", "name", "live_bytes", 15);
	}, ["memory_failed", "memory_categories", "memory_peak", "memory", "memory_events", "memory_blocks", "memory_curve"]],
	["api", "API", (parent) => {
		topBars(parent, "Top API calls by total time", "api", "name", "total_ns");
		topBars(parent, "Synchronization by total time", "sync", "name", "total_ns");
	}, ["api", "sync", "launch_latency", "queue", "threads"]],
	["nvtx", "NVTX", (parent) => topBars(parent, "Top NVTX ranges by total time", "nvtx", "name", "total_ns"), ["nvtx", "user_ranges"]],
	["modules", "Modules", null, ["module"]],
	["data_loading", "Data loading", (parent) => {
		topBars(parent, "Time of the loader by stage", "loader_stages", "stage", "total_ns");
		stack(parent, "Data loader wait per step", "data_loading_steps", stepLabel, [["wait_ns", "Wait"], ["gpu_idle_ns", "GPU idle during the wait"]], {kind: "line", axis: "step"});
	}, ["data_loading", "loader_stages", "data_loading_steps"]],
	["utilization", "Utilization", curves, ["utilization", "utilization_time", "utilization_kernels", "utilization_operators", "utilization_phases", "utilization_steps", "device", "time_breakdown"]],
	["distributed", "Distributed", (parent) => {
		const name = (row) => [who(row), row.device === null ? "host" : "GPU " + row.device].filter(Boolean).join(", ");
		stack(parent, "Communication and computation", "distributed", name, [["computation_alone_ns", "Computation only", "kernel"], ["overlap_ns", "Overlap", "module"], ["communication_alone_ns", "Exposed communication", "communication"], ["other_ns", "Neither", "other"]], {isAcross: true});
		stack(parent, "NCCL operations: transfer and waiting", "distributed", name, [["transfer_ns", "Transfer", "communication"], ["waiting_ns", "Waiting for other ranks", "other"]], {isAcross: true});
		pageArrivals.arrivals(parent);
		topBars(parent, "Collective kernels by total time", "collectives", "name", "total_ns");
		heat(parent);
	}, ["distributed", "arrivals", "stragglers", "pipeline", "moe_balance", "collectives", "communication", "nccl_channels", "nccl_network", "missing_collectives", "hang"]],
	["idle", "Idle", (parent) => countBars(parent, "Idle time by cause", "idle", "part"), ["idle", "idle_gaps"]],
	["advice", "Advice", (parent) => {
		const rows = rowsOf("advice").filter((row) => row.verdict === "finding"), section = make("section", parent);
		make("h3", section, rows.length ? "Findings by what they save" : "No findings");
		findingList(section, rows);
	}, ["findings", "advice"]],
	["losses", "Overhead and losses", null, ["overhead", "losses", "notices", "windows", "processes"]],
	["about", "About", aboutPage, []],
];

/* Tables that no page lists. */
const named = new Set(pages.flatMap((page) => page[3]));
pages.find((page) => page[0] === "about")[3].push(...Object.keys(data).filter((key) => data[key].rows && !named.has(key)));

/* A chart gets its size in the first frame, after the layout, and is drawn again in the second one. */
const FRAMES = 3;

/* main gets the page's address once the page is on the screen: tests wait for that. */
async function settle(heading, hash, drawing) {
	await drawing;
	for (let i = 0; i < FRAMES; i++) {
		await new Promise((done) => requestAnimationFrame(done));
	}
	if (heading.isConnected) {
		main.dataset.drawn = hash;
	}
}

/* The tables of a page, its charts, and lines about tables without rows. */
function drawContent(name, draw, tables) {
	const known = tables.filter((each) => data[each]), full = known.filter((each) => rowsOf(each).length), nrFirst = isTableFirst.has(name) ? 1 : 0;
	full.slice(0, nrFirst).forEach((each) => drawTable(main, each));
	const drawing = draw ? draw(isPlain.has(name) ? main : charts(main)) : null;
	full.slice(nrFirst).forEach((each) => drawTable(main, each));
	if (full.length < known.length) {
		const section = make("section", main, null, "empty");
		known.filter((each) => !full.includes(each)).forEach((each) => drawTable(section, each));
	}
	return drawing;
}

function open() {
	const [id, key, query] = partsOfHash();
	const page = pages.find((each) => each[0] === (id === "step" ? "steps" : id)) || pages[0], [name, title, draw, tables] = page;
	shown.splice(0).forEach((each) => each.destroy());
	delete main.dataset.drawn;
	main.replaceChildren();
	scrollTo(0, 0);
	const table = readAddress(hasOwnAddress.has(name) ? 0 : id === "step" ? 3 : 1);
	const heading = make("h2", main, title);
	let drawing = null;
	if (id === "step") {
		heading.textContent = stepPage(main, timeline, key, query);
	} else {
		drawing = drawContent(name, draw, tables);
	}
	if (table && document.getElementById("table-" + table)) {
		document.getElementById("table-" + table).scrollIntoView();
	}
	for (const link of document.querySelectorAll("#nav a")) {
		if (link.hash === "#" + name) {
			link.setAttribute("aria-current", "page");
			link.scrollIntoView({block: "nearest", inline: "nearest"});
		} else {
			link.removeAttribute("aria-current");
		}
	}
	document.title = heading.textContent + " – gprof report";
	settle(heading, location.hash, drawing);
}

/* Pages without content come last. */
function fillNavigation() {
	const nav = document.getElementById("nav");
	const isEmpty = ([id, , , tables]) => {
		/* Each process has a row of what it computes and communicates. */
		const isAlone = id === "distributed" && !hasRanks && rowsOf("distributed").every((row) => !row.communication_ns);
		const hasOther = id === "about" || (id === "distributed" && hasField);
		return ["timeline", "timelines", "ranks"].includes(id) ? timeline.isEmpty : id === "flame" ? pageFlame.isEmpty : !hasOther && tables.length > 0 && tables.every((key) => (isAlone && key === "distributed") || !rowsOf(key).length);
	};
	const empty = pages.filter(isEmpty);
	for (const [id, title] of pages.filter((page) => !empty.includes(page))) {
		make("a", nav, title).href = "#" + id;
	}
	if (empty.length) {
		make("p", nav, "Not recorded");
	}
	for (const [id, title] of empty) {
		make("a", nav, title, "none").href = "#" + id;
	}
}

/* Opens what is folded for paper, and closes it again. */
function unfold(isOn) {
	for (const each of main.querySelectorAll(isOn ? "details:not([open])" : "details[data-closed]")) {
		each.open = isOn;
		each.toggleAttribute("data-closed", isOn);
	}
}

/* What the keys press: an element of the section with the focus, else of the first one in sight. */
function inSight(selector) {
	const all = [...main.querySelectorAll(selector)], own = document.activeElement.closest("main section"), top = document.querySelector("header").getBoundingClientRect().bottom;
	return all.find((each) => each.closest("section") === own) || all.find((each) => each.closest("section").getBoundingClientRect().bottom > top) || all[0];
}

/* Keys of all pages but the timeline, which has its own. */
function listenToKeys() {
	const acts = {"/": ["input[type=search]", (search) => search.select()], c: ["button.copy", (button) => button.click()], e: ["button.csv", (button) => button.click()]};
	document.addEventListener("keydown", (event) => {
		const [selector, act] = acts[event.key] || [], found = selector && inSight(selector);
		if (found && !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.closest("input, textarea, select") && !main.querySelector(".timeline")) {
			event.preventDefault();
			act(found);
		}
	});
}

/* The program, and which run of it this is: the recording, its host, when it began. They stay in sight. */
function fillHeader() {
	const [first] = rowsOf("processes"), [headline] = rowsOf("headline"), hosts = new Set(rowsOf("processes").map((row) => row.host).filter((host) => host && host !== "?"));
	const set = (id, text, title = text) => Object.assign(document.getElementById(id), {textContent: text, title});
	if (other) {
		set("who", other.who);
	} else if (first) {
		const {program, ranks, processes} = headline || {program: first.command, ranks: 0, processes: 1}, nr = ranks > 1 ? ranks : processes;
		set("who", (program === "?" ? first.file : program) + (nr > 1 ? ", " + nr + (ranks > 1 ? " ranks" : " processes") : "") + (data.selection ? " (selection)" : ""), first.command === "?" ? first.file : first.command);
		set("run", [data.page.paths.length > 1 ? data.page.paths.length + " paths" : data.page.paths[0] && shortPath(data.page.paths[0]), hosts.size > 1 ? hosts.size + " hosts" : [...hosts][0],
			data.page.started].filter(Boolean).join(" · "), data.page.paths.join(" "));
	}
}

function begin() {
	fillNavigation();
	fillHeader();
	listenToKeys();
	addEventListener("hashchange", () => {
		open();
		main.focus({preventScroll: true});
	});
	for (const name of ["beforeprint", "afterprint"]) {
		addEventListener(name, () => {
			printing(name === "beforeprint");
			unfold(name === "beforeprint");
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
