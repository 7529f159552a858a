/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The palette of palette.css for pictures that scripts draw.
 */
"use strict";

const pagePalette = (() => {
const style = getComputedStyle(document.documentElement);

/* The colour of a category. */
function colorOf(category) {
	return style.getPropertyValue("--" + category).trim();
}

/* The colours --name-0, --name-1 ... */
function listOf(name) {
	const list = [];
	for (let color = colorOf(name + "-0"); color; color = colorOf(name + "-" + list.length)) {
		list.push(color);
	}
	return list;
}

function partsOf(color) {
	return [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
}

/* A colour nearer to white (255) or to black (0). */
function shadeOf(color, toward, share) {
	return "#" + partsOf(color).map((part) => Math.round(part + (toward - part) * share).toString(16).padStart(2, "0")).join("");
}

/* Black or white, whichever has more contrast with a colour: 4.58 at least (relative luminance of WCAG 2). */
function inkOn(color) {
	const [red, green, blue] = partsOf(color).map((part) => (part <= 10 ? part / 255 / 12.92 : ((part / 255 + .055) / 1.055) ** 2.4));
	return .2126 * red + .7152 * green + .0722 * blue > .179 ? "#000" : "#fff";
}

return {colorOf, listOf, shadeOf, inkOn};
})();
