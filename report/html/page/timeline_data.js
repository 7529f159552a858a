/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeline's data, without a page: unpacked (report/html/timeline_data.h describes the format), with
 * levels for a quick view of any stretch of a row, and with flows. Times are ns since the start of the recording
 * of all processes.
 */
"use strict";

const timelineData = (() => {
const KINDS = ["process", "thread", "other"];
const TEXT = 3, NUMBER = 4; /* kinds of values; the others are numbers, too */

/* ---- bytes ---- */

async function inflate(text) {
	const packed = Uint8Array.from(atob(text), (digit) => digit.charCodeAt(0));
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

/* All varints of a column. */
function numbersOf(bytes, begin, end) {
	let nr = 0;
	for (let at = begin; at < end; at++) {
		nr += bytes[at] < 0x80;
	}
	const numbers = new Float64Array(nr);
	for (let at = begin, i = 0; i < nr; i++) {
		let value = 0, factor = 1;
		for (; bytes[at] >= 0x80; at++) {
			value += (bytes[at] & 0x7f) * factor;
			factor *= 128;
		}
		numbers[i] = value + bytes[at++] * factor;
	}
	return numbers;
}

/* ---- rows ---- */

/*
 * levels[k]: the longest of each 2^(k + 1) slices. busy: the sum of the lengths before each slice.
 * With both, the longest slice of a stretch and its busy time take a few steps, however many slices
 * it has.
 */
function addLevels(row) {
	const nr = row.nr, length = (i) => row.end[i] - row.begin[i];
	row.busy = new Float64Array(nr + 1);
	row.levels = [];
	for (let i = 0; i < nr; i++) {
		row.busy[i + 1] = row.busy[i] + length(i);
	}
	for (let size = 2, below = null; size <= nr; size *= 2) {
		const level = new Uint32Array(Math.floor(nr / size));
		for (let i = 0; i < level.length; i++) {
			const a = below ? below[2 * i] : 2 * i, b = below ? below[2 * i + 1] : 2 * i + 1;
			level[i] = length(b) > length(a) ? b : a;
		}
		row.levels.push(level);
		below = level;
	}
}

/* The longest of slices i to j - 1. */
function longest(row, i, j) {
	let best = i;
	while (i < j) {
		let k = 0;
		while (k < row.levels.length && i % (2 << k) === 0 && i + (2 << k) <= j) {
			k++;
		}
		const at = k ? row.levels[k - 1][i / (1 << k)] : i;
		if (row.end[at] - row.begin[at] > row.end[best] - row.begin[best]) {
			best = at;
		}
		i += 1 << k;
	}
	return best;
}

/* The first place from `from` on where a sorted array is at least `value`; near places are found fastest. */
function atLeast(array, value, from = 0) {
	let low = from, step = 1;
	while (low + step < array.length && array[low + step] < value) {
		low += step;
		step *= 2;
	}
	let high = Math.min(array.length, low + step);
	while (low < high) {
		const middle = (low + high) >> 1;
		if (array[middle] < value) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

/* The first slice that ends after `ns`, or begins there. */
function firstFrom(row, ns) {
	const i = atLeast(row.end, ns);
	return i < row.nr && row.end[i] === ns && row.begin[i] < ns ? i + 1 : i;
}

/*
 * Sums of the slices that are not there one by one; each level has buckets twice as wide. hole: how much of a bucket's time
 * has all its slices one by one.
 */
function addBuckets(row, width) {
	const levels = [row.buckets];
	row.bucketLevels = levels;
	while (levels[levels.length - 1].length > 1) {
		const level = [];
		for (const bucket of levels[levels.length - 1]) {
			const last = level[level.length - 1], at = Math.floor(bucket.at / 2);
			if (last && last.at === at) {
				last.busy += bucket.busy;
				last.nr += bucket.nr;
				last.hole += bucket.hole;
				if (bucket.longest > last.longest) {
					last.longest = bucket.longest;
					last.name = bucket.name;
				}
			} else {
				level.push({...bucket, at});
			}
		}
		levels.push(level);
	}
	row.bucketWidth = width;
}

/* 0: none. Other numbers are differences from the id before. */
function readIds(column, from, ids) {
	for (let i = 0, id = 0; i < ids.length; i++) {
		const step = column[from + i] - 1;
		if (step >= 0) {
			id += step % 2 ? -(step + 1) / 2 : step / 2;
			ids[i] = id;
		}
	}
}

function readRow(head, columns, at, [track, depth, nr, nrBuckets]) {
	const row = {track, depth, nr, begin: new Float64Array(nr), end: new Float64Array(nr), name: columns[2].subarray(at.slice, at.slice + nr),
		set: columns[3].subarray(at.slice, at.slice + nr), correlation: new Float64Array(nr), arrow: new Uint32Array(nr), number: columns[5].subarray(at.slice, at.slice + nr), buckets: []};
	let end = -head.first_ns, bucket = 0;
	readIds(columns[4], at.slice, row.correlation);
	readIds(columns[6], at.slice, row.arrow);
	for (let i = 0; i < nr; i++, at.slice++) {
		row.begin[i] = end + columns[0][at.slice];
		end = row.end[i] = row.begin[i] + columns[1][at.slice];
	}
	for (let i = 0; i < nrBuckets; i++, at.bucket++) {
		bucket += columns[7][at.bucket];
		row.buckets.push({at: bucket, busy: columns[8][at.bucket], longest: columns[9][at.bucket], name: columns[10][at.bucket], nr: columns[11][at.bucket], hole: 0});
	}
	addLevels(row);
	addBuckets(row, 2 ** head.bucket_shift);
	return row;
}

/* ---- all of it ---- */

/*
 * Adds a track with the phases of each process; figure: that of the view `model` (model.c), which has the number of the phase, the time
 * since the one before and the length of each. They have no arguments.
 */
function addPhases(data, figure) {
	const begin = data.strings.length, set = data.sets.length;
	data.strings.push(...figure.names);
	data.categories.push(...figure.names.map((name, i) => "phase " + i));
	data.sets.push(...figure.names.map((name, i) => [data.categories.length - figure.names.length + i, 0]));
	for (const {process, segments} of figure.processes) {
		const parent = data.tracks.find((track) => track.kind === "process" && track.process === process), nr = segments.length / 3;
		if (!parent || !nr) {
			continue;
		}
		const track = {i: data.tracks.length, parent: parent.i, kind: "other", process, rank: 0, name: "phases" + (figure.left_out ? " (without " + figure.left_out + " more)" : ""),
			label: "", rows: [], inner: [], isOfPhases: true};
		const row = {i: data.rows.length, track: track.i, depth: 0, nr, begin: new Float64Array(nr), end: new Float64Array(nr), name: new Float64Array(nr), set: new Float64Array(nr),
			correlation: new Float64Array(nr), arrow: new Uint32Array(nr), number: new Float64Array(nr), buckets: []};
		for (let i = 0, end = 0; i < nr; i++) {
			const [phase, gap, length] = segments.slice(3 * i, 3 * i + 3);
			row.begin[i] = end + gap;
			end = row.end[i] = row.begin[i] + length;
			row.name[i] = begin + phase;
			row.set[i] = set + phase;
		}
		addLevels(row);
		addBuckets(row, 2 ** data.bucket_shift);
		track.rows.push(row);
		parent.inner.push(track);
		data.tracks.push(track);
		data.rows.push(row);
	}
}

async function load(text) {
	const bytes = await inflate(text), nrJson = new DataView(bytes.buffer).getUint32(0, true);
	const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + nrJson)));
	let begin = 4 + nrJson;
	const columns = head.columns.map((length) => {
		begin += length;
		return numbersOf(bytes, begin - length, begin);
	});
	const at = {slice: 0, bucket: 0};
	const rows = head.rows.map((row) => readRow(head, columns, at, row));
	const tracks = head.tracks.map(([parent, kind, process, rank, name, label], i) => ({
		i, parent: parent - 1, kind: KINDS[kind], process, rank, name: head.strings[name], label: head.strings[label], rows: [], inner: []}));
	rows.forEach((row, i) => {
		row.i = i;
		tracks[row.track].rows.push(row);
	});
	for (const track of tracks) {
		track.rows.sort((a, b) => a.depth - b.depth);
		if (track.parent >= 0) {
			tracks[track.parent].inner.push(track);
		}
	}
	const last = rows.reduce((most, row) => Math.max(most, row.nr ? row.end[row.nr - 1] : 0), head.last_ns - head.first_ns);
	const first = rows.reduce((least, row) => Math.min(least, row.nr ? row.begin[0] : 0), 0);
	/* covered: by process, [from, to) where timeline_detail.js has put all slices. version: how often it changed the rows. nrOwn: slices of the page. */
	return {...head, rows, tracks, first, last: Math.max(last, first + 1), nr: at.slice, nrOwn: at.slice, covered: new Map(), version: 0};
}

/* How much of [from, to) may have slices that are not there one by one. */
function openIn(data, process, from, to) {
	const spans = data.covered.get(process) || [];
	return Math.max(0, spans.reduce((open, [begin, end]) => open - Math.max(0, Math.min(to, end) - Math.max(from, begin)), to - from));
}

const categoryOf = (data, row, i) => data.categories[data.sets[row.set[i]][0]];
const isInstant = (data, row, i) => data.sets[row.set[i]][1] === 1;

/* [key, value] of a slice, as texts and numbers. */
function argsOf(data, row, i) {
	const set = data.sets[row.set[i]], args = [];
	for (let k = 2; k < set.length; k += 3) {
		const kind = set[k + 1], value = kind === NUMBER ? row.number[i] : kind === TEXT ? data.strings[set[k + 2]] : set[k + 2];
		args.push([data.keys[set[k]], value]);
		if (data.keys[set[k]] === "bytes" && row.end[i] > row.begin[i]) {
			args.push(["GB/s", value / (row.end[i] - row.begin[i])]);
		}
	}
	return row.correlation[i] ? [["correlation", row.correlation[i]], ...args] : args;
}

const flowKey = (data, row, i) => data.tracks[row.track].process + " " + row.correlation[i];
const arrowKey = (data, row, i) => data.tracks[row.track].process + " arrow " + row.arrow[i];

/* Joins calls with what they launched, by process and correlation ID, and forward operators with their autograd nodes. */
function joinFlows(data) {
	const flows = new Map(), calls = new Set(["cuda_runtime", "cuda_driver", "library"]);
	const activities = new Set(["kernel", "kernel,nccl", "gpu_memcpy", "gpu_memset"]);
	const kinds = data.sets.map((set) => calls.has(data.categories[set[0]]) ? "calls" : activities.has(data.categories[set[0]]) ? "activities" : null);
	for (const row of data.rows) {
		for (let i = 0; i < row.nr; i++) {
			const kind = row.correlation[i] ? kinds[row.set[i]] : null;
			if (kind) {
				const key = flowKey(data, row, i), flow = flows.get(key) || {calls: [], activities: []};
				flow[kind].push([row, i]);
				flows.set(key, flow);
			}
		}
	}
	for (const row of data.rows) {
		for (let i = 0; i < row.nr; i++) {
			if (row.arrow[i]) {
				const key = arrowKey(data, row, i), flow = flows.get(key) || {calls: [], activities: [], isAutograd: true};
				flow[flow.calls.length ? "activities" : "calls"].push([row, i]);
				flows.set(key, flow);
			}
		}
	}
	for (const [key, flow] of flows) {
		if (flow.isAutograd && flow.activities.length && flow.activities[0][0].begin[flow.activities[0][1]] < flow.calls[0][0].begin[flow.calls[0][1]]) {
			[flow.calls, flow.activities] = [flow.activities, flow.calls];
		}
		if (!flow.calls.length || !flow.activities.length) {
			flows.delete(key);
		}
	}
	return flows;
}

/* The flow of a slice; the first use joins all flows. */
function flowOf(data, row, i) {
	data.flows = data.flows || joinFlows(data);
	return data.flows.get(row.arrow[i] ? arrowKey(data, row, i) : flowKey(data, row, i));
}

/* ---- what a slice lies in and what launched it ---- */

const lengthOf = (row, i) => row.end[i] - row.begin[i];

/* The slices that are open at that time in the first `nr` rows of a track, the innermost first. */
function openAt(data, track, ns, nr = track.rows.length) {
	const open = [];
	for (const row of track.rows.slice(0, nr).reverse()) {
		const i = firstFrom(row, ns);
		if (i < row.nr && row.begin[i] <= ns && !isInstant(data, row, i)) {
			open.push([row, i]);
		}
	}
	return open;
}

const GPU_CATEGORIES = new Set(["kernel", "kernel,nccl", "gpu_memcpy", "gpu_memset", "cuda_sync"]);
const isOnGpu = (data, row, i) => GPU_CATEGORIES.has(categoryOf(data, row, i));

/* The time outside of slices nested in it; null where the page has not all of them. */
function selfTime(data, row, i) {
	const inner = data.tracks[row.track].rows.find((each) => each.depth === row.depth + 1);
	if (!inner) {
		return lengthOf(row, i);
	}
	if (inner.buckets.length && openIn(data, data.tracks[row.track].process, row.begin[i], row.end[i]) > 0) {
		return null;
	}
	const first = firstFrom(inner, row.begin[i]), last = Math.max(first, atLeast(inner.begin, row.end[i], first));
	return Math.max(0, lengthOf(row, i) - (inner.busy[last] - inner.busy[first]));
}

/* The slice that launched a GPU activity, or the slice itself; null where the launch is not known. */
function callOf(data, row, i) {
	if (!isOnGpu(data, row, i)) {
		return [row, i];
	}
	const flow = flowOf(data, row, i);
	return flow && !flow.isAutograd ? flow.calls[0] : null;
}

/* From the end of the launch to the begin of the activity; 0 if it began before. */
function launchDelay(data, row, i) {
	const call = isOnGpu(data, row, i) ? callOf(data, row, i) : null;
	return call ? Math.max(0, row.begin[i] - call[0].end[call[1]]) : null;
}

/* The place in a program: "train.py(12): step" of a stack, innermost first. */
function lineOfStack(data, row, i) {
	const stack = argsOf(data, row, i).find(([key]) => key === "Python stack");
	return stack && stack[1] ? String(stack[1]).split(" <- ")[0] : null;
}

/* The operator that a slice is in or that launched it, and the Python line that it ran for; null for what is not known. */
function originOf(data, row, i) {
	const call = callOf(data, row, i);
	if (!call) {
		return {operator: null, line: null};
	}
	const [from, at] = call, track = data.tracks[from.track], ns = from.begin[at];
	const outer = openAt(data, track, ns, from.depth).filter(([each, k]) => each.end[k] >= from.end[at]);
	const operator = outer.find(([each, k]) => categoryOf(data, each, k) === "cpu_op");
	const python = track.inner.filter((inner) => inner.rows.some((each) => each.nr && categoryOf(data, each, 0) === "python_function"));
	const functions = python.flatMap((inner) => openAt(data, inner, ns)).filter(([each]) => each !== row);
	return {
		operator: operator ? data.strings[operator[0].name[operator[1]]] : null,
		line: [[from, at], ...outer].map(([each, k]) => lineOfStack(data, each, k)).find(Boolean) || (functions.length ? data.strings[functions[0][0].name[functions[0][1]]] : null),
	};
}

return {TEXT, load, addLevels, addBuckets, openIn, addPhases, longest, atLeast, firstFrom, lengthOf, categoryOf, isInstant, isOnGpu, argsOf, flowOf, selfTime, launchDelay, originOf};
})();
