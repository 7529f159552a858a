/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives one by one: how far apart their ranks arrive, and how long they transfer once all are there. The data are the
 * table and the figure of the view `arrivals`; the figure has the ranks of the first rows.
 */
"use strict";

const pageArrivals = (() => {
const {make, one} = pageText, {shapes, rowsOf} = pageData, {hashOf} = pageLink;
const {chart, shown, stack} = pageChart;
const MOST_ROWS = 16, MOST_RANKS = 64;
const rows = rowsOf("arrivals"), figure = (shapes.arrivals && shapes.arrivals.figure) || [];

function nameOf(row) {
	return row.name + " " + row.number + (row.step === null ? "" : ", step " + row.step);
}

/* The ranks of a collective, by number; of very many those that come last. */
function ranksOf(list) {
	return [...list].sort((a, b) => b[1] - a[1]).slice(0, MOST_RANKS).sort((a, b) => a[0] - b[0]);
}

/* Time starts with the first rank: a rank arrives, waits for the last one, and transfers. */
function drawRanks(place, at) {
	const ranks = ranksOf(figure[at]), row = rows[at], nrLeft = figure[at].length - ranks.length;
	for (const each of shown.filter((old) => old.canvas && place.contains(old.canvas))) {
		shown.splice(shown.indexOf(each), 1);
		each.destroy();
	}
	place.replaceChildren();
	chart(place, "Ranks of " + nameOf(row), {kind: "stack", type: "time", isAcross: true, labels: ranks.map(([rank]) => "rank " + rank), series: [
		{name: "Not there yet", category: "frame", values: ranks.map((rank) => rank[1])},
		{name: "Waiting for the last rank", category: "other", values: ranks.map((rank) => rank[2])},
		{name: "Transfer", category: "communication", values: ranks.map((rank) => rank[3])},
	], note: "Rank " + row.last_rank + " arrives last, " + one(row.spread_ns, "time") + " after rank " + row.first_rank + ". The communicator is " + row.communicator + "." +
		(nrLeft ? " " + nrLeft + " ranks that arrive earlier are not shown." : "")});
}

function arrivals(parent) {
	if (!rows.length) {
		return;
	}
	const few = rows.slice(0, MOST_ROWS);
	stack(parent, "Collectives with the widest arrival spread", "arrivals", nameOf, [["spread_ns", "Arrival spread", "other"], ["transfer_ns", "Transfer", "communication"]],
		{rows: few, isAcross: true, hashes: few.map((row) => (row.step === null || !document.getElementById("timeline").textContent ? null : hashOf("ranks", String(row.step))))});
	if (!figure.length) {
		return;
	}
	const box = make("div", parent, null, "arrivals"), label = make("label", make("div", box, null, "tools"), "Collective "), list = make("select", label), place = make("div", box);
	list.setAttribute("aria-label", "Collective");
	figure.slice(0, rows.length).forEach((_, at) => {
		make("option", list, nameOf(rows[at]) + ", spread " + one(rows[at].spread_ns, "time")).value = String(at);
	});
	list.addEventListener("change", () => drawRanks(place, Number(list.value)));
	drawRanks(place, 0);
}

return {arrivals};
})();
