/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds elements and formats numbers and names. Names from the target are set as textContent, title or value, never as
 * markup.
 */
"use strict";

const pageText = (() => {
function make(name, parent, text, className) {
	const element = document.createElement(name);
	if (text !== undefined && text !== null) {
		element.textContent = text;
	}
	if (className) {
		element.className = className;
	}
	if (parent) {
		parent.append(element);
	}
	return element;
}

const units = {
	time: [["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]],
	size: [["GB", 1e9], ["MB", 1e6], ["KB", 1e3], ["B", 1]],
	rate: [["GB/s", 1e9], ["MB/s", 1e6], ["KB/s", 1e3], ["B/s", 1]],
};

/* The largest unit in which the largest value is at least `least`, as in the text tables. */
function unitOf(type, values, least = 10) {
	const list = units[type];
	if (!list) {
		return null;
	}
	let most = 0;
	for (const value of values) {
		most = Math.max(most, Math.abs(value || 0));
	}
	return list.find((unit) => most >= least * unit[1]) || list[3];
}

/* Made once: a formatter takes longer to make than to use a thousand times. */
const integers = new Intl.NumberFormat("en-US"), thousandths = new Intl.NumberFormat("en-US", {minimumFractionDigits: 3, maximumFractionDigits: 3});

function show(value, type, unit) {
	if (value === null || value === undefined) {
		return "–";
	}
	if (type === "text" || type === "id") {
		return String(value);
	}
	if (type === "p" && value < .01) {
		return "< 0.01";
	}
	if (type === "percent" || type === "number" || type === "p") {
		return Number(value).toFixed(2).replace(/^-(0\.00)$/, "$1");
	}
	if (unit && unit[1] > 1) {
		return thousandths.format(value / unit[1]);
	}
	return integers.format(value);
}

/* A single number with its unit. */
function one(value, type) {
	const unit = unitOf(type, [value], 1);
	if (value === null || value === undefined) {
		return "n/a";
	}
	return type === "percent" ? Number(value).toFixed(1) + " %"
		: unit && unit[1] > 1 ? Number((value / unit[1]).toPrecision(4)) + " " + unit[0] : show(value, type) + (unit ? " " + unit[0] : "");
}

/* A C++ name without arguments and result, which say least; cut in the middle. */
function short(text, most = 44) {
	let name = String(text).replace(/^void /, "");
	for (let at = name.length - 1, depth = 0; name.endsWith(")") && at > 0; at--) {
		depth += (name[at] === ")") - (name[at] === "(");
		if (depth === 0) {
			name = /[\w>]/.test(name[at - 1]) ? name.slice(0, at) : name;
			break;
		}
	}
	const letters = [...name];
	const last = Math.min(15, Math.floor(most / 2) - 1);
	return letters.length <= most ? name : letters.slice(0, most - 1 - last).join("") + "…" + letters.slice(-last).join("");
}

/* Its file and folder say more than what leads to them. */
function shortPath(text, most = 48) {
	const parts = text.split("/");
	while (parts.length > 2 && parts.join("/").length > most) {
		parts.splice(parts[0] === "…" ? 1 : 0, parts[0] === "…" ? 1 : 2, ...(parts[0] === "…" ? [] : ["…"]));
	}
	return parts.join("/");
}

/* Without the folders that all of them lie in. */
function pathsApart(paths) {
	const all = paths.map((path) => path.split("/"));
	while (all.every((parts) => parts.length > 1 && parts[0] === all[0][0])) {
		all.forEach((parts) => parts.shift());
	}
	return all.map((parts) => parts.join("/"));
}

/* Is a frame of a Python stack the user's own code? As report/util/stack_text.c has it. */
function isOwnFrame(frame) {
	return /\.py\(/.test(frame) && !/^<|-packages\/|\/lib\/python|^[^/]+\//.test(frame) && !/^(contextlib|functools|queue|runpy|selectors|threading)\.py\(/.test(frame);
}

/* A stack of Python in little room: what ran, and the innermost frame of the user's code. */
function shortStack(text, most = 60) {
	const frames = text.split(" <- "), own = frames.findIndex(isOwnFrame), at = own < 0 ? frames.length - 1 : own;
	if (text.length <= most || frames.length < 2) {
		return text;
	}
	const base = (frame) => frame.replace(/^[^(]*\//, ""), last = base(frames[at]);
	const inner = at ? frames[0].replace(/^.*?\): /, "") + (at > 1 ? " <- … <- " : " <- ") : "";
	return inner + last + (at < frames.length - 1 && !at ? " <- …" : "");
}

/* A description as views have it, with a capital; names of code keep their letters. */
function sentence(text) {
	const plain = text.replace(/`help ([a-z-]+)`/g, "gprof-report help $1").replace(/`/g, "");
	return /^[a-z]+[ ,:;]/.test(plain) ? plain[0].toUpperCase() + plain.slice(1) : plain;
}

const AMOUNT = /(\(?[\d.,]*\d (?:%|[num]?s|[KMGT]?B(?:\/s)?|W|J)(?!\w)[),.:;]*)/;

/* Adds sentences, in which a number and its unit are on one line. */
function addProse(element, text) {
	text.split(AMOUNT).forEach((part, i) => (i % 2 ? make("span", element, part, "amount") : element.append(part)));
	return element;
}

const prose = (name, parent, text, className) => addProse(make(name, parent, null, className), text);

return {make, prose, addProse, unitOf, show, one, short, shortPath, pathsApart, shortStack, sentence};
})();
