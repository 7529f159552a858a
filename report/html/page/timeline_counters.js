/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of the page's timeline: GPU use, power and memory from the page's tables over time, and the depth of launch
 * queues from the slices themselves. A curve keeps its value until the next point.
 */
"use strict";

const timelineCountersOf = (tools) => {
const {rowsOf, keyOf} = tools;
const {atLeast, isOnGpu, flowOf} = timelineData;

/* Points with a value, in order. */
function curveOf(rows, time, id, end) {
	const known = rows.filter((row) => row[id] !== null && row[id] !== undefined).sort((a, b) => a[time] - b[time]);
	return {at: [...known.map((row) => row[time]), ...(end && known.length ? [end(known[known.length - 1])] : [])],
		value: [...known.map((row) => row[id]), ...(end && known.length ? [0] : [])]};
}

/* The launches of a stream's activities that have not begun. */
function queueOf(data, track) {
	const changes = [];
	for (const row of track.rows) {
		for (let i = 0; i < row.nr; i++) {
			const flow = isOnGpu(data, row, i) && row.correlation[i] ? flowOf(data, row, i) : null;
			/* The first activity of a launch counts. */
			if (flow && !flow.isAutograd && flow.activities[0][0] === row && flow.activities[0][1] === i) {
				const [call, k] = flow.calls[0];
				changes.push([Math.min(call.begin[k], row.begin[i]), 1], [row.begin[i], -1]);
			}
		}
	}
	changes.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
	const at = [], value = [];
	let depth = 0;
	for (const [ns, change] of changes) {
		depth += change;
		if (at[at.length - 1] === ns) {
			value[value.length - 1] = depth;
		} else {
			at.push(ns);
			value.push(depth);
		}
	}
	return {at, value};
}

const perDevice = [["gpu_pct", "busy", "percent"], ["gpu_sampled_pct", "busy, sampled", "percent"], ["gpu_sm_pct", "SM active", "percent"], ["gpu_tensor_pct", "tensor cores active", "percent"], ["gpu_bandwidth_pct", "memory bandwidth", "percent"], ["gpu_power_w", "power", "W"], ["gpu_memory_bytes", "memory", "size"]];
const perProcess = [["cpu_process_pct", "Process CPU (% of one core)", "percent"], ["cpu_system_pct", "System CPU", "percent"], ["resident_bytes", "Process memory, resident", "size"]];
const ofAllocator = [["allocated_bytes", "allocated by the framework"], ["reserved_bytes", "reserved by the framework"]];

/* The counters of a process, counting from 1: [{title, type, curve()}]; a curve is {at, value, most}. */
function countersOf(data, process) {
	const row = rowsOf("processes")[process - 1], key = row ? keyOf(row) : null, list = [];
	function add(title, type, read) {
		let curve = null, version = -1;
		list.push({title, type, curve: () => {
			curve = curve && version === data.version ? curve : read();
			version = data.version;
			curve.most = curve.most || curve.value.reduce((most, value) => Math.max(most, value), 0);
			return curve;
		}});
	}
	const ownRows = (table) => (key === null ? [] : rowsOf(table).filter((each) => keyOf(each) === key));
	function addColumns(rows, columns, prefix, time, end) {
		for (const [id, title, type = "size"] of columns) {
			if (rows.some((each) => each[id] !== null && each[id] !== undefined)) {
				add(prefix + title, type, () => curveOf(rows, time, id, end));
			}
		}
	}
	const use = ownRows("utilization_time"), end = (last) => last.start_ns + last.duration_ns;
	for (const device of [...new Set(use.map((each) => each.device))].filter((each) => each !== null)) {
		addColumns(use.filter((each) => each.device === device), perDevice, "GPU " + device + " ", "start_ns", end);
	}
	const memory = ownRows("memory_curve");
	for (const device of new Set(memory.map((each) => each.device))) {
		addColumns(memory.filter((each) => each.device === device), ofAllocator, device + " ", "time_ns");
	}
	const streams = data.tracks.filter((each) => each.process === process && /^stream \d+$/.test(each.name) && each.rows.some((some) => some.correlation.some(Boolean)));
	for (const track of streams.sort((a, b) => a.parent - b.parent || a.rank - b.rank)) {
		const gpu = data.tracks[track.parent];
		add("Queue depth, " + (gpu ? gpu.name.split(" ", 2).join(" ") + ", " : "") + track.name + (data.dropped ? " (without merged events)" : ""), "number", () => queueOf(data, track));
	}
	const first = use.length ? use[0].device : null;
	addColumns(use.filter((each) => each.device === first), perProcess, "", "start_ns", end);
	return list;
}

/* The value at a time; null before the first point. */
function valueAt(curve, ns) {
	const i = atLeast(curve.at, ns);
	const last = i < curve.at.length && curve.at[i] === ns ? i : i - 1;
	return last < 0 ? null : curve.value[last];
}

function textOf(counter, value) {
	return value === null ? "n/a" : counter.type === "number" ? value.toLocaleString("en-US") : counter.type === "W" ? value.toLocaleString("en-US") + " W" : tools.one(value, counter.type);
}

return {countersOf, valueAt, textOf};
};
