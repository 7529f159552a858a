/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Curves over time: utilization, power, memory.
 */
"use strict";

const pageCurve = (() => {
const {rowsOf, isMany, rowsByProcess, who} = pageData, {chart} = pageChart, {hasCategories} = pageMemory;

function curves(parent) {
	for (const own of [...rowsByProcess(rowsOf("utilization_time")).values()].slice(0, 8)) {
		const starts = [...new Set(own.map((row) => row.start_ns))].sort((a, b) => a - b);
		const of = isMany ? ", " + who(own[0]) : "", how = {kind: "line", isTimed: true, labels: starts, axis: "since the start"};
		const curve = (name, test, id) => {
			const values = new Map(own.filter((row) => test(row) && row[id] !== null).map((row) => [row.start_ns, row[id]]));
			const points = starts.map((start) => [start, values.get(start) ?? null]);
			return {name, points, values: points.map((point) => point[1])};
		};
		const devices = [...new Set(own.map((row) => row.device))].filter((device) => device !== null);
		chart(parent, "Utilization over time" + of, {...how, type: "percent", series: [
			...devices.map((device) => curve("GPU " + device + " busy", (row) => row.device === device, "gpu_pct")),
			...devices.map((device) => curve("GPU " + device + " busy, sampled", (row) => row.device === device, "gpu_sampled_pct")),
			curve("Process CPU (% of one core)", () => true, "cpu_process_pct"), curve("System CPU", () => true, "cpu_system_pct")]});
		if (own.some((row) => row.cpu_user_pct !== null)) {
			chart(parent, "CPU of the host over time" + of, {...how, type: "percent", series: [["User", "cpu_user_pct"],
				["System", "cpu_kernel_pct"], ["iowait", "cpu_iowait_pct"], ["Busy", "cpu_system_pct"]].map(([name, id]) => curve(name, () => true, id))});
		}
		if (own.some((row) => row.gpu_sm_pct !== null)) {
			chart(parent, "Hardware counters over time" + of, {...how, type: "percent",
				note: "Measured on the whole GPU, with all of its processes.", series: devices.flatMap((device) =>
					[["SM active", "gpu_sm_pct"], ["tensor cores active", "gpu_tensor_pct"], ["memory bandwidth", "gpu_bandwidth_pct"]].map(
						([name, id]) => curve("GPU " + device + " " + name, (row) => row.device === device, id)))});
		}
		chart(parent, "Power over time" + of, {...how, type: "number", unit: "W", series:
			devices.map((device) => curve("GPU " + device, (row) => row.device === device, "gpu_power_w"))});
		chart(parent, "Memory over time" + of, {...how, type: "size", series: [
			curve("Process, resident", () => true, "resident_bytes"),
			...devices.map((device) => curve("GPU " + device, (row) => row.device === device, "gpu_memory_bytes"))]});
	}
}

/* Memory without categories. What is in use stays the same until the next known value. */
function memoryCurves(parent) {
	for (const own of [...rowsByProcess(rowsOf("memory_curve").filter((row) => !hasCategories(row))).values()].slice(0, 8)) {
		const places = [...new Set(own.map((row) => row.device))].slice(0, 8);
		const last = own.reduce((most, row) => Math.max(most, row.time_ns), 0);
		const curve = (place, name, id) => {
			const points = own.filter((row) => row.device === place && row[id] !== null).map((row) => [row.time_ns, row[id]]);
			return {name: place + ", " + name, points: points.length ? [...points, [last, points[points.length - 1][1]]] : points};
		};
		chart(parent, "Allocator memory over time" + (isMany ? ", " + who(own[0]) : ""), {kind: "line", type: "size", isTimed: true, isStepped: true,
			labels: own.map((row) => row.time_ns), axis: "since the start of the recording", note: "Source: the framework's allocator. Peaks are kept.",
			series: places.flatMap((place) => [curve(place, "in use", "allocated_bytes"), curve(place, "reserved", "reserved_bytes")])
				.map((series) => ({...series, values: series.points.map((point) => point[1])}))});
	}
}

return {curves, memoryCurves};
})();
