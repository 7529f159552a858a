/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saves slices and counters of the timeline as Chrome JSON, which Perfetto reads, too. A track is a row (a tid) of its own in its
 * process, so that slices of a row nest.
 */
"use strict";

const timelineJsonOf = (() => {
const {atLeast, firstFrom, categoryOf, isInstant, argsOf, flowOf} = timelineData;
const ROWS_APART = 10000000; /* tids of a system are below */
const units = {percent: "%", size: "B", W: "W"};

class Trace {
	/* pidOf(process): its PID. */
	constructor(data, pidOf) {
		this.data = data;
		this.pidOf = pidOf;
		this.events = [];
		this.rows = new Map(); /* by track */
		this.flows = new Map(); /* their numbers */
		for (const process of data.tracks.filter((track) => track.kind === "process")) {
			const pid = pidOf(process.process);
			this.name("process", pid, 0, process.name, process.rank);
			if (process.label) {
				this.add({ph: "M", name: "process_labels", pid, tid: 0, args: {labels: process.label}});
			}
		}
	}
	add(event) {
		this.events.push(JSON.stringify(event));
	}
	/* Of a process or thread: its name, and where it stands among the others. */
	name(what, pid, tid, name, index) {
		this.add({ph: "M", name: what + "_name", pid, tid, args: {name}});
		this.add({ph: "M", name: what + "_sort_index", pid, tid, args: {sort_index: index}});
	}
	us(ns) {
		return (ns + this.data.first_ns) / 1000;
	}
	/* The row of a track, named when it is new; the viewer adds the tid to a thread's name. order: of rows. */
	row(track, order) {
		if (!this.rows.has(track)) {
			const [, tid, name] = (track.kind === "thread" && /^thread (\d+)(?: \((.*)\))?$/s.exec(track.name)) || [];
			const parent = this.data.tracks[track.parent], row = {pid: this.pidOf(track.process), tid: tid ? Number(tid) : ROWS_APART + track.i};
			this.name("thread", row.pid, row.tid, tid ? name || "thread" : (parent && parent.kind !== "process" ? parent.name + ": " : "") + track.name, order);
			this.rows.set(track, row);
		}
		return this.rows.get(track);
	}
	/* An arrow begins at calls and ends at activities; both ends have to be there. */
	arrow(at, flow, row, i) {
		if (!this.flows.has(flow)) {
			this.flows.set(flow, this.flows.size + 1);
		}
		const name = flow.isAutograd ? "fwdbwd" : "ac2g", isBegin = flow.calls.some(([each, k]) => each === row && k === i);
		this.add({ph: isBegin ? "s" : "f", ...(isBegin ? {} : {bp: "e"}), id: this.flows.get(flow), cat: name, name, ...at});
	}
	/* A duration is the difference of both ends as doubles: a reader that adds them gets the end, where the next slice may begin. */
	slice(track, order, row, i, isWanted) {
		const data = this.data, flow = flowOf(data, row, i), ts = this.us(row.begin[i]), at = {...this.row(track, order), ts};
		const kind = isInstant(data, row, i) ? {ph: "i", s: "t"} : {ph: "X", dur: this.us(row.end[i]) - ts};
		this.add({...kind, cat: categoryOf(data, row, i) || "", name: data.strings[row.name[i]], ...at, args: Object.fromEntries(argsOf(data, row, i))});
		if (flow && flow.calls.some(isWanted) && flow.activities.some(isWanted)) {
			this.arrow(at, flow, row, i);
		}
	}
	/* The values of a counter in that time, and the one that it begins with. */
	counter({process, title, type, curve}, from, to) {
		const {at, value} = curve(), first = atLeast(at, from);
		for (let i = first > 0 && at[first] !== from ? first - 1 : first; i < at.length && at[i] < to; i++) {
			this.add({ph: "C", name: title, pid: this.pidOf(process), ts: this.us(Math.max(at[i], from, 0)), args: {[units[type] || "value"]: value[i]}});
		}
	}
	text() {
		return "{\"displayTimeUnit\": \"ns\", \"baseTimeNanoseconds\": " + this.data.base_ns + ", \"traceEvents\": [\n" + this.events.join(",\n") + "\n]}\n";
	}
}

/* Tracks from top to bottom: each with those in it, then the GPUs of its process. */
function ordered(data) {
	const byRank = (tracks) => tracks.slice().sort((a, b) => a.rank - b.rank), inner = (track) => [track, ...byRank(track.inner).flatMap(inner)];
	const roots = data.tracks.filter((track) => track.parent < 0), processes = byRank(roots.filter((track) => track.kind === "process"));
	return [...processes, ...byRank(roots.filter((track) => track.kind !== "process"))].flatMap(inner);
}

/* Is a slice in that time? The same rule as `gprof-report timeline --time`. */
const isIn = (row, i, from, to) => row.begin[i] < to && (row.end[i] > from || row.begin[i] === from);

/* The slices and counters ({process, title, type, curve}) of that time as the text of a .json. */
function jsonOf(data, from, to, counters, pidOf) {
	const trace = new Trace(data, pidOf);
	/* Phases are derived: `gprof-report timeline` has none. */
	ordered(data).filter((each) => !each.isOfPhases).forEach((track, order) => {
		for (const row of track.rows) {
			for (let i = firstFrom(row, from); i < row.nr && row.begin[i] < to; i++) {
				if (isIn(row, i, from, to)) {
					trace.slice(track, order, row, i, ([each, k]) => isIn(each, k, from, to));
				}
			}
		}
	});
	counters.forEach((counter) => trace.counter(counter, from, to));
	return trace.text();
}

return jsonOf;
})();
