/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the page's timeline: kinds of slices and their colours, the order and height of rows, and times as texts.
 */
"use strict";

const timelineRows = (() => {
const {categoryOf} = timelineData;
const ROW = 18, GAP = 5, DEPTHS = 8;
const WIDE = 1.5; /* slices of at least that many pixels are drawn one by one */

/* ---- kinds of slices ---- */

const other = [null, "Other", "#5f6670"];
/* The palette of Okabe and Ito, and darker colours like it. [category, title, colour] */
const kinds = [
	["step", "Step, record window", "#3b7a57"], ["cpu_op", "Operator", "#56b4e9"], ["python_function", "Python function", "#f0e442"],
	["user_annotation", "Range", "#009e73"], ["cuda_runtime", "API call", "#e69f00"], ["cuda_driver", "API call", "#e69f00"],
	["library", "API call", "#e69f00"], ["kernel", "Kernel", "#0072b2"], ["kernel,nccl", "Communication", "#d55e00"], ["collective", "Communication", "#d55e00"],
	["gpu_memcpy", "Memcpy", "#cc79a7"], ["gpu_memset", "Memset", "#7722cc"], ["cuda_sync", "Synchronization", "#5f6670"],
	["nccl", "NCCL call", "#ffbbbb"], ["overhead", "CUPTI overhead", "#779955"], ["mark", "Dropped events, notice", "#a8071a"], other,
];
const kindsByCategory = new Map(kinds.map((kind) => [kind[0], kind]));
const kindOf = (category) => kindsByCategory.get(category) || other;
const kindAt = (data, row, i) => kindOf(categoryOf(data, row, i));

/* A lighter or darker shade, to distinguish neighbours of one kind. */
const shadesOf = new Map(kinds.map((kind) => {
	const parts = [1, 3, 5].map((at) => parseInt(kind[2].slice(at, at + 2), 16));
	const shade = (toward, share) => "rgb(" + parts.map((part) => Math.round(part + (toward - part) * share)).join() + ")";
	const isDark = parts[0] * .3 + parts[1] * .59 + parts[2] * .11 < 130;
	return [kind, {fill: [kind[2], shade(255, .22), shade(0, .16)], ink: isDark ? "#fff" : "#000"}];
}));

/* The kind of each name, and which shade of it. */
function addNames(data) {
	data.shades = data.strings.map((name) => {
		let hash = 7;
		for (let i = 0; i < name.length; i++) {
			hash = (hash * 31 + name.charCodeAt(i)) | 0;
		}
		return (Math.imul(hash, 0x9e3779b1) >>> 8) % 3;
	});
	data.nameKinds = [];
	for (const row of data.rows) {
		for (let i = 0; i < row.nr; i++) {
			data.nameKinds[row.name[i]] = kindAt(data, row, i);
		}
	}
}

/* ---- rows ---- */

/* Tracks in the order of the page: for each process its steps, then threads, then devices. */
function layoutOf(data) {
	const list = [];
	const isOf = (track, ...categories) => track.rows.some((row) => row.nr && categories.includes(categoryOf(data, row, 0)));
	const isSteps = (track) => isOf(track, "step", "mark");
	const order = (tracks) => [...tracks].sort((a, b) => a.process - b.process || isSteps(b) - isSteps(a) || (b.kind === "thread") - (a.kind === "thread") || a.rank - b.rank || isOf(a, "cuda_sync") - isOf(b, "cuda_sync") || a.i - b.i);
	const walk = (track, level) => {
		if (level === 0 || track.rows.length) {
			list.push({track, level, isHead: level === 0, isOpen: track.rows.length <= DEPTHS, depths: track.rows.length});
		}
		order(track.inner).forEach((inner) => walk(inner, level + 1));
	};
	const tops = data.tracks.filter((track) => track.parent < 0 && (track.rows.length || track.inner.length));
	[...tops].sort((a, b) => a.process - b.process || (b.kind === "process") - (a.kind === "process") || a.i - b.i).forEach((track) => walk(track, 0));
	return list;
}

function place(layout) {
	let y = 4;
	for (const line of layout) {
		line.y = y;
		line.height = line.isHead && !line.depths ? ROW + 4 : (line.isOpen ? line.depths : Math.min(line.depths, line.depths > DEPTHS ? DEPTHS : 1)) * ROW + GAP;
		y += line.height;
	}
	return y;
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

return {ROW, GAP, WIDE, kinds, kindOf, kindAt, shadesOf, addNames, layoutOf, place, timeText, tickOf};
})();
