/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flame graphs as icicles, the widest frame first: modules or Python stacks, operators, kernels. flame_data.h describes
 * the data. The address has the tree, the weight, the zoom, the search and the frame whose callers are shown.
 */
"use strict";

const pageFlame = (() => {
const {make, one, short} = pageText, {hashOf, partsOfHash} = pageLink;
const ROW = 18, LEAST = 1, CHARACTER = 7, MOST_ROWS = 200;
const REST = 7; /* FLAME_REST */
const kindNames = ["all", "process", "Python function", "module", "operator", "CUDA call", "GPU activity", "small frames"];
const weights = {gpu: "GPU time", cpu: "CPU time", launches: "Launches"};
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

/* ---- trees: parent, name (a text) and kind of each frame, by place; frame 0 is the root ---- */

function finish(tree) {
	tree.total = tree.self.slice();
	tree.children = tree.parent.map(() => []);
	for (let i = tree.parent.length - 1; i > 0; i--) {
		tree.total[tree.parent[i]] += tree.total[i];
	}
	for (let i = 1; i < tree.parent.length; i++) {
		tree.children[tree.parent[i]].push(i);
	}
	for (const each of tree.children) {
		each.sort((a, b) => tree.total[b] - tree.total[a] || a - b);
	}
	return tree;
}

function treeOf(name, weight) {
	const {names, trees} = unpack(), tree = trees[name];
	return finish({parent: tree.parent, kind: tree.kind, self: tree[weight], name: tree.name.map((number, i) =>
		i === 0 ? "all" : tree.kind[i] === REST ? names[number] + " small frames" : names[number])});
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

/* As much of a name as there is room for. */
function fit(name, room) {
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
function icicle(parent, tree, weight, label, state) {
	const box = make("div", parent), details = make("p", parent, null, "flame-details"), picture = svg("svg", box, {tabindex: 0, role: "application"});
	let zoom = state.zoom < tree.parent.length ? state.zoom : 0, current = zoom, holds = null;
	box.className = "flame";
	picture.setAttribute("aria-label", label + ": arrow keys move, Enter zooms, Escape shows all");
	details.setAttribute("aria-live", "polite");

	function describe() {
		const total = tree.total[current];
		details.replaceChildren();
		make("b", details, tree.name[current]);
		details.append(kindNames[tree.kind[current]] + ", " + shown(total, weight) + ", " + percent(total, tree.total[0]) + " of all" +
			(current ? ", " + percent(total, tree.total[tree.parent[current]]) + " of its parent" : "") + ", self " + shown(tree.self[current], weight));
		if (current && tree.kind[current] !== REST && state.sandwich) {
			details.append(" ");
			const button = make("button", details, "Callers and callees");
			button.addEventListener("click", () => state.sandwich(tree.name[current]));
		}
	}

	function draw() {
		const width = box.clientWidth || 800, list = layout(tree, zoom, width);
		const rows = Math.max(...list.map((each) => each[3])) + 1;
		picture.replaceChildren();
		picture.setAttribute("height", rows * ROW);
		picture.setAttribute("viewBox", "0 0 " + width + " " + rows * ROW);
		box.classList.toggle("searched", !!holds);
		for (const [i, x, wide, row, isOuter] of list) {
			const classes = ["k" + tree.kind[i], isOuter && "outer", i === current && "current", holds && holds(i) && "found"].filter(Boolean).join(" ");
			const group = svg("g", picture, {class: classes, "data-frame": i});
			svg("rect", group, {x: x.toFixed(2), y: row * ROW, width: wide.toFixed(2), height: ROW - 1});
			svg("title", group, {}).textContent = tree.name[i] + "\n" + shown(tree.total[i], weight) + ", " + percent(tree.total[i], tree.total[0]);
			const room = Math.floor((wide - 6) / CHARACTER);
			if (room > 2) {
				svg("text", group, {x: (x + 3).toFixed(2), y: row * ROW + 13}).textContent = fit(tree.name[i], room);
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
			holds = words ? (i) => i > 0 && tree.name[i].toLowerCase().includes(words) : null;
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

/* The parts of the address after the page: tree.weight, zoom, search, name whose callers are shown. */
function stateOfHash() {
	const [, what = "", zoom = "", search = "", name = ""] = partsOfHash(), [tree, weight] = what.split(".");
	return {tree, weight, zoom: Number(zoom) || 0, search, name};
}

function addTools(parent, state, known, hasWeight, go) {
	const tools = make("div", parent, null, "tools");
	choice(tools, "Weight", Object.entries(weights).filter(([key]) => hasWeight(key)), state.weight, (weight) => go({weight}));
	if (known.length > 1) {
		choice(tools, "Outer frames", known.map((key) => [key, treeNames[key]]), state.tree, (tree) => go({tree, zoom: 0, name: ""}));
	}
	const search = make("input", tools), status = make("span", tools);
	search.type = "search";
	search.placeholder = "Search frames";
	search.value = state.search;
	search.setAttribute("aria-label", "Search frames by name");
	status.setAttribute("role", "status");
	make("button", tools, "Show all").addEventListener("click", () => go({zoom: 0, name: "", search: ""}));
	return {search, status};
}

function drawPage(main) {
	if (!text) {
		make("p", main, "No operator, call or GPU activity was recorded.", "note");
		return;
	}
	const {trees} = unpack(), known = Object.keys(trees), state = stateOfHash();
	const sum = (tree, weight) => trees[tree][weight].reduce((a, b) => a + b, 0);
	state.tree = known.includes(state.tree) ? state.tree : known[0];
	const hasWeight = (weight) => sum(state.tree, weight) > 0;
	state.weight = weights[state.weight] && hasWeight(state.weight) ? state.weight : Object.keys(weights).find(hasWeight);

	const section = make("section", main);
	function address() {
		const hash = hashOf("flame", state.tree + "." + state.weight, String(state.zoom || ""), state.search, state.name);
		const isDrawn = main.dataset.drawn === location.hash;
		history.replaceState(null, "", hash);
		if (isDrawn) {
			main.dataset.drawn = location.hash;
		}
	}
	function go(change) {
		Object.assign(state, change);
		address();
		section.remove();
		drawPage(main);
	}
	const {search, status} = addTools(section, state, known, hasWeight, go);
	const tree = treeOf(state.tree, state.weight), left = trees[state.tree].unsampled[state.weight];
	make("p", section, weights[state.weight] + ": " + shown(tree.total[0], state.weight) + (state.weight === "gpu" ? " of GPU activities, under what launched them"
		: state.weight === "cpu" ? " of operators and CUDA calls on all threads, waiting included" : "") +
		(left ? ". Python stacks are samples: they cover " + percent(tree.total[0], tree.total[0] + left) : "") + ".", "note");
	addLegend(make("div", section, null, "flame"), tree);
	let pictures;
	if (state.name && tree.name.includes(state.name)) {
		const inner = callees(tree, state.name), outer = callers(tree, state.name), part = {zoom: 0, zoomed: () => {}};
		make("h3", section, "In " + state.name + ": " + percent(nameTotal(tree, state.name), tree.total[0]) + " of all", "flame-heading");
		const below = icicle(section, inner, state.weight, "Callees", part);
		make("h3", section, "What it lies in, the innermost first");
		pictures = [below, icicle(section, outer, state.weight, "Callers", part)];
	} else {
		pictures = [icicle(section, tree, state.weight, weights[state.weight], {
			zoom: state.zoom,
			zoomed(zoom) {
				state.zoom = zoom;
				address();
			},
			sandwich: (name) => go({name, zoom: 0}),
		})];
	}
	const find = () => {
		const found = pictures.map((each) => each.find(search.value))[0];
		status.textContent = found === null ? "" : "found in " + percent(found, tree.total[0]);
	};
	search.addEventListener("input", () => {
		state.search = search.value;
		address();
		find();
	});
	find();
}

return {drawPage, isEmpty: !text};
})();
