/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flame graphs as icicles: modules or Python stacks, operators, kernels; of all steps and phases or some of them, the widest
 * frame first or as they began. flame_data.h describes the data. The address has the tree, the weight, what is chosen, the
 * zoom, the search and the frame whose callers are shown.
 */
"use strict";

const pageFlame = (() => {
const {make, prose, addProse, one, short} = pageText, {shownName, searchedText} = pageData, {hashOf, partsOfHash} = pageLink;
const ROW = 18, LEAST = 1, CHARACTER = 6.6, MOST_ROWS = 200;
const REST = 7; /* FLAME_REST */
const kindNames = ["all", "process", "Python function", "module", "operator", "CUDA call", "GPU activity", "small frames"];
const weights = {gpu: "GPU time", cpu: "CPU time", launches: "Launches"};
const phaseNames = ["Dataloader", "Forward", "Backward", "Optimization", "Others"]; /* by enum phase */
const treeNames = {modules: "Modules", stacks: "Python stacks"};
const text = document.getElementById("flame").textContent.trim();
let packed = null;

function unpack() {
	packed = packed || JSON.parse(text);
	return packed;
}

function shown(value, weight) {
	return weight === "launches" ? value.toLocaleString("en-US") + (value === 1 ? " launch" : " launches") : one(value, "time");
}

function percent(part, whole) {
	return (whole ? 100 * part / whole : 0).toFixed(2) + " %";
}

/* ---- trees: parent, name (a text), kind and own weight of each frame, by place; frame 0 is the root ---- */

/* order: of two children, the widest first if not given. */
function finish(tree, order = (a, b) => tree.total[b] - tree.total[a]) {
	tree.total = tree.self.slice();
	tree.children = tree.parent.map(() => []);
	for (let i = tree.parent.length - 1; i > 0; i--) {
		tree.total[tree.parent[i]] += tree.total[i];
	}
	for (let i = 1; i < tree.parent.length; i++) {
		tree.children[tree.parent[i]].push(i);
	}
	for (const each of tree.children) {
		each.sort((a, b) => order(a, b) || a - b);
	}
	return tree;
}

/* Adds the text that describes a frame: its weight with and without the frames inside. */
function saying(tree, weight) {
	tree.say = (i) => shown(tree.total[i], weight) + ", " + percent(tree.total[i], tree.total[0]) + " of all" +
		(i ? ", " + percent(tree.total[i], tree.total[tree.parent[i]]) + " of its parent" : "") + ", self " + shown(tree.self[i], weight);
	return tree;
}

function namesOf(tree) {
	const {names} = unpack();
	return tree.name.map((number, i) => (i === 0 ? "all" : tree.kind[i] === REST ? names[number] + " small frames" : names[number]));
}

/* ---- phases and steps ---- */

/* The ranges of steps of a tree, [first, last] of each. */
function rangesOf(tree) {
	const [first, last, length] = (tree && tree.ranges) || [0, -1, 1], list = [];
	for (let at = first; at <= last; at += length) {
		list.push([at, Math.min(at + length - 1, last)]);
	}
	return list;
}

const isIn = (range, steps) => range !== undefined && range[0] <= steps[1] && steps[0] <= range[1];

/* How many steps of the run the choice means. */
function stepsIn(tree, steps) {
	return rangesOf(tree).reduce((sum, range, i) => sum + (isIn(range, steps) ? tree.range_steps[i] : 0), 0);
}

/* Which parts the choice means; null: all of them. */
function chosen(tree, {phase, steps}) {
	if (!tree.parts || (phase === "" && !steps)) {
		return null;
	}
	const wanted = phaseNames.indexOf(phase), ranges = rangesOf(tree);
	return (i) => (wanted < 0 || tree.parts.phase[i] === wanted) && (!steps || isIn(ranges[tree.parts.steps[i] - 1], steps));
}

/* The own weight of each frame in what is chosen. */
function selfOf(tree, weight, choice) {
	const holds = chosen(tree, choice);
	if (!holds) {
		return tree[weight];
	}
	const self = tree.parent.map(() => 0);
	tree.parts.frame.forEach((frame, i) => {
		self[frame] += holds(i) ? tree.parts[weight][i] : 0;
	});
	return self;
}

/* The phases that have any of the weight. */
function phasesOf(trees, weight) {
	return phaseNames.filter((name, phase) => trees.some((tree) => tree && tree.parts && tree.parts.phase.some((each, i) => each === phase && tree.parts[weight][i] > 0)));
}

function choiceText({phase, steps}) {
	return (phase && " in " + phase) + (steps ? (steps[0] === steps[1] ? " in step " + steps[0] : " in steps " + steps[0] + " to " + steps[1]) : "");
}

/* ---- trees to draw ---- */

/* Frames are numbered as they began first; small ones have no time. */
const asBegun = (tree) => (a, b) => (tree.kind[a] === REST) - (tree.kind[b] === REST);

function treeOf(name, weight, choice) {
	const from = unpack().trees[name], tree = {parent: from.parent, kind: from.kind, self: selfOf(from, weight, choice), name: namesOf(from)};
	return saying(choice.order ? finish(tree, asBegun(tree)) : finish(tree), weight);
}

const nothing = {parent: [0], name: [0], kind: [0], gpu: [0], cpu: [0], launches: [0], unsampled: {gpu: 0, cpu: 0, launches: 0}};

/* Frames of A and B with the same path are one, as wide as both; what grew comes first. steps: to divide them by. */
function differenceOf(name, weight, steps, choice) {
	const {trees, other} = unpack(), {tree, place} = builder("all", 0), a = [0], b = [0];
	const add = (from, own, nr) => {
		const names = namesOf(from), at = [0], self = selfOf(from, weight, choice);
		from.parent.forEach((parent, i) => {
			/* The number of small frames is no name. */
			at[i] = i === 0 ? 0 : place(at[parent], from.kind[i] === REST ? "small frames" : names[i], from.kind[i]);
			own[at[i]] = (own[at[i]] || 0) + (nr ? self[i] / nr : 0);
		});
	};
	add(trees[name] || nothing, a, steps[0]);
	add(other[name] || nothing, b, steps[1]);
	tree.self = tree.parent.map((_, i) => (a[i] || 0) + (b[i] || 0));
	const sums = [a, b].map((own) => tree.parent.map((_, i) => own[i] || 0));
	for (let i = tree.parent.length - 1; i > 0; i--) {
		sums.forEach((sum) => {
			sum[tree.parent[i]] += sum[i];
		});
	}
	const [of, to] = sums, growth = (i) => to[i] - of[i];
	finish(tree, (i, k) => growth(k) - growth(i));
	const value = (number) => shown(weight === "launches" ? Math.round(number * 100) / 100 : number, weight);
	tree.say = (i) => "A " + value(of[i]) + ", B " + value(to[i]) + ", " + (growth(i) < 0 ? "−" : "+") + value(Math.abs(growth(i))) +
		(of[i] ? " (" + (growth(i) < 0 ? "−" : "+") + Math.abs(100 * growth(i) / of[i]).toFixed(1) + " %)" : " (only in B)");
	tree.change = (i) => growth(i) / (tree.total[i] || 1);
	return tree;
}

function nameTotal(tree, name) {
	return outermost(tree, (i) => tree.name[i] === name).reduce((sum, i) => sum + tree.total[i], 0);
}

/* Frames for which it holds, without those that lie in another one. */
function outermost(tree, holds) {
	const found = [], isInside = [];
	for (let i = 0; i < tree.parent.length; i++) {
		const isIn = i > 0 && isInside[tree.parent[i]], isHere = !isIn && holds(i);
		isInside.push(isIn || isHere);
		if (isHere) {
			found.push(i);
		}
	}
	return found;
}

function builder(name, kind) {
	const tree = {parent: [0], name: [name], kind: [kind], self: [0]}, places = new Map();
	return {tree, place(parent, ofName, ofKind) {
		const key = parent + " " + ofKind + " " + ofName;
		if (!places.has(key)) {
			places.set(key, tree.parent.length);
			tree.parent.push(parent);
			tree.name.push(ofName);
			tree.kind.push(ofKind);
			tree.self.push(0);
		}
		return places.get(key);
	}};
}

/* All that lies in frames of that name, added up. */
function callees(tree, name) {
	const first = outermost(tree, (i) => tree.name[i] === name), {tree: sums, place} = builder(name, tree.kind[first[0]]);
	const add = (i, at) => {
		sums.self[at] += tree.self[i];
		for (const child of tree.children[i]) {
			add(child, place(at, tree.name[child], tree.kind[child]));
		}
	};
	first.forEach((i) => add(i, 0));
	return finish(sums);
}

/* What frames of that name lie in, the innermost first. */
function callers(tree, name) {
	const first = outermost(tree, (i) => tree.name[i] === name), {tree: sums, place} = builder(name, tree.kind[first[0]]);
	for (const i of first) {
		let at = 0;
		for (let outer = tree.parent[i]; outer > 0; outer = tree.parent[outer]) {
			at = place(at, tree.name[outer], tree.kind[outer]);
		}
		sums.self[at] += tree.total[i];
	}
	return finish(sums);
}

/* ---- drawing ---- */

function svg(name, parent, attributes) {
	const element = document.createElementNS("http://www.w3.org/2000/svg", name);
	for (const [key, value] of Object.entries(attributes)) {
		element.setAttribute(key, value);
	}
	parent.append(element);
	return element;
}

/* As much of a name as there is room for: of a module the end of its place, as beginnings are alike. */
function fit(name, room, kind) {
	if (kind === 3 && name.length > room) {
		const place = name.replace(/ \([^)]*\)$/, "");
		return place.length > room ? "…" + place.slice(1 - room) : place;
	}
	return room < 8 && name.length > room ? name.slice(0, room - 1) + "…" : short(name, room);
}

/* The frames to draw, [frame, x, width, row, is an outer one of the zoom]. */
function layout(tree, zoom, width) {
	const list = [], path = [];
	for (let i = zoom; i > 0; i = tree.parent[i]) {
		path.unshift(tree.parent[i]);
	}
	path.forEach((i, row) => list.push([i, 0, width, row, true]));
	const scale = width / (tree.total[zoom] || 1), waiting = [[zoom, 0, path.length]];
	while (waiting.length) {
		const [i, left, row] = waiting.pop(), wide = tree.total[i] * scale;
		if (wide < LEAST || row > MOST_ROWS) {
			continue;
		}
		list.push([i, left, wide, row, false]);
		let at = left;
		const inner = tree.children[i].map((child) => {
			at += tree.total[child] * scale;
			return [child, at - tree.total[child] * scale, row + 1];
		});
		waiting.push(...inner.reverse());
	}
	return list;
}

/* An icicle with a frame that is current, moved by arrow keys. Returns {draw, find}. */
function icicle(parent, tree, label, state) {
	const box = make("div", parent), details = make("p", parent, null, "flame-details"), picture = svg("svg", box, {tabindex: 0, role: "application"});
	let zoom = state.zoom < tree.parent.length ? state.zoom : 0, current = zoom, holds = null;
	box.className = "flame";
	picture.setAttribute("aria-label", label + ": arrow keys move, Enter zooms, Escape shows all");
	details.setAttribute("aria-live", "polite");

	function describe() {
		details.replaceChildren();
		make("b", details, tree.name[current]);
		addProse(details, kindNames[tree.kind[current]] + ", " + tree.say(current));
		if (current && tree.kind[current] !== REST && state.sandwich) {
			details.append(" ");
			const button = make("button", details, "Callers and callees");
			button.addEventListener("click", () => state.sandwich(tree.name[current]));
		}
	}

	/* Orange is slower in B, blue faster. */
	function paint(rect, i) {
		const change = tree.change(i);
		rect.style.fill = "color-mix(in srgb, var(" + (change > 0 ? "--slower" : "--faster") + ") " + Math.round(Math.min(1, 2 * Math.abs(change)) * 100) + "%, var(--frame))";
		return change < -.455; /* black ink is read best on all others */
	}

	function draw() {
		const width = box.clientWidth || 800, list = layout(tree, zoom, width);
		const rows = Math.max(...list.map((each) => each[3])) + 1;
		picture.replaceChildren();
		picture.setAttribute("height", rows * ROW);
		picture.setAttribute("viewBox", "0 0 " + width + " " + rows * ROW);
		box.classList.toggle("searched", !!holds);
		for (const [i, x, wide, row, isOuter] of list) {
			const classes = [tree.change ? "changed" : "k" + tree.kind[i], isOuter && "outer", i === current && "current", holds && holds(i) && "found"].filter(Boolean).join(" ");
			const group = svg("g", picture, {class: classes, "data-frame": i});
			const rect = svg("rect", group, {x: x.toFixed(2), y: row * ROW, width: wide.toFixed(2), height: ROW - 1});
			if (tree.change && paint(rect, i)) {
				group.classList.add("strong");
			}
			svg("title", group, {}).textContent = tree.name[i] + "\n" + tree.say(i);
			const room = Math.floor((wide - 6) / CHARACTER);
			if (room > 2) {
				const clip = svg("svg", group, {x: x.toFixed(2), y: row * ROW, width: (wide - 2).toFixed(2), height: ROW});
				svg("text", clip, {x: 3, y: 13}).textContent = fit(shownName(tree.name[i]), room, tree.kind[i]);
			}
		}
		describe();
	}

	function move(to) {
		if (to !== undefined) {
			current = to;
			draw();
		}
	}

	function zoomTo(i) {
		zoom = current = i;
		draw();
		state.zoomed(i);
	}

	const siblings = () => tree.children[tree.parent[current]] || [];
	const keys = {
		ArrowUp: () => move(current ? tree.parent[current] : undefined),
		ArrowDown: () => move(tree.children[current].find((i) => tree.total[i] > 0)),
		ArrowLeft: () => move(current ? siblings()[siblings().indexOf(current) - 1] : undefined),
		ArrowRight: () => move(current ? siblings()[siblings().indexOf(current) + 1] : undefined),
		Enter: () => zoomTo(current),
		Escape: () => zoomTo(0),
	};
	picture.addEventListener("keydown", (event) => {
		if (keys[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
			event.preventDefault();
			keys[event.key]();
		}
	});
	picture.addEventListener("click", (event) => {
		const group = event.target.closest("g");
		if (group) {
			zoomTo(Number(group.dataset.frame));
			picture.focus({preventScroll: true});
		}
	});
	let width = 0;
	new ResizeObserver(() => {
		if (box.clientWidth !== width) {
			width = box.clientWidth;
			draw();
		}
	}).observe(box);
	draw();
	return {
		find(wanted) {
			const words = wanted.trim().toLowerCase();
			holds = words ? (i) => i > 0 && searchedText(tree.name[i]).includes(words) : null;
			draw();
			return holds ? outermost(tree, holds).reduce((sum, i) => sum + tree.total[i], 0) : null;
		},
	};
}

/* ---- the page ---- */

function addLegend(parent, tree) {
	const legend = make("div", parent, null, "legend");
	for (const kind of [2, 3, 4, 5, 6]) {
		if (tree.kind.some((each, i) => each === kind && tree.total[i] > 0)) {
			const item = make("span", legend);
			make("i", item, null, "k" + kind);
			item.append(kindNames[kind]);
		}
	}
}

function choice(parent, label, names, chosen, choose) {
	const group = make("span", parent);
	group.setAttribute("role", "group");
	group.setAttribute("aria-label", label);
	for (const [key, name] of names) {
		const button = make("button", group, name);
		button.setAttribute("aria-pressed", key === chosen);
		button.addEventListener("click", () => choose(key));
	}
}

/*
 * The parts of the address after the page: tree.weight and what is chosen (modules.gpu.Forward.steps-3-7.time), zoom, search,
 * name whose callers are shown.
 */
function stateOfHash() {
	const [, what = "", zoom = "", search = "", name = ""] = partsOfHash(), [tree, weight, ...words] = what.split(".");
	const steps = words.map((word) => /^steps-(\d+)-(\d+)$/.exec(word)).find(Boolean);
	return {tree, weight, phase: words.find((word) => phaseNames.includes(word)) || "", steps: steps ? [Number(steps[1]), Number(steps[2])] : null,
		order: words.includes("time"), zoom: Number(zoom) || 0, search, name};
}

function pick(parent, label, name, options, value, choose) {
	const list = make("select", make("label", parent, label + " "));
	for (const [key, text] of options) {
		make("option", list, text).value = key;
	}
	list.setAttribute("aria-label", name);
	list.value = value;
	list.addEventListener("change", () => choose(list.value));
}

/* Two runs have the same ranges, if both have steps. */
const hasRanges = (of) => of.every((tree) => tree && tree.ranges);

/* What of the recording is drawn. `of`: the trees of the chosen outer frames, that of A first. */
function addChoice(tools, state, of, go) {
	const phases = phasesOf(of, state.weight), ranges = hasRanges(of) ? rangesOf(of[0]) : [];
	if (phases.length > 1 || state.phase) {
		pick(tools, "Phase", "Phase", [["", "all"], ...phases.map((name) => [name, name])], state.phase, (phase) => go({phase}));
	}
	if (ranges.length > 1) {
		const [from, to] = state.steps || [ranges[0][0], ranges[ranges.length - 1][1]], isAll = (steps) => steps[0] <= ranges[0][0] && steps[1] >= ranges[ranges.length - 1][1];
		const set = (steps) => go({steps: isAll(steps) ? null : steps});
		const at = (step) => ranges.find((range) => range[0] <= step && step <= range[1]) || ranges[0];
		pick(tools, "Steps from", "First step", ranges.map((range) => [String(range[0]), String(range[0])]), String(at(from)[0]), (step) => set([Number(step), Math.max(to, at(Number(step))[1])]));
		pick(tools, "to", "Last step", ranges.map((range) => [String(range[1]), String(range[1])]), String(at(to)[1]), (step) => set([Math.min(from, at(Number(step))[0]), Number(step)]));
	}
	if (of.length === 1) {
		choice(tools, "Order", [["", "Widest first"], ["time", "As they began"]], state.order ? "time" : "", (order) => go({order: order === "time"}));
	}
}

function addTools(parent, state, known, hasWeight, go) {
	const tools = make("div", parent, null, "tools");
	choice(tools, "Weight", Object.entries(weights).filter(([key]) => hasWeight(key)), state.weight, (weight) => go({weight}));
	if (known.length > 1) {
		choice(tools, "Outer frames", known.map((key) => [key, treeNames[key]]), state.tree, (tree) => go({tree, zoom: 0, name: ""}));
	}
	addChoice(tools, state, treesOf(state.tree), go);
	const search = make("input", tools), status = make("span", tools);
	search.type = "search";
	search.placeholder = "Search frames";
	search.value = state.search;
	search.setAttribute("aria-label", "Search frames by name");
	status.setAttribute("role", "status");
	make("button", tools, "Show all").addEventListener("click", () => go({zoom: 0, name: "", search: ""}));
	return {search, status};
}

/* Draws what the address names; again after each choice. */
function drawWith(main, known, sum, draw) {
	const state = stateOfHash();
	state.tree = known.includes(state.tree) ? state.tree : known[0];
	const hasWeight = (weight) => sum(state.tree, weight) > 0;
	state.weight = weights[state.weight] && hasWeight(state.weight) ? state.weight : Object.keys(weights).find(hasWeight);
	const section = make("section", main);
	state.address = () => {
		const words = [state.tree, state.weight, state.phase, state.steps ? "steps-" + state.steps.join("-") : "", state.order ? "time" : ""].filter(Boolean);
		const hash = hashOf("flame", words.join("."), String(state.zoom || ""), state.search, state.name);
		const isDrawn = main.dataset.drawn === location.hash;
		history.replaceState(null, "", hash);
		if (isDrawn) {
			main.dataset.drawn = location.hash;
		}
	};
	state.go = (change) => {
		Object.assign(state, change);
		state.address();
		section.remove();
		drawWith(main, known, sum, draw);
	};
	state.zoomed = (zoom) => {
		state.zoom = zoom;
		state.address();
	};
	const {search, status} = addTools(section, state, known, hasWeight, state.go);
	const {pictures, total} = draw(section, state), find = () => {
		const found = pictures.map((each) => each.find(search.value))[0];
		status.textContent = found === null || found === undefined ? "" : "found in " + percent(found, total);
	};
	search.addEventListener("input", () => {
		state.search = search.value;
		state.address();
		find();
	});
	find();
}

function addNothing(main) {
	make("p", main, "No operator, call or GPU activity was recorded.", "note");
}

const sumOf = (trees, tree, weight) => (trees[tree] || nothing)[weight].reduce((a, b) => a + b, 0);

/* Of the page's run, or of both. */
function treesOf(name) {
	const {trees, other} = unpack();
	return Object.keys(other).length ? [trees[name], other[name]] : [trees[name]];
}

function drawPage(main) {
	if (!text) {
		addNothing(main);
		return;
	}
	const {trees} = unpack();
	drawWith(main, Object.keys(trees), (tree, weight) => sumOf(trees, tree, weight), (section, state) => {
		const tree = treeOf(state.tree, state.weight, state), isAll = !chosen(trees[state.tree], state), left = isAll && trees[state.tree].unsampled[state.weight];
		prose("p", section, weights[state.weight] + choiceText(state) + ": " + shown(tree.total[0], state.weight) + (state.weight === "gpu" ? " of GPU activities, under what launched them"
			: state.weight === "cpu" ? " of operators and CUDA calls on all threads, waiting included" : "") +
			(left ? ". Python stacks are samples: they cover " + percent(tree.total[0], tree.total[0] + left) : "") + ".", "note");
		if (!tree.total[0]) {
			return {pictures: [], total: 0};
		}
		addLegend(make("div", section, null, "flame"), tree);
		if (!state.name || !tree.name.includes(state.name)) {
			const sandwich = (name) => state.go({name, zoom: 0});
			return {pictures: [icicle(section, tree, weights[state.weight], {...state, sandwich})], total: tree.total[0]};
		}
		const part = {zoom: 0, zoomed: () => {}}, inner = saying(callees(tree, state.name), state.weight), outer = saying(callers(tree, state.name), state.weight);
		make("h3", section, "In " + state.name + ": " + percent(nameTotal(tree, state.name), tree.total[0]) + " of all", "flame-heading");
		const below = icicle(section, inner, "Callees", part);
		make("h3", section, "What it lies in, the innermost first");
		return {pictures: [below, icicle(section, outer, "Callers", part)], total: tree.total[0]};
	});
}

/* The difference of two runs; steps: how many each has, or null. */
function drawDiff(main, steps) {
	if (!text) {
		addNothing(main);
		return;
	}
	const {trees, other} = unpack(), known = [...new Set([...Object.keys(trees), ...Object.keys(other)])];
	drawWith(main, known, (tree, weight) => sumOf(trees, tree, weight) + sumOf(other, tree, weight), (section, state) => {
		const of = [trees[state.tree], other[state.tree]], chosenSteps = hasRanges(of) ? state.steps : null;
		const nr = chosenSteps ? of.map((tree) => stepsIn(tree, chosenSteps)) : steps;
		const tree = differenceOf(state.tree, state.weight, nr || [1, 1], {phase: state.phase, steps: chosenSteps});
		prose("p", section, weights[state.weight] + " of A and B" + choiceText({phase: state.phase, steps: chosenSteps}) +
			(chosenSteps ? ", divided by the steps that each has there (A " + nr[0] + ", B " + nr[1] + ")" : nr ? " per step: all of each recording, divided by its steps" : "") +
			". A frame is as wide as both; orange frames take longer in B, blue ones shorter, and what grew most comes first.", "note");
		if (!tree.total[0]) {
			return {pictures: [], total: 0};
		}
		return {pictures: [icicle(section, tree, weights[state.weight], state)], total: tree.total[0]};
	});
}

return {drawPage, drawDiff, isEmpty: !text};
})();
