/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saves slices and counters of the timeline as a Perfetto trace (report/timeline/perfetto.proto), laid out as perfetto.c does.
 */
"use strict";

const timelineTraceOf = (() => {
const {UINT, INT, DOUBLE, TEXT, NUMBER, atLeast, firstFrom, isInstant, flowOf} = timelineData;

const spare = [];

/* The growing bytes of a message. */
class Message {
	constructor() {
		this.bytes = new Uint8Array(4096);
		this.nr = 0;
	}
	room(nr) {
		if (this.nr + nr > this.bytes.length) {
			const bytes = new Uint8Array(Math.max(this.bytes.length * 2, this.nr + nr));
			bytes.set(this.bytes.subarray(0, this.nr));
			this.bytes = bytes;
		}
	}
	varint(value) {
		this.room(10);
		for (; value >= 128; value = Math.floor(value / 128)) {
			this.bytes[this.nr++] = value % 128 + 128;
		}
		this.bytes[this.nr++] = value;
	}
	/* An integer. Negative ones, and long ones that are texts because a double would round them, need BigInt. */
	uint(field, value) {
		this.varint(field * 8);
		if (typeof value === "number" && value >= 0) {
			this.varint(value);
			return;
		}
		this.room(10);
		let rest = BigInt.asUintN(64, BigInt(value));
		for (; rest >= 128n; rest >>= 7n) {
			this.bytes[this.nr++] = Number(rest & 127n) + 128;
		}
		this.bytes[this.nr++] = Number(rest);
	}
	fixed(field, write) {
		this.varint(field * 8 + 1);
		this.room(8);
		write(new DataView(this.bytes.buffer, this.nr, 8));
		this.nr += 8;
	}
	double(field, value) {
		this.fixed(field, (view) => view.setFloat64(0, value, true));
	}
	add(field, bytes) {
		this.varint(field * 8 + 2);
		this.varint(bytes.length);
		this.room(bytes.length);
		this.bytes.set(bytes, this.nr);
		this.nr += bytes.length;
	}
	text(field, text) {
		this.add(field, new TextEncoder().encode(text));
	}
	message(field, write) {
		const inner = spare.pop() || new Message();
		inner.nr = 0;
		write(inner);
		this.add(field, inner.bytes.subarray(0, inner.nr));
		spare.push(inner);
	}
}

const PACKET = 1, TIMESTAMP = 8, SEQUENCE = 10, FLAGS = 13, CLOCKS = 6, EVENT = 11, INTERNED = 12, TRACK = 60;
const EVENTS = 1, DESCRIPTORS = 2; /* sequences: else events of a GPU would take the thread of the last descriptor */
const BEHIND_PROCESS = 2 ** 26, COUNTERS_LAST = 2 ** 30; /* GPUs, and counters, stand behind what else a process has */
const units = {percent: "%", size: "B", W: "W"};
const STATE_CLEARED = 1, STATE_NEEDED = 2, SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4, CLOCK_REAL = 1, CLOCK_BOOT = 6;

class Trace {
	/* pidOf(process): its PID. */
	constructor(data, pidOf) {
		this.data = data;
		this.pidOf = pidOf;
		this.nrTracks = data.tracks.length;
		this.groups = new Map(); /* of counters, by process */
		this.out = new Message();
		this.names = new Set();
		this.texts = new Set();
		this.tracks = new Set();
		this.packet((packet) => packet.message(INTERNED, (words) => {
			this.words(words, 1, data.categories);
			this.words(words, 3, data.keys);
		}), STATE_CLEARED | STATE_NEEDED);
		this.descriptor((root) => {
			root.uint(1, 0);
			root.uint(19, 1); /* processes in the order of their ranks */
		});
		this.packet((packet) => packet.message(CLOCKS, (clocks) => {
			for (const [id, ns] of [[CLOCK_BOOT, data.first_ns], [CLOCK_REAL, String(BigInt(data.base_ns) + BigInt(data.first_ns))]]) {
				clocks.message(1, (clock) => {
					clock.uint(1, id);
					clock.uint(2, ns);
				});
			}
		}));
	}
	packet(write, flags = STATE_NEEDED) {
		this.out.message(PACKET, (packet) => {
			packet.uint(SEQUENCE, EVENTS);
			packet.uint(FLAGS, flags);
			write(packet);
		});
	}
	descriptor(write) {
		this.out.message(PACKET, (packet) => {
			packet.uint(SEQUENCE, DESCRIPTORS);
			packet.message(TRACK, write);
		});
	}
	words(message, field, list) {
		list.forEach((word, i) => word !== null && message.message(field, (entry) => {
			entry.uint(1, i);
			entry.text(2, word);
		}));
	}
	/* A text, written before the first event that uses it. */
	need(field, place) {
		const known = field === 2 ? this.names : this.texts;
		if (!known.has(place)) {
			known.add(place);
			this.packet((packet) => packet.message(INTERNED, (words) => words.message(field, (entry) => {
				entry.uint(1, place + 1);
				entry.text(2, this.data.strings[place]);
			})));
		}
	}
	track(track) {
		if (this.tracks.has(track)) {
			return;
		}
		this.tracks.add(track);
		const own = track.parent < 0 && track.kind !== "process" ? this.processTrack(track.process) : null, parent = own || this.data.tracks[track.parent];
		const [, tid, name] = (track.kind === "thread" && /^thread (\d+)(?: \((.*)\))?$/s.exec(track.name)) || [];
		if (parent) {
			this.track(parent);
		}
		this.descriptor((descriptor) => {
			descriptor.uint(1, track.i + 1);
			if (track.kind === "process") {
				descriptor.message(3, (process) => {
					process.uint(1, this.pidOf(track.process));
					process.text(6, track.name);
					if (track.label) {
						process.text(8, track.label);
					}
				});
			} else if (tid) {
				descriptor.message(4, (thread) => {
					thread.uint(1, this.pidOf(track.process));
					thread.uint(2, Number(tid));
					thread.text(5, name || "");
				});
			} else {
				descriptor.text(2, track.name);
			}
			this.place(descriptor, parent ? parent.i + 1 : 0, track.rank + (own ? BEHIND_PROCESS : 0));
		});
	}
	/* Its parent, and its place among the other children. */
	place(descriptor, parent, rank) {
		if (parent) {
			descriptor.uint(5, parent);
		}
		descriptor.uint(11, 3); /* children in the order of their ranks */
		descriptor.uint(12, rank);
	}
	processTrack(process) {
		return this.data.tracks.find((track) => track.process === process && track.kind === "process");
	}
	/* The group of a process's counters. */
	group(process) {
		if (!this.groups.has(process)) {
			const parent = this.processTrack(process), id = ++this.nrTracks;
			if (parent) {
				this.track(parent);
			}
			this.groups.set(process, id);
			this.descriptor((descriptor) => {
				descriptor.uint(1, id);
				descriptor.text(2, "counters");
				this.place(descriptor, parent ? parent.i + 1 : 0, COUNTERS_LAST);
			});
		}
		return this.groups.get(process);
	}
	/* The values of a counter in that time, and the one that it begins with. */
	counter({process, title, type, curve}, from, to) {
		const {at, value} = curve(), first = atLeast(at, from), before = first > 0 && at[first] !== from ? first - 1 : first;
		if (before >= at.length || at[before] >= to) {
			return;
		}
		const parent = this.group(process), id = ++this.nrTracks;
		this.descriptor((descriptor) => {
			descriptor.uint(1, id);
			descriptor.text(2, title);
			descriptor.message(8, (counter) => units[type] && counter.text(6, units[type]));
			this.place(descriptor, parent, id);
		});
		for (let i = before; i < at.length && at[i] < to; i++) {
			this.packet((packet) => {
				packet.uint(TIMESTAMP, Math.max(at[i], from, 0) + this.data.first_ns);
				packet.message(EVENT, (event) => {
					event.uint(9, COUNTER);
					event.uint(11, id);
					event.double(44, value[i]);
				});
			});
		}
	}
	argument(event, key, kind, value) {
		event.message(4, (argument) => {
			argument.uint(1, key);
			if (kind === TEXT) {
				argument.uint(17, value + 1);
			} else if (kind === DOUBLE) {
				argument.double(5, value);
			} else {
				argument.uint(kind === INT ? 4 : 3, value);
			}
		});
	}
	event(row, i, type, ns, hasFlow) {
		const data = this.data, set = data.sets[row.set[i]], values = [];
		if (type !== SLICE_END) {
			this.need(2, row.name[i]);
			if (row.correlation[i]) {
				values.push([data.keys.indexOf("correlation"), UINT, row.correlation[i]]);
			}
			for (let k = 2; k < set.length; k += 3) {
				const kind = set[k + 1] === NUMBER ? UINT : set[k + 1], value = set[k + 1] === NUMBER ? row.number[i] : set[k + 2];
				if (value !== null) {
					values.push([set[k], kind, value]);
				}
				if (kind === TEXT) {
					this.need(29, value);
				}
			}
		}
		this.packet((packet) => {
			packet.uint(TIMESTAMP, ns + data.first_ns);
			packet.message(EVENT, (event) => {
				event.uint(9, type);
				event.uint(11, row.track + 1);
				if (type === SLICE_END) {
					return;
				}
				event.uint(10, row.name[i] + 1);
				if (set[0]) {
					event.uint(3, set[0]);
				}
				values.forEach((value) => this.argument(event, ...value));
				if (hasFlow) {
					event.fixed(47, (view) => {
						const id = row.arrow[i] || row.correlation[i];
						view.setUint32(0, id % 2 ** 32, true);
						view.setUint32(4, data.tracks[row.track].process * 256 + Math.floor(id / 2 ** 32) % 256 + (row.arrow[i] ? 2 ** 31 : 0), true);
					});
				}
			});
		});
	}
	/* Slices of a track in the order of their begins; an end closes the innermost open slice. Flows need both ends. */
	slices(track, slices, isWanted) {
		const open = [];
		const close = (ns) => {
			while (open.length && open[open.length - 1][0].end[open[open.length - 1][1]] <= ns) {
				const [row, i] = open.pop();
				this.event(row, i, SLICE_END, row.end[i]);
			}
		};
		this.track(track);
		slices.sort(([a, i], [b, k]) => a.begin[i] - b.begin[k] || a.depth - b.depth || i - k);
		for (const [row, i] of slices) {
			const flow = flowOf(this.data, row, i), hasEnds = flow && flow.calls.some(isWanted) && flow.activities.some(isWanted);
			close(row.begin[i]);
			if (isInstant(this.data, row, i)) {
				this.event(row, i, INSTANT, row.begin[i], hasEnds);
			} else {
				this.event(row, i, SLICE_BEGIN, row.begin[i], hasEnds);
				open.push([row, i]);
			}
		}
		close(Infinity);
	}
}

/* Is a slice in that time? The same rule as `gprof-report timeline --time`. */
const isIn = (row, i, from, to) => row.begin[i] < to && (row.end[i] > from || row.begin[i] === from);

/* The slices and counters ({process, title, type, curve}) of that time as the bytes of a .pftrace. */
function traceOf(data, from, to, counters, pidOf) {
	const trace = new Trace(data, pidOf);
	/* Phases are derived: `gprof-report timeline` has none. */
	for (const track of data.tracks.filter((each) => !each.isOfPhases)) {
		const slices = [];
		for (const row of track.rows) {
			for (let i = firstFrom(row, from); i < row.nr && row.begin[i] < to; i++) {
				if (isIn(row, i, from, to)) {
					slices.push([row, i]);
				}
			}
		}
		if (slices.length) {
			trace.slices(track, slices, ([row, i]) => isIn(row, i, from, to));
		}
	}
	counters.forEach((counter) => trace.counter(counter, from, to));
	return trace.out.bytes.subarray(0, trace.out.nr);
}

return traceOf;
})();
