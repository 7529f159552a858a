/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies tables for spreadsheets, and saves them as CSV.
 */
"use strict";

const pageExport = (() => {
const {make} = pageText;

/* A field of CSV: quoted where it needs to be. */
function field(value) {
	const text = value === null || value === undefined ? "" : String(value);
	return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

function csvOf(lines) {
	return lines.map((line) => line.map(field).join(",") + "\n").join("");
}

/* Lines of tabs; those and line breaks in a value would begin others. */
function tabsOf(lines) {
	return lines.map((line) => line.map((text) => String(text).replace(/[\t\r\n]+/g, " ")).join("\t")).join("\n");
}

/* For browsers that let no page of a file use the clipboard. */
function copyBySelection(text) {
	const field = make("textarea", document.body), before = document.activeElement;
	field.value = text;
	field.select();
	const isDone = document.execCommand("copy");
	field.remove();
	before.focus({preventScroll: true});
	return isDone;
}

async function copy(text) {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch (error) {
		return copyBySelection(text);
	}
}

function save(name, type, text) {
	const link = make("a"), url = URL.createObjectURL(new Blob([text], {type}));
	link.href = url;
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(url), 60000);
}

/* What a table of the page shows; a cell with a cut name has all of it as its title. */
function linesOf(table) {
	return [...table.rows].map((row) => [...row.cells].map((cell) => cell.title || cell.textContent));
}

/*
 * Adds the buttons of a table. shown() has the lines to copy, raw() those to save; both have the titles first.
 * The classes are those that the keys of the page press.
 */
function addExport(tools, title, name, shown, raw = shown) {
	const toCopy = make("button", tools, "Copy", "copy"), toSave = make("button", tools, "CSV", "csv");
	toCopy.title = "Copy the rows for a spreadsheet (C)";
	toCopy.setAttribute("aria-label", "Copy " + title);
	toSave.title = "Save the rows as " + name + ".csv (E)";
	toSave.setAttribute("aria-label", "Save " + title + " as CSV");
	toCopy.addEventListener("click", async () => {
		toCopy.textContent = await copy(tabsOf(shown())) ? "Copied" : "Not copied";
		setTimeout(() => (toCopy.textContent = "Copy"), 2000);
	});
	toSave.addEventListener("click", () => save(name + ".csv", "text/csv", csvOf(raw())));
}

return {addExport, linesOf, save};
})();
