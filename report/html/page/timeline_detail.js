/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that the page has merged, one by one: a page from `gprof-report serve` asks the server for those in view
 * (report/serve, with the format of report/html/timeline_data.h) and puts them in place of what it had of that time.
 * A page from disk has no server, and stays as it is.
 */
"use strict";

const timelineDetail = (() => {
const {TEXT, load, firstFrom, atLeast, addLevels, addBuckets, openIn} = timelineData;

const rowsOf = (data, process) => data.rows.filter((row) => data.tracks[row.track].process === process && !data.tracks[row.track].isOfPhases);

/* About how many events of a process are in [from, to): {shown, merged}. */
function countIn(data, process, from, to) {
	let shown = 0, merged = 0;
	for (const row of rowsOf(data, process)) {
		shown += Math.max(0, atLeast(row.begin, to) - firstFrom(row, from));
		const first = bucketFrom(row, Math.floor(from / row.bucketWidth));
		for (let i = first; i < row.buckets.length && row.buckets[i].at * row.bucketWidth < to; i++) {
			merged += row.buckets[i].nr * openShare(data, row, row.buckets[i], from, to);
		}
	}
	return {shown, merged};
}

/* The share of a bucket's open time that is in [from, to). */
function openShare(data, row, bucket, from, to) {
	const begin = bucket.at * row.bucketWidth, end = begin + row.bucketWidth, {process} = data.tracks[row.track];
	const inside = openIn(data, process, Math.max(from, begin), Math.min(to, end));
	return inside > 0 ? inside / (row.bucketWidth - bucket.hole) : 0;
}

/* The place of the first bucket of a row that is not before `at`. */
function bucketFrom(row, at) {
	let low = 0, high = row.buckets.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (row.buckets[middle].at < at) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

/* ---- one numbering for names, arguments, tracks and rows ---- */

/* The place of a text or a set of arguments in a list, to which new ones are added. */
function placeIn(list, places, key, item) {
	let place = places.get(key);
	if (place === undefined) {
		place = list.push(item) - 1;
		places.set(key, place);
	}
	return place;
}

/* How numbers of names and sets in `part` are numbered in `data`. */
function numbersFor(data, part) {
	data.places = data.places || {strings: new Map(data.strings.map((text, i) => [text, i])), sets: new Map(data.sets.map((set, i) => [set.join(), i]))};
	const names = part.strings.map((text) => placeIn(data.strings, data.places.strings, text, text));
	const sets = part.sets.map((set) => {
		const own = set.map((value, i) => (i >= 4 && (i - 4) % 3 === 0 && set[i - 1] === TEXT ? names[value] : value));
		return placeIn(data.sets, data.places.sets, own.join(), own);
	});
	return {names, sets};
}

/* What a track is called, from the outermost one on: the same in each part of a recording. */
const keyOf = (data, track) => (track.parent < 0 ? "" : keyOf(data, data.tracks[track.parent]) + "\n") + track.kind + " " + track.rank + " " + track.name;

/* Events that overlap may lie on another track than in the whole recording: one that the page does not have is added. */
function trackFor(data, part, track, tracks) {
	const key = keyOf(part, track), parent = track.parent < 0 ? null : trackFor(data, part, part.tracks[track.parent], tracks);
	let own = tracks.get(key);
	if (!own) {
		own = {...track, i: data.tracks.length, parent: parent ? parent.i : -1, rows: [], inner: []};
		data.tracks.push(own);
		tracks.set(key, own);
		if (parent) {
			parent.inner.push(own);
		}
	}
	return own;
}

const columnNames = ["begin", "end", "name", "set", "correlation", "arrow", "number"];
const emptyColumns = () => ({nr: 0, begin: new Float64Array(0), end: new Float64Array(0), name: new Float64Array(0), set: new Float64Array(0),
	correlation: new Float64Array(0), arrow: new Uint32Array(0), number: new Float64Array(0)});

function rowFor(data, track, depth, width) {
	for (let next = track.rows.length; next <= depth; next++) {
		const row = {i: data.rows.length, track: track.i, depth: next, buckets: [], ...emptyColumns()};
		addLevels(row);
		addBuckets(row, width);
		data.rows.push(row);
		track.rows.push(row);
	}
	return track.rows[depth];
}

/* ---- putting events in place ---- */

/* The columns of a row with `middle` in place of the slices from `first` to before `last`. */
function replace(row, first, last, middle) {
	for (const column of columnNames) {
		const old = row[column], joined = new old.constructor(first + middle.nr + row.nr - last);
		joined.set(old.subarray(0, first));
		joined.set(middle[column], first);
		joined.set(old.subarray(last), first + middle.nr);
		row[column] = joined;
	}
	row.nr += middle.nr - (last - first);
}

/* The slices of a row of `part`, in the numbers of `data`. */
function translate(row, {names, sets}, arrows) {
	return {nr: row.nr, begin: row.begin, end: row.end, number: row.number, correlation: row.correlation, name: row.name.map((name) => names[name]), set: row.set.map((set) => sets[set]),
		arrow: row.arrow.map((arrow) => (arrow ? arrow + arrows : 0))};
}

/*
 * Compares what comes with what it replaces, both in order. Calls isNew(k) for each slice that was not there, gone(i) for each
 * that does not come again. Flows to slices elsewhere stay.
 */
function compare(row, first, last, middle, isNew, gone) {
	let i = first;
	for (let k = 0; k < middle.nr; k++) {
		for (; i < last && row.begin[i] < middle.begin[k]; i++) {
			gone(i);
		}
		if (i < last && row.begin[i] === middle.begin[k] && row.end[i] === middle.end[k]) {
			middle.arrow[k] = middle.arrow[k] || row.arrow[i];
			i++;
		} else {
			isNew(k);
		}
	}
	for (; i < last; i++) {
		gone(i);
	}
}

/* The bucket of a row at that place; null: none. */
function bucketAt(row, at) {
	const bucket = row.buckets[bucketFrom(row, at)];
	return bucket && bucket.at === at ? bucket : null;
}

/*
 * Takes a slice that is drawn by itself now out of the sums: those of its row, the first of `rows`. Only where it lies on another
 * track than in the whole recording, those of others have it.
 */
function takeOut(rows, begin, end) {
	const width = rows[0].bucketWidth, first = Math.floor(begin / width);
	for (const row of rows) {
		const bucket = bucketAt(row, first);
		if (bucket && bucket.nr) {
			bucket.nr--;
			break;
		}
	}
	for (let at = first; at * width <= end; at++) {
		let rest = Math.min(end, (at + 1) * width) - Math.max(begin, at * width);
		for (let i = 0; i < rows.length && rest > 0; i++) {
			const bucket = bucketAt(rows[i], at), part = bucket ? Math.min(bucket.busy, rest) : 0;
			if (part) {
				bucket.busy -= part;
				rest -= part;
			}
		}
	}
}

/* Keeps what the page has of a row, before it changes. */
function keep(row) {
	row.kept = row.kept || {...Object.fromEntries(["nr", ...columnNames].map((column) => [column, row[column]])), buckets: row.buckets};
	row.buckets = row.buckets.map((bucket) => ({...bucket}));
}

function cover(data, process, from, to) {
	const spans = data.covered.get(process) || [], others = spans.filter(([begin, end]) => end < from || begin > to), touched = spans.filter(([begin, end]) => end >= from && begin <= to);
	others.push([Math.min(from, ...touched.map(([begin]) => begin)), Math.max(to, ...touched.map(([, end]) => end))]);
	data.covered.set(process, others.sort((a, b) => a[0] - b[0]));
}

/* Puts all events of a process in [from, to), which `part` has, in place of those that the page had of that time. */
function put(data, part, process, from, to) {
	const numbers = numbersFor(data, part), tracks = new Map(data.tracks.filter((track) => track.process === process).map((track) => [keyOf(data, track), track]));
	const coming = new Map(), gone = new Map(), news = [], width = 2 ** data.bucket_shift;
	let nrNew = 0;
	data.arrows = data.arrows || data.rows.reduce((most, row) => row.arrow.reduce((a, b) => Math.max(a, b), most), 0);
	for (const row of part.rows) {
		const own = rowFor(data, trackFor(data, part, part.tracks[row.track], tracks), row.depth, width);
		coming.set(own, translate(row, numbers, data.arrows));
	}
	data.arrows += part.rows.reduce((most, row) => row.arrow.reduce((a, b) => Math.max(a, b), most), 0);
	cover(data, process, from, to);
	const all = rowsOf(data, process), key = (columns, i) => columns.begin[i] + " " + columns.end[i] + " " + columns.name[i];
	for (const row of all) {
		const first = firstFrom(row, from), last = Math.max(first, atLeast(row.begin, to)), middle = coming.get(row) || emptyColumns(), places = [];
		keep(row);
		compare(row, first, last, middle, (k) => places.push(k), (i) => gone.set(key(row, i), (gone.get(key(row, i)) || 0) + 1));
		replace(row, first, last, middle);
		news.push({row, middle, places});
	}
	for (const {row, middle, places} of news) {
		const rows = [row, ...all.filter((other) => other !== row)];
		for (const k of places) {
			/* What is gone from another row lies on this one now. */
			const left = gone.size ? gone.get(key(middle, k)) : 0;
			if (left) {
				gone.set(key(middle, k), left - 1);
			} else {
				takeOut(rows, middle.begin[k], middle.end[k]);
				nrNew++;
			}
		}
	}
	for (const row of all) {
		row.buckets = row.buckets.filter((bucket) => bucket.nr || bucket.busy);
		for (const bucket of row.buckets) {
			bucket.hole = row.bucketWidth - openIn(data, process, bucket.at * row.bucketWidth, (bucket.at + 1) * row.bucketWidth);
		}
		addLevels(row);
		addBuckets(row, row.bucketWidth);
	}
	data.nr += nrNew;
	data.dropped -= nrNew;
	data.flows = null;
	data.version++;
}

/* Back to what the page has of itself. */
function forget(data) {
	for (const row of data.rows.filter((each) => each.kept)) {
		Object.assign(row, row.kept);
		row.kept = null;
		addLevels(row);
		addBuckets(row, row.bucketWidth);
	}
	data.nr = data.nrOwn;
	data.dropped = data.all - data.nr;
	data.covered.clear();
	data.flows = null;
	data.version++;
}

/* ---- asking ---- */

const DELAY_MS = 120; /* of a view that still moves, nothing is asked */
const WINDOWS_KEPT = 4; /* as many times what the server sends at once; a view needs fewer */
const LEAST_SPAN = 1000; /* ns: of a shorter view, some more is asked */

class Asker {
	/* most: how many events the server sends at most; 0: there is no server. */
	constructor(view, most) {
		this.view = view;
		this.most = most;
		this.timer = 0;
		this.isAsking = false;
		this.isLost = false;
		this.checked = ""; /* the view in which nothing was missing, with the version of the data */
		this.emptiedFor = ""; /* the view for which other times were forgotten */
		this.refused = new Map(); /* by process: the shortest time that had too many events */
	}

	/* The view has changed. */
	update() {
		const {from, to, scroll, inner, data, box} = this.view, checked = [from, to, scroll.scrollTop, inner.style.height, data.version].join();
		if (!this.most || this.isLost || this.isAsking || checked === this.checked) {
			return;
		}
		box.dataset.detail = "waiting";
		clearTimeout(this.timer);
		this.timer = setTimeout(() => this.ask(checked), DELAY_MS);
	}

	destroy() {
		clearTimeout(this.timer);
		this.isLost = true;
	}

	/* Processes with rows in sight, from top to bottom. */
	processes() {
		const {view} = this, lines = view.layout.filter((line) => line.isShown && line.track && view.topOf(line) < view.height && view.topOf(line) + line.height > 0);
		return [...new Set(lines.map((line) => view.data.tracks[line.track.i].process))];
	}

	/*
	 * {process, from, to} of what is in view and merged, and few enough; null: nothing. Around it, so that panning goes on at once.
	 * Of many processes those on top come first, and others only as long as all can be kept.
	 */
	next() {
		const {data, from, to} = this.view, span = Math.max(to - from, LEAST_SPAN), last = Math.ceil(data.last) + 1;
		const clip = (begin, end) => [Math.min(Math.max(0, Math.floor(begin)), last - 1), Math.min(last, Math.ceil(end))];
		let room = (WINDOWS_KEPT - 1) * this.most;
		for (const process of this.processes()) {
			const counts = (window) => countIn(data, process, ...window), tight = clip(from, to), wide = clip((from + to) / 2 - span, (from + to) / 2 + span);
			const sizeOf = (window) => counts(window).merged + counts(window).shown;
			const window = span > (this.refused.get(process) || Infinity) / 2 ? null : sizeOf(wide) <= this.most / 2 ? wide : sizeOf(tight) <= this.most ? tight : null;
			room -= window ? sizeOf(window) : 0;
			if (window && room >= 0 && counts(tight).merged >= .5) {
				return {process, from: window[0], to: window[1]};
			}
		}
		return null;
	}

	/* Other times make room. One view does so once: else two processes could drive out each other for ever. */
	take(data, part, wanted, checked) {
		const view = checked.split(",").slice(0, -1).join();
		if (data.nr + part.nr > data.nrOwn + WINDOWS_KEPT * this.most) {
			if (this.emptiedFor === view) {
				this.refused.set(wanted.process, wanted.to - wanted.from);
				return;
			}
			this.emptiedFor = view;
			forget(data);
		}
		put(data, part, wanted.process, wanted.from, wanted.to);
	}

	async ask(checked) {
		const wanted = this.next(), {view} = this;
		if (!wanted) {
			this.checked = checked;
			view.box.dataset.detail = "drawn";
			return;
		}
		this.isAsking = true;
		view.box.dataset.detail = "asked";
		const answer = await fetch("window?process=" + wanted.process + "&from=" + wanted.from + "&to=" + wanted.to).then(async (each) => ({status: each.status, text: await each.text()}), () => ({status: 0}));
		if (this.isLost) {
			return; /* the user opened another page */
		}
		if (answer.status === 200) {
			const part = await load(answer.text);
			view.change((data) => this.take(data, part, wanted, checked));
		} else if (answer.status === 413) {
			this.refused.set(wanted.process, wanted.to - wanted.from);
		} else {
			this.isLost = true;
			view.box.dataset.detail = "lost";
			view.showNote();
		}
		this.isAsking = false;
		this.update();
	}
}

return {Asker, put, forget, countIn, openShare};
})();
