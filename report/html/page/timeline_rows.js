/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the page's timeline: kinds of slices and their colours, the order and height of rows, and times as texts.
 */
"use strict";

const timelineRows = (() => {
const {categoryOf} = timelineData, {colorOf, inkOn} = pagePalette;
const ROW = 18, GAP = 5, DEPTHS = 8;
const WIDE = 1.5; /* slices of at least that many pixels are drawn one by one */

/* ---- kinds of slices ---- */

const other = [null, "Other", colorOf("other")];
/* [category, title, colour] */
const kinds = [
	["step", "Step", "step"], ["cpu_op", "Operator", "operator"], ["python_function", "Python function", "python"],
	["user_annotation", "Range", "range"], ["cuda_runtime", "API call", "api"], ["cuda_driver", "API call", "api"],
	["library", "API call", "api"], ["kernel", "Kernel", "kernel"], ["kernel,nccl", "Communication", "communication"], ["collective", "Communication", "communication"],
	["gpu_memcpy", "Memcpy", "memcpy"], ["gpu_memset", "Memset", "memset"], ["cuda_sync", "Synchronization", "other"],
	["nccl", "NCCL call", "nccl-call"], ["thread_state", "CPU of a thread", "other"], ["overhead", "CUPTI overhead", "overhead"], ["mark", "Dropped events, notice", "notice"],
	["phase 0", "Data loader", "loader"], ["phase 1", "Forward", "forward"], ["phase 2", "Backward", "backward"], ["phase 3", "Optimizer", "optimizer"],
].map(([category, title, color]) => [category, title, colorOf(color)]).concat([other]);
const kindsByCategory = new Map(kinds.map((kind) => [kind[0], kind]));
const kindOf = (category) => kindsByCategory.get(category) || other;
const kindAt = (data, row, i) => kindOf(categoryOf(data, row, i));

/* A lighter and a darker shade distinguish neighbours of one kind; each has the ink that is read best on it. */
const shadesOf = new Map(kinds.map((kind) => {
	const fill = [kind[2], pagePalette.shadeOf(kind[2], 255, .22), pagePalette.shadeOf(kind[2], 0, .16)];
	return [kind, {fill, ink: fill.map(inkOn)}];
}));

function shadeNumberOf(name) {
	let hash = 7;
	for (let i = 0; i < name.length; i++) {
		hash = (hash * 31 + name.charCodeAt(i)) | 0;
	}
	return (Math.imul(hash, 0x9e3779b1) >>> 8) % 3;
}

/* The kind of each name, and which shade of it. */
function addNames(data) {
	data.shades = data.strings.map(shadeNumberOf);
	data.nameKinds = [];
	for (const row of data.rows) {
		for (let i = 0; i < row.nr; i++) {
			data.nameKinds[row.name[i]] = kindAt(data, row, i);
		}
	}
}

/* ---- what threads and streams are for ---- */

const isOf = (data, track, ...categories) => track.rows.some((row) => row.nr && categories.includes(categoryOf(data, row, 0)));

/* The share of the outermost slices that are named so. */
function shareOf(data, track, pattern) {
	const row = track.rows[0], most = row ? Math.min(row.nr, 400) : 0;
	let nr = 0;
	for (let i = 0; i < most; i++) {
		nr += pattern.test(data.strings[row.name[i]]);
	}
	return most ? nr / most : 0;
}

/* Threads by their role, in the order of the page. */
const roles = ["main", "autograd", "loader", ""];

/* The role of each thread of a process with that PID. */
function rolesOf(data, threads, pid) {
	const found = new Map(), busy = (track) => track.rows.reduce((sum, row) => sum + row.nr, 0);
	for (const track of threads) {
		found.set(track, shareOf(data, track, /^autograd::engine/) || shareOf(data, track, /Backward\d*$/) >= .5 || /autograd/i.test(track.name) ? "autograd"
			: /pin_?mem|data_?load|loader|data_worker/i.test(track.name) || shareOf(data, track, /DataLoader/) >= .5 ? "loader" : "");
	}
	const others = threads.filter((track) => found.get(track) === "");
	/* Backward passes on CPUs run on the main thread. */
	const main = threads.find((track) => track.name.split(/[ (]/)[1] === String(pid)) || others.sort((a, b) => busy(b) - busy(a))[0];
	if (main) {
		found.set(main, "main");
	}
	return found;
}

/* The use of a slice on a stream: "compute", "NCCL", "copies HtoD", "memsets". */
function useOf(data, row, i) {
	const category = categoryOf(data, row, i), copy = /\b[A-Z]to[A-Z]\b/.exec(data.strings[row.name[i]]);
	return category === "kernel" ? "compute" : category === "kernel,nccl" ? "NCCL" : category === "gpu_memset" ? "memsets"
		: category === "gpu_memcpy" ? "copies" + (copy ? " " + copy[0] : "") : category === "cuda_sync" ? "waits" : null;
}

/* Streams by their main use, in the order of the page. */
const uses = ["compute", "NCCL", "copies", "memsets", "waits"];

/* The uses that take a tenth of a stream's busy time at least, the main one first. */
function usesOf(data, track) {
	const times = new Map();
	let sum = 0;
	for (const row of track.rows) {
		for (let i = 0; i < row.nr; i++) {
			const use = useOf(data, row, i), ns = row.end[i] - row.begin[i];
			if (use) {
				times.set(use, (times.get(use) || 0) + ns);
				sum += ns;
			}
		}
	}
	return [...times].filter(([, ns]) => ns * 10 >= sum).sort((a, b) => b[1] - a[1]).map(([use]) => use);
}

/* ---- rows ---- */

const COUNTER = 34; /* height of a counter's curve */

/*
 * Lines of the page from top to bottom: for each process its steps and phases, threads by role, its GPUs with
 * streams by use, and its counters, which are folded. A line is a group of others, a track with rows, or a counter.
 * describe(process, track): {pid, title, short}. countersOf(process): [{title, ...}]. Processes count from 1; data.process: that one alone.
 * foldedTo: lines with more rows than that are folded to that many.
 */
function layoutOf(data, describe, countersOf, foldedTo = Infinity) {
	const list = [];
	function add(title, parent, what) {
		const line = {id: list.length, title, path: parent ? [...parent.path, parent] : [], level: parent ? parent.level + 1 : 0,
			track: null, counter: null, isGroup: false, depths: 0, isOpen: true, isPinned: false, isQuiet: false, ...what};
		if (what && what.depths > foldedTo) {
			Object.assign(line, {isOpen: false, folded: foldedTo});
		}
		line.wasOpen = line.isOpen;
		list.push(line);
		return line;
	}
	function addTrack(track, title, group, level = group.level + 1) {
		const nr = track.rows.length;
		if (nr) {
			/* A single record window says nothing: it is shown where it is looked for. */
			const isQuiet = track.name === "record windows" && track.rows.every((row) => row.nr < 2);
			add(title, group, {track, level, depths: nr, isOpen: nr <= DEPTHS, isQuiet});
		}
		[...track.inner].sort((a, b) => a.rank - b.rank || a.i - b.i)
			.forEach((inner) => addTrack(inner, nr ? inner.name : title + ": " + inner.name, group, level + (nr ? 1 : 0)));
	}
	function addStreams(gpu, head) {
		const numbers = (track) => (/^stream (\d+)/.exec(track.name) || [0, Infinity])[1] * 1;
		const streams = gpu.inner.map((track) => ({track, uses: usesOf(data, track), nr: numbers(track), isWait: isOf(data, track, "cuda_sync")}));
		/* A stream's waits stand beside the stream. */
		const placeOf = (each) => {
			const own = each.isWait ? streams.find((other) => !other.isWait && other.nr === each.nr) : each;
			const at = own ? uses.findIndex((use) => (own.uses[0] || "").startsWith(use)) : uses.length;
			return at < 0 ? uses.length : at;
		};
		streams.sort((a, b) => placeOf(a) - placeOf(b) || a.nr - b.nr || a.isWait - b.isWait || a.track.i - b.track.i);
		streams.forEach(({track, uses: own, isWait}) => addTrack(track, track.name + (own.length && !isWait ? ": " + own.join(", ").replace(/, copies /g, ", ") : ""), head));
	}
	/* Processes with steps or GPUs stand above their helpers, such as loader workers. */
	const isHelper = (process) => !data.tracks.some((track) => track.process === process && (track.name === "steps" || (track.parent < 0 && track.kind !== "process")));
	const processes = [...new Set(data.tracks.map((track) => track.process))].sort((a, b) => isHelper(a) - isHelper(b) || a - b);
	for (const process of data.process ? [data.process] : processes) {
		const tops = data.tracks.filter((track) => track.process === process && track.parent < 0 && (track.rows.length || track.inner.length));
		const own = tops.find((track) => track.kind === "process");
		if (!tops.length) {
			continue;
		}
		const {pid, title, short} = describe(process, own || tops[0]), head = add(title, null, {isGroup: true, short, process});
		const inner = own ? own.inner : [], threads = inner.filter((track) => track.kind === "thread"), role = rolesOf(data, threads, pid);
		const rank = (track) => (isOf(data, track, "step", "mark") ? 0 : track.isOfPhases ? .5 : track.kind === "thread" ? 1 + roles.indexOf(role.get(track)) : 9);
		if (own && own.rows.length) {
			addTrack({...own, inner: []}, own.name, head);
		}
		[...inner].sort((a, b) => rank(a) - rank(b) || a.rank - b.rank || a.i - b.i)
			.forEach((track) => addTrack(track, (role.get(track) ? role.get(track) + " " : "") + track.name, head));
		for (const gpu of tops.filter((track) => track !== own)) {
			const group = add(gpu.name.replace(/(, rank \d+)?, process \d+$/, ""), head, {isGroup: true});
			if (gpu.rows.length) {
				addTrack({...gpu, inner: []}, gpu.name, group);
			}
			addStreams(gpu, group);
		}
		const counters = countersOf(process);
		const group = counters.length ? add("Counters", head, {isGroup: true, isOpen: false}) : null;
		counters.forEach((counter) => add(counter.title, group, {counter}));
	}
	return list;
}

const heightOf = (line) => (line.isGroup ? ROW + 4 : line.counter ? COUNTER + GAP
	: (line.isOpen ? line.depths : line.folded || Math.min(line.depths, line.depths > DEPTHS ? DEPTHS : 1)) * ROW + GAP);

/* Sets which lines are shown and where: pinned ones first. Returns the height of those and of all. */
function place(layout, filter = "") {
	const words = filter.trim().toLowerCase();
	const holds = (line) => line.title.toLowerCase().includes(words);
	const own = new Set(layout.filter((line) => !line.isGroup && (words ? [line, ...line.path].some(holds) : !line.isQuiet)));
	const groups = new Set([...own].flatMap((line) => line.path));
	/* A filter also shows rows of folded groups, but no counters. */
	const isShown = (line) => (line.isGroup ? groups.has(line) : own.has(line) && !line.isPinned) &&
		line.path.every((group) => group.isOpen || (words && !line.counter));
	let y = 4;
	const put = (line) => {
		line.y = y;
		line.height = heightOf(line);
		y += line.height;
	};
	const pinned = layout.filter((line) => line.isPinned);
	pinned.forEach(put);
	const pinnedHeight = pinned.length ? y : 0;
	for (const line of layout) {
		line.isShown = line.isPinned || isShown(line);
		if (line.isShown && !line.isPinned) {
			put(line);
		}
	}
	return {pinnedHeight, height: y};
}

/* ---- numbers ---- */

const units = [["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]];

/* A time on the axis, with enough digits to distinguish neighbours. */
function timeText(ns, step) {
	const unit = units.find((each) => Math.max(Math.abs(ns), step) >= each[1]) || units[3];
	return Number((ns / unit[1]).toFixed(Math.max(0, Math.ceil(Math.log10(unit[1] / step))))).toLocaleString("en-US", {maximumFractionDigits: 9}) + " " + unit[0];
}

function tickOf(span, most) {
	const least = span / most, power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
	return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least) || 10 * power;
}

return {ROW, GAP, WIDE, COUNTER, kinds, kindOf, kindAt, shadesOf, shadeNumberOf, addNames, layoutOf, place, timeText, tickOf};
})();
