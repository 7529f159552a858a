/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saves slices of the timeline as a Perfetto trace (report/timeline/perfetto.proto).
 */
"use strict";

const timelineTraceOf = (() => {
const {UINT, INT, DOUBLE, TEXT, NUMBER, firstFrom, isInstant, flowOf} = timelineData;

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
const STATE_CLEARED = 1, STATE_NEEDED = 2, SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, CLOCK_REAL = 1, CLOCK_BOOT = 6;

class Trace {
	constructor(data) {
		this.data = data;
		this.out = new Message();
		this.names = new Set();
		this.texts = new Set();
		this.tracks = new Set();
		this.packet((packet) => packet.message(INTERNED, (words) => {
			this.words(words, 1, data.categories);
			this.words(words, 3, data.keys);
		}), STATE_CLEARED | STATE_NEEDED);
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
			packet.uint(SEQUENCE, 1);
			packet.uint(FLAGS, flags);
			write(packet);
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
		if (track.parent >= 0) {
			this.track(this.data.tracks[track.parent]);
		}
		this.packet((packet) => packet.message(TRACK, (descriptor) => {
			descriptor.uint(1, track.i + 1);
			descriptor.text(2, track.name + (track.label ? " (" + track.label + ")" : ""));
			if (track.parent >= 0) {
				descriptor.uint(5, track.parent + 1);
			}
			descriptor.uint(11, 3); /* children in the order of their ranks */
			descriptor.uint(12, track.rank);
		}));
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
						view.setUint32(0, row.arrow[i] || row.correlation[i], true);
						view.setUint32(4, data.tracks[row.track].process + (row.arrow[i] ? 2 ** 31 : 0), true);
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

/* The slices of that time as the bytes of a .pftrace. */
function traceOf(data, from, to) {
	const trace = new Trace(data);
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
	return trace.out.bytes.subarray(0, trace.out.nr);
}

return traceOf;
})();
