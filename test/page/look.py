# SPDX-License-Identifier: Apache-2.0
"""Opens a page of `gprof-report html` in Chromium and looks at all of it.

usage: look.py CHROMIUM PAGE JSON HOW [PICTURES]    HOW: "light dark narrow" or some of these; PICTURES: a folder for screenshots
"""
import decimal
import json
import os
import re
import sys

from must import finish, must
from wait import drawn, frame, new_context, opened_browser

chromium, path, expected_path, how, pictures = (sys.argv + [""])[1:6]
expected = json.load(open(expected_path))


def check_data(page):
    """What the page holds is what `summary --format json` printed."""
    have = json.loads(page.evaluate("document.getElementById('data').textContent"))
    shapes = have.pop("page")["tables"]
    must(have == expected, "the page's data are not those of summary: %s" % [
        key for key in expected if have.get(key) != expected[key]])
    for key, table in expected.items():
        if isinstance(table, dict) and table["rows"]:
            must([c[0] for c in shapes[key]["columns"]] == list(table["rows"][0]), "columns of " + key)


def cells(page, table, column, of="textContent"):
    """The texts of a column of the table that is shown, by its title without unit; of="title": whole names."""
    return page.evaluate("""([id, title, of]) => {
        const table = document.querySelector('#table-' + id + ' table');
        const at = [...table.tHead.rows[0].cells].findIndex((cell) => cell.textContent.replace(/ \\(.*/, '') === title);
        return [...table.tBodies[0].rows].map((row) => row.cells[at][of]);
    }""", [table, column, of])


def show_all(section):
    # A role is asked of each element of a table, and takes as long as the table.
    if section.locator(".tools button:enabled", has_text="Unfold all").is_visible():
        section.locator(".tools button", has_text="Unfold all").click()
    while section.locator(":scope > button", has_text="More rows").is_visible():
        section.locator(":scope > button", has_text="More rows").click()


def check_tables(page, keys):
    """Rows as in JSON, once all are shown. The page itself clicks: each question from outside takes as long as a table."""
    shown = page.evaluate("""(keys) => keys.map((key) => {
        const section = document.getElementById('table-' + key);
        const button = (text) => [...section.querySelectorAll('.tools button, :scope > button')].find(
            (each) => each.textContent.includes(text) && !each.disabled && each.checkVisibility());
        button('Unfold all')?.click();
        for (let more; (more = button('More rows'));) {
            more.click();
        }
        return [section.querySelectorAll('table').length, section.querySelectorAll('tbody tr').length];
    })""", keys)
    for key, (tables, rows) in zip(keys, shown):
        must(tables == bool(expected[key]["rows"]), "%d tables of %s" % (tables, key))
        must(rows == len(expected[key]["rows"]), "%s has %d rows, not %d" % (key, rows, len(expected[key]["rows"])))


def check_short_names(page, names):
    """Names of kernels are short, no two alike, and whole where all columns are."""
    shown = cells(page, "kernel", "Kernel")
    must(len(set(shown)) == len(set(names)), "kernels that look alike: %s" % [text for text in shown if shown.count(text) > 1])
    must(all(len(text) <= len(name) for text, name in zip(shown, names)), "names that became longer")
    long = [text for text, name in zip(shown, names) if name == text and name.startswith("void ") and "<" in name]
    must(not long, "names of templates are whole: %s" % long)
    button = page.locator("#table-kernel").get_by_role("button", name="All columns")
    button.click()
    must(cells(page, "kernel", "Kernel") == names, "names of kernels beside all columns")
    page.locator("#table-kernel").get_by_role("button", name="Fewer columns").click()


def check_kernels(page):
    rows = expected["kernel"]["rows"]
    section = page.locator("#table-kernel")
    names = cells(page, "kernel", "Kernel", "title")
    must(names == [row["name"] for row in rows], "names of kernels")
    check_short_names(page, names)
    shown = cells(page, "kernel", "Kernel")
    must(cells(page, "kernel", "Calls") == ["{:,}".format(row["calls"]) for row in rows], "calls of kernels")
    unit = section.locator("th", has_text="Total").inner_text().split("(")[1].split(")")[0]
    factor = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}[unit]
    for row, text in zip(rows, cells(page, "kernel", "Total")):
        is_right = text == "–" if row["total_ns"] is None else abs(float(text.replace(",", "")) - row["total_ns"] / factor) <= .0006
        must(is_right, "total of " + row["name"])
    section.get_by_role("button", name="Calls", exact=True).click()
    calls = [int(text.replace(",", "")) for text in cells(page, "kernel", "Calls")]
    must(calls == sorted(calls, reverse=True), "kernels sorted by calls")
    section.locator("th", has_text="Kernel").first.get_by_role("button").press("Enter")
    names = cells(page, "kernel", "Kernel")
    must(sorted(names) == sorted(shown), "the same names in another order")
    must(names == page.evaluate("(names) => [...names].sort()", names), "kernels sorted by name")
    word = rows[0]["name"].split()[0].lower() if rows[0]["name"].split() else ""
    section.get_by_role("searchbox").fill(word)
    show_all(section)
    found = [row for row in rows if any(word in str(value).lower() for value in row.values())]
    must(section.locator("tbody tr").count() <= len(found), "rows found by '%s'" % word)
    must(rows[0]["name"] in cells(page, "kernel", "Kernel", "title"), "the kernel searched for")
    section.get_by_role("searchbox").fill(shown[0])
    must(" ".join(shown[0].lower().split()) in [" ".join(text.lower().split()) for text in cells(page, "kernel", "Kernel")], "the kernel searched for as it is shown")
    section.get_by_role("searchbox").fill("no such kernel anywhere")
    must(section.locator("tbody tr").count() == 0, "rows found by what is in none")


def check_levels(page, key):
    """A table that is sorted by name keeps rows with the row that they lie in."""
    shape = json.loads(page.evaluate("JSON.stringify(JSON.parse(document.getElementById('data').textContent).page.tables)"))[key]
    rows = expected[key]["rows"]
    if not rows:
        return
    column = next(title for name, title, *_ in shape["columns"] if name == "name")
    texts, groups = dict(zip(cells(page, key, column, "title"), cells(page, key, column))), []
    for row, level in zip(rows, shape["levels"]):
        if level == 0:
            groups.append([])
        groups[-1].append(texts[row["name"]])
    page.locator("[id='table-%s'] th" % key, has_text=column).first.get_by_role("button").click()
    shown = cells(page, key, column)
    want = [name for group in sorted(groups, key=lambda each: each[0]) for name in [group[0]] + sorted(group[1:])]
    must(shown == want, "rows in rows of %s sorted by name" % key)


def names_of(page, key, column):
    return page.locator("[id='table-%s'] tbody tr" % key).count(), set(cells(page, key, column, "title"))


def check_links(page):
    """Kernels lead to their operators, these to their kernels; what is searched for is in the address."""
    both = [(row["name"], row["operator"]) for row in expected["kernel_operator"]["rows"]
            if row["operator"] and row["name"] and row["name"] == " ".join(row["name"].split())]  # a field takes no line breaks
    if both:
        name = both[0][0]
        page.goto("about:blank")
        page.goto("file://" + os.path.abspath(path) + "#kernels")
        drawn(page)
        page.locator("#table-kernel").get_by_role("searchbox").fill('"%s"' % name)
        must(names_of(page, "kernel", "Kernel") == (1, {name}), "the kernel '%s' in quotes" % name)
        page.locator("#table-kernel tbody").get_by_role("link", name="operators").click()
        drawn(page, "Kernels", "#kernels/kernel_operator/")
        rows = [row for row in expected["kernel_operator"]["rows"] if row["name"] == name]
        must(names_of(page, "kernel_operator", "Kernel")[1] == {name}, "operators of the kernel " + name)
        link = page.locator("#table-kernel_operator tbody a", has_text=rows[0]["operator"]).first
        if link.count() and rows[0]["operator"] in [row["name"] for row in expected["operator"]["rows"]]:
            link.click()
            drawn(page, "Operators")
            must(names_of(page, "operator", "Operator")[1] == {rows[0]["operator"]}, "the operator of " + name)
            page.locator("#table-operator tbody").get_by_role("link", name="kernels").first.click()
            drawn(page, "Kernels")
            must(names_of(page, "kernel_operator", "Operator")[1] == {rows[0]["operator"]}, "kernels of " + rows[0]["operator"])


def check_step(page):
    """A click on a step's number shows its parts, which are those of the breakdown."""
    rows = [row for row in expected["breakdown"]["rows"] if row["step"].isdigit() and row["total_ns"]]
    if not rows:
        return
    row = rows[0]
    page.goto("about:blank")
    page.goto("file://" + os.path.abspath(path) + "#steps")
    drawn(page)
    page.locator("#table-breakdown tbody").get_by_role("link", name=row["step"], exact=True).first.click()
    drawn(page, "Step ")
    must(page.locator("main h2").inner_text().split(",")[0] == "Step " + row["step"], "the step's title")
    shares = page.evaluate("[...document.querySelectorAll('#parts td.share')].map((cell) => cell.textContent)")
    parts = ["kernel_ns", "memcpy_ns", "memset_ns", "communication_ns", "runtime_ns", "dataloader_ns", "cpu_exec_ns", "other_ns", "total_ns"]
    average = [each for each in expected["breakdown"]["rows"] if (each["pid"], each["rank"], each["step"]) == (row["pid"], row["rank"], "average")]
    want = ["%.2f" % (100 * row[part] / row["total_ns"]) for part in parts if row[part] or (average and average[0][part])]
    must(len(shares) == len(want) and all(abs(float(a) - float(b)) <= .011 for a, b in zip(shares, want)),
         "parts of step %s: %s, not %s" % (row["step"], shares, want))
    check_charts(page, "a step")
    page.get_by_role("link", name="all steps").click()
    drawn(page, "Steps")
    page.goto("about:blank")
    page.goto("file://" + os.path.abspath(path) + "#step/1/none")
    drawn(page)
    must("No such step" in page.locator("main").inner_text(), "a step that is not there")


def check_header(page):
    """The program and its recording stay in sight; red is what is wrong alone."""
    rows, paths = expected["headline"]["rows"], json.loads(page.evaluate("document.getElementById('data').textContent"))["page"]["paths"]
    who, run = page.locator("#who").inner_text(), page.locator("#run").inner_text()
    program = " ".join(rows[0]["program"].split())
    must(program == "?" or " ".join(who.split()).startswith(program), "the program %s: %s" % (program, who))
    must(len(paths) != 1 or paths[0].strip("'").split("/")[-1] in run, "the recording %s: %s" % (paths, run))
    must("median" not in who + run, "the headline is there twice: %s %s" % (who, run))
    bad = page.locator(".headline dt.bad").all_inner_texts()
    must(all(each in ("INCOMPLETE", "HUNG") for each in bad), "lines that are no error: %s" % bad)


def check_first(page):
    text = page.locator("main").inner_text()
    bad = [row for row in expected["processes"]["rows"] if row["state"] != "complete" or row["missing"]]
    must(("INCOMPLETE" in text) == bool(bad), "the first page does not tell whether data are missing")
    headline = expected["headline"]["rows"][0]
    lines = " ".join(page.locator(".headline").inner_text().split())
    must(headline["program"].split()[0] in lines, "what ran: " + lines)
    for i in (1, 2, 3):
        finding = headline["finding_%d" % i]
        must(not finding or finding in lines, "finding %d of the first screen" % i)
    if headline["median_ns"] is not None:
        median = headline["median_ns"]
        shown = page.locator(".card", has=page.locator("h3", has_text="Step time")).locator("b").inner_text().split()
        factor = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}[shown[1]]
        must(abs(float(shown[0]) * factor - median) <= 1e-3 * median, "step time " + " ".join(shown))
    stalls = [row for row in expected["hang"]["rows"] if row["what"] == "hang"]
    cards = page.locator(".card", has_text="Hangs")
    must(cards.count() == bool(stalls), "%d cards of hangs" % cards.count())
    if stalls:
        must(cards.locator("b").inner_text() == str(len(stalls)), "how many hangs")
        shown = " ".join(cards.inner_text().split())  # HTML has one blank for line breaks, too
        must(all(" ".join(row["name"].split()) in shown for row in stalls[-3:]), "what has not come")
    use = " ".join(page.locator(".card", has_text="GPU utilization").all_inner_texts())
    must(not expected["gpu_summary"]["rows"] or ("of the steps" in use) == any(row["step"] != "all" for row in expected["breakdown"]["rows"]),
         "what the use of GPUs is a share of: " + use)
    shares = [row["utilization_pct"] for row in expected["gpu_summary"]["rows"] if row["utilization_pct"] is not None]
    shown = re.search(r"([\d.]+) %", use)
    must(not shares or (shown and abs(float(shown[1]) - sum(shares) / len(shares)) < 0.06), "the use of GPUs: %s, not %s" % (use, shares))
    is_partial = bool(headline["warm_up_steps"] or headline["outlier_steps"])
    must(not shares or ("warm-up steps and outliers excluded" in use) == is_partial, "which steps the use of GPUs is of: " + use)
    for row in expected["findings"]["rows"][:3]:
        must(row["sentence"] in text, "finding " + row["cause"])


def check_breakdown(page):
    """A breakdown that is longer than its step says why."""
    times = {(row["pid"], str(row["step"])): row["duration_ns"] for row in expected["steps"]["rows"] if row["duration_ns"]}
    longer = [row["step"] for row in expected["breakdown"]["rows"] if row["total_ns"] > 1.001 * times.get((row["pid"], row["step"]), 1e30)]
    chart = page.locator("section", has=page.get_by_role("heading", name="Step time breakdown", exact=True))
    must(not chart.count() or len(expected["processes"]["rows"]) > 1 or ("ends here with the last GPU activity" in chart.first.inner_text()) == bool(longer), "no word on why breakdowns are longer than steps %s" % longer[:3])


def check_other(page):
    """What the first screen names, and TensorBoard's parts do not, stands beside the breakdown by the same name."""
    idle = {row["part"]: row["mean_ns"] for row in expected["budget"]["rows"] if row["part"] in ("Idle: Python's lock", "Idle: garbage collection", "Idle: OS calls")}
    chart = page.locator("section", has=page.get_by_role("heading", name="Step time breakdown", exact=True))
    for part in idle if chart.count() else ():
        must(part.replace("Idle: ", "") in chart.first.inner_text(), "no word on %s beside the breakdown" % part)


def check_advice(page):
    """The findings, each with the rules that are its evidence, and no other rule."""
    rows = [row for row in expected["advice"]["rows"] if row["verdict"] == "finding"]
    words = lambda text: " ".join(text.split())
    shown = [words(text) for text in page.locator("main .advice strong").all_inner_texts()]
    must(shown == [words(row["finding"]) for row in rows if not row["rule"]], "findings: %s" % shown)
    shown = [words(text) for text in page.locator("main .advice p").all_inner_texts()]
    for row in rows:
        start = words("%s: %s [%s" % (row["finding"], row["evidence"], row["rule"]))
        must(not row["rule"] or any(text.startswith(start) for text in shown), "evidence of %s: %s" % (row["cause"], start))
    nr = sum(text.startswith("Try: ") for text in shown)
    must(nr == sum(row["rule"] != "" for row in rows), "%d rules under the findings" % nr)


def check_charts(page, name):
    """Each chart has drawn something: no canvas is of one colour."""
    empty = page.evaluate("""() => [...document.querySelectorAll('canvas')].filter((canvas) => {
        const bytes = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        return canvas.width < 50 || !bytes.some((byte) => byte !== bytes[0]);
    }).map((canvas) => canvas.getAttribute('aria-label'))""")
    must(not empty, "empty charts on %s: %s" % (name, empty))
    labels = page.evaluate("""() => [...document.querySelectorAll('canvas')].map((canvas) => Chart.getChart(canvas)).filter(Boolean).flatMap(
        (chart) => [...(chart.data.labels || []), ...chart.data.datasets.map((set) => set.label)].map(String))""")
    bad = [label for label in labels if re.search(r"\b(null|NaN)\b", label)]
    must(not bad, "labels of charts on %s: %s" % (name, bad))
    over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    must(over <= 0, "%s is %d pixels wider than the window" % (name, over))


def check_steps(page, name):
    """Steps have the name of their process where several processes have steps."""
    is_many = len({(row["pid"], row["rank"]) for row in expected["steps"]["rows"]}) > 1
    labels = page.evaluate("""() => [...document.querySelectorAll('canvas[aria-label^="Step t"], canvas[aria-label^="Step phases"]')].map(
        (canvas) => Chart.getChart(canvas)).filter(Boolean).flatMap((chart) => (chart.data.labels || []).map((label) => [label].flat().join(', ')))""")
    wrong = [label for label in labels if re.match(r"\d+, (pid|rank) ", label) and not is_many]
    must(not wrong, "steps of the only process that has some, on %s: %s" % (name, wrong[:1]))


def check_timeline_card(page):
    """Operators of several processes, which may be the same, are not added up."""
    rows = expected.get("timeline_summary", {"rows": []})["rows"]
    text = page.locator(".card", has=page.get_by_role("heading", name="Timeline", exact=True))
    if len(rows) > 1 and text.count():
        must(not re.search(r"[0-9] operators?,", text.inner_text()), "operators of several processes: " + text.inner_text())
    elif rows and rows[0]["operators"] > 1:
        must("{:,} operators, {:,} calls".format(rows[0]["operators"], rows[0]["calls"]) in text.inner_text(), "operators and calls: " + text.inner_text())


def check_heights(page, name):
    """A step that dwarfs all others is cut off, and named."""
    # Of steps with one number, in nonsense, the chart has the last one.
    rows = {(row["pid"], row["step"]): row for row in expected["steps"]["rows"] if row["duration_ns"] is not None}.values()
    times = [row["duration_ns"] for row in rows if row["duration_ns"]]
    usual = sorted(times)[int(0.9 * (len(times) - 1))] if times else 0
    high = [row for row in rows if row["duration_ns"] > 10 * usual]
    for chart in page.locator("section:has(> .canvas > canvas[aria-label^='Step time;'])").all():
        most, values = chart.locator("canvas").evaluate("""(canvas) => { const chart = Chart.getChart(canvas);
            return [chart.scales.y.max, chart.data.datasets.flatMap((set) => set.data)]; }""")
        values = [value for value in values if value is not None]
        inside = sorted(value for value in values if value <= most)
        note = chart.locator("p.note").all_inner_texts()
        if high and len(times) >= 8:
            must(most < 1.5 * inside[-1] and len(values) - len(inside) == len(high), "the axis ends at %s of %s on %s" % (most, values, name))
            # JavaScript knows the first 53 bits of a number.
            step = int(decimal.Decimal(repr(float(high[0]["step"]))))
            must(any(text.startswith("Higher than the chart: step %s (" % step) for text in note), "notes on %s: %s" % (name, note))
        else:
            must(len(inside) == len(values) and not note, "the axis ends at %s of %s on %s: %s" % (most, values, name, note))


def check_types(page):
    """Types of operators: shares of their average or total, as a pie or as bars, with the largest first."""
    rows = expected["operator_types"]["rows"]
    button = {name: page.get_by_role("group", name="Operator types").get_by_role("button", name=name) for name in ("Average", "Total", "Pie", "Bars")}
    must((button["Pie"].count() == 1) == any(row["total_ns"] for row in rows), "a choice of charts of %d operator types" % len(rows))
    if not button["Pie"].count():
        return
    for measure, id in (("Total", "total_ns"), ("Average", "time_avg_ns")):
        want = sorted((row[id] for row in rows if row[id]), reverse=True)
        for kind, nr, most in (("Pie", 9, 10), ("Bars", 20, 20)):
            button[measure].click()
            button[kind].click()
            frame(page)
            must(button[kind].evaluate("(each) => each === document.activeElement && each.ariaPressed === 'true'"), "the button %s is not pressed" % kind)
            drawn_as, values = page.evaluate("""(title) => { const chart = Chart.getChart(document.querySelector(`canvas[aria-label^="${title}"]`));
                return [chart.config.type, chart.data.datasets[0].data]; }""", "Operator types by %s time" % measure.lower())
            must(drawn_as == ("doughnut" if kind == "Pie" else "bar") and len(values) == min(len(want), most), "%s of %s: %s of %d" % (kind, measure, drawn_as, len(values)))
            parts = want[:nr] + ([sum(want[nr:])] if kind == "Pie" and want[nr:] else [])
            must(all(abs(a / sum(values) - b / sum(parts)) < 1e-6 for a, b in zip(values, parts)), "%s of %s are not those of the table" % (kind, measure))


def check_memory(page):
    """What is in use stays so until the last moment that is known of its process."""
    ends = page.evaluate("""() => [...document.querySelectorAll('canvas')].map((canvas) => Chart.getChart(canvas)).filter(
        (chart) => chart && chart.data.datasets[0].stepped).map((chart) => chart.data.datasets.map((set) => set.data[set.data.length - 1].x))""")
    for curves in ends:
        must(len(set(curves)) == 1, "curves of memory end at %s" % curves)


def grid(heat):
    """The number of rows and of columns, the center of a cell."""
    rows, columns, height, gutter = map(int, heat.get_attribute("data-grid").split())
    width = (heat.bounding_box()["width"] - gutter) / columns
    return rows, columns, lambda row, column: {"x": gutter + (column + .5) * width, "y": (row + .5) * height}


def color_at(heat, place):
    return heat.evaluate("""(canvas, {x, y}) => {
        const scale = canvas.width / canvas.clientWidth, pixel = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
        pixel.drawImage(canvas, -Math.floor(x * scale), -Math.floor((y + 4) * scale));
        return [...pixel.getImageData(0, 0, 1, 1).data.slice(0, 3)];
    }""", place)


def check_cell(page, heat, place, title, inside, neutral):
    """The cell under the pointer is the longest of these steps, compared with what is neutral."""
    page.mouse.move(0, 0)
    heat.hover(position=place)
    frame(page)
    said = page.locator("section:has(.heat) [role=status]").inner_text()
    must(said.startswith(title), "%s, not %s" % (said, title))
    if not inside:
        must(said.endswith("not recorded"), "%s: no step is there" % said)
        return
    ns = max(each[2] for each in inside)
    step, value, unit, ratio = re.search(r"step (\d+): ([0-9.,]+) (s|ms|us|ns), ([0-9.]+)× the median", said).groups()
    must(int(step) in [each[1] for each in inside if each[2] == ns], "%s is not the longest step" % said)
    have = float(value.replace(",", "")) * {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}[unit]
    must(abs(have - ns) <= 1e-3 * ns + 1 and abs(float(ratio) - ns / neutral) <= .006, "%s: not %d of %d ns" % (said, ns, neutral))


def check_heat(page):
    """Cells of ranks and steps are the longest steps of the view, coloured by the median, which is neutral; a cell leads to the timelines
    of its step, by pointer and by keys."""
    steps = [(row["rank"], row["step"], row["duration_ns"], row["pid"]) for row in expected["steps"]["rows"]
             if row["duration_ns"] is not None and row["rank"] is not None]
    ranks = sorted({step[0] for step in steps})
    heat = page.get_by_role("application", name="Step time per rank")
    must(heat.count() == (len(ranks) > 1), "%d fields of ranks and steps" % heat.count())
    if len(ranks) < 2:
        return
    heat.scroll_into_view_if_needed()
    if len(ranks) > 16:
        totals = {rank: sum(step[2] for step in steps if step[0] == rank) for rank in ranks}
        few = sorted(sorted(ranks, key=lambda each: -totals[each])[:16])
        rows, _, center = grid(heat)
        must(rows == 16, "%d rows at first" % rows)
        for row in 0, rows - 1:
            heat.hover(position=center(row, 0))
            frame(page)
            must(page.locator("section:has(.heat) [role=status]").inner_text().startswith("rank %d," % few[row]), "row %d at first" % row)
        page.get_by_role("button", name="all %d ranks" % len(ranks)).click()
        frame(page)
    rows, columns, center = grid(heat)
    must(rows == len(ranks), "%d rows of %d ranks" % (rows, len(ranks)))
    first, last = min(step[1] for step in steps), max(step[1] for step in steps)
    per_cell = (last - first) // 128 + 1
    must(columns == (last - first) // per_cell + 1, "%d columns" % columns)
    median = sorted(step[2] for step in steps)[len(steps) // 2]
    most = max(steps, key=lambda each: each[2])
    colors = {}
    for at, rank in enumerate(ranks):
        for column in {(most[1] - first) // per_cell if at % 3 else 0, at * columns // len(ranks) if rank == most[0] or not at % 4 else 0}:
            inside = [each for each in steps if each[0] == rank and (each[1] - first) // per_cell == column]
            check_cell(page, heat, center(at, column), "rank %d, step" % rank, inside, median)
            if inside:
                colors[max(each[2] for each in inside) / median] = color_at(heat, center(at, column))
    for one in colors:
        for other in colors:
            red, blue = colors[one][0] - colors[one][2], colors[other][0] - colors[other][2]
            must(not (one < .8 and other > 1.25) or red < blue, "%.2f is %s, %.2f is %s" % (one, colors[one], other, colors[other]))
    page.get_by_role("button", name="median of each step").click()
    column = (most[1] - first) // per_cell
    own = sorted(max(each[2] for each in steps if each[0] == rank and (each[1] - first) // per_cell == column)
                 for rank in {each[0] for each in steps if (each[1] - first) // per_cell == column})
    inside = [each for each in steps if each[0] == most[0] and (each[1] - first) // per_cell == column]
    check_cell(page, heat, center(ranks.index(most[0]), column), "rank %d, step" % most[0], inside, own[(len(own) - 1) // 2])
    page.get_by_role("button", name="quantiles of all ranks").click()
    frame(page)
    rows, columns, center = grid(heat)
    check_cell(page, heat, center(0, column), "longest, step", [(None, first + column * per_cell, own[-1])], own[(len(own) - 1) // 2])
    page.get_by_role("button", name="median of all").click()
    page.get_by_role("button", name="all %d ranks" % len(ranks)).click()
    frame(page)
    if page.locator("#nav a[href='#ranks']:not(.none)").count():
        heat.click(position=grid(heat)[2](ranks.index(most[0]), column))
        drawn(page, "Ranks side by side", "#ranks/%d" % most[1])
        page.go_back()
        drawn(page, "Distributed")
        heat.focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        drawn(page, "Ranks side by side")
        page.go_back()
        drawn(page, "Distributed")


def check_arrivals(page):
    """The widest collectives, and the ranks of the one that is chosen: they arrive, wait and transfer as the table has it."""
    rows = expected["arrivals"]["rows"]
    place = page.locator(".arrivals")
    must(place.count() == bool(rows), "%d pictures of ranks for %d collectives" % (place.count(), len(rows)))
    if not rows:
        return
    ask = """() => { const chart = Chart.getChart(document.querySelector('.arrivals canvas')), factors = {s: 1e9, ms: 1e6, us: 1e3, ns: 1};
        return [chart.data.labels, chart.data.datasets.map((set) => [set.label, set.data]), factors[chart.options.scales.x.title.text]]; }"""
    for at in 0, min(len(rows), 64) - 1:
        row = rows[at]
        page.get_by_label("Collective", exact=True).select_option(index=at)
        frame(page)
        labels, sets, factor = page.evaluate(ask)
        sets = {name: [(value or 0) * factor for value in values] for name, values in sets}
        must(labels == ["rank %d" % rank for rank in range(row["ranks"])], "ranks of a collective: %s" % labels)
        late, waits = sets.get("Not there yet", [0] * len(labels)), sets.get("Waiting for the last rank", [0] * len(labels))
        must(abs(max(late) - row["spread_ns"]) < 1 and labels[late.index(max(late))] == "rank %d" % row["last_rank"], "the last rank of %s" % row)
        must(late[row["first_rank"]] == 0 and abs(sum(waits) - row["waiting_ns"]) < 1, "waiting of %s: %s" % (row, waits))
        must(abs(max(sets["Transfer"]) - row["transfer_ns"]) < 1, "transfer of %s" % row)


def check_paper(page, name):
    """Charts of a page that is dark on the screen are printed in dark ink."""
    colors = """() => [...document.querySelectorAll('canvas')].map((canvas) => Chart.getChart(canvas)).filter(Boolean).flatMap(
        (chart) => [chart.legend.options.labels.color, ...Object.values(chart.scales).map((scale) => scale.options.ticks.color)])"""
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    printed = set(page.evaluate(colors))
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    shown = set(page.evaluate(colors))
    must(printed <= {"#000", "#444"}, "charts of %s are printed in %s" % (name, printed))
    must(not printed or not printed & shown, "charts of %s stay as they were printed" % name)


def check_main_numbers(page, name):
    """Beside the name of a row stands its main number, unless damage made a number of 2^63 and more in its column, which
    leaves no room for names; a table that goes on to the right fades there."""
    for key, title, has_number, is_seen, is_clipped, fades in page.evaluate("""() => [...document.querySelectorAll('main [id^=table-] .scroll')].map((scroll) => {
        const cells = scroll.querySelector('tbody tr').cells, first = scroll.querySelector('th'), second = cells[1], types = [...cells].map((cell) => /^-?[0-9,.]+$/.test(cell.textContent));
        const isHuge = [...scroll.querySelectorAll('tbody td:nth-child(2)')].some((cell) => cell.textContent.split('.')[0].replace(/[^0-9]/g, '').length >= 19);
        const edge = second ? second.getBoundingClientRect().right : 0;
        return [scroll.parentElement.id, first.textContent, first.classList.contains('text') && types.slice(1).some(Boolean) && types[1] && !isHuge, edge <= scroll.getBoundingClientRect().right,
            scroll.scrollWidth > scroll.clientWidth + 1, getComputedStyle(scroll).maskImage !== 'none'];
    })"""):
        must(not has_number or is_seen, "the main number of %s on %s is out of sight" % (key, name))
        must(is_clipped == fades, "%s on %s %s, and it %s" % (key, name, "is clipped" if is_clipped else "is whole", "fades" if fades else "does not fade"))
    order = page.evaluate("""() => ['operator', 'kernel'].map((key) => document.querySelector('#table-' + key + ' thead tr')).filter(Boolean).map(
        (head) => [...head.cells].slice(0, 3).map((cell) => cell.textContent))""")
    must(all(each[2] == "Go to" or "Go to" not in each for each in order), "links stand between names and numbers on %s: %s" % (name, order))


# Numbers in sentences that are on another line than their unit, in windows of these widths. Nothing depends on the width of
# the window itself but what is the same below 800 pixels, so the width of the document stands for it: to resize the window
# would draw all charts again.
PARTED = """(widths) => {
    const root = document.documentElement;
    const parted = (element) => {
        const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT), nodes = [];
        for (let node = walker.nextNode(), at = 0; node; at += node.length, node = walker.nextNode()) {
            nodes.push([node, at]);
        }
        const placeOf = (at) => nodes.findLast(([, begin]) => begin <= at);
        return [...element.textContent.matchAll(/\\d (%|[num]?s|[KMG]?B)(?!\\w)\\)?/g)].filter((match) => {
            const range = document.createRange(), [first, begin] = placeOf(match.index), last = match.index + match[0].length - 1, [end, before] = placeOf(last);
            range.setStart(first, match.index - begin);
            range.setEnd(end, last + 1 - before);
            return new Set([...range.getClientRects()].map((rect) => Math.round(rect.top))).size > 1;
        }).map((match) => element.textContent.slice(Math.max(0, match.index - 20), match.index + 10));
    };
    const found = widths.map((width) => {
        root.style.width = width + 'px';
        return [width, [...document.querySelectorAll('main p, main li, main dd, main strong, main h3')].flatMap(parted)];
    });
    root.style.width = '';
    return found.filter(([, texts]) => texts.length);
}"""


def check_amounts(page, name):
    """A number and its unit are on one line, wherever lines break."""
    for width, parted in page.evaluate(PARTED, list(range(360, 440, 8))):
        must(False, "numbers apart from their units on %s, %d pixels wide: %s" % (name, width, parted[:4]))


def check_narrow(browser):
    """On a telephone nothing is wider than the window, labels of a chart differ, and the timeline has more than half of it."""
    page = new_context(browser, viewport={"width": 420, "height": 900}).new_page()
    page.goto("file://" + os.path.abspath(path))
    for link in page.locator("#nav a").all():
        name = link.inner_text()
        link.click()
        drawn(page, name, link.get_attribute("href"))
        over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        must(over <= 0, "%s is %d pixels wider than a narrow window" % (name, over))
        check_main_numbers(page, name)
        check_amounts(page, name)
        if name == "Copies":
            labels = page.evaluate("""() => [...document.querySelectorAll('canvas')].map((canvas) => Chart.getChart(canvas)).map(
                (chart) => chart.scales.y.ticks.map((tick, i) => [[].concat(tick.label).join(), chart.data.labels[i]]))""")
            for each in labels:
                pairs = {(label, text) for label, text in each if len(text) <= 36}
                must(len({label for label, text in pairs}) == len(pairs), "labels that are the same: %s" % sorted(pairs))
        if name == "Timeline" and not page.locator("#nav a.none", has_text="Timeline").count():
            share = page.evaluate("""() => 1 - parseFloat(getComputedStyle(document.querySelector('.timeline')).getPropertyValue('--gutter')) /
                document.querySelector('.timeline .rows').clientWidth""")
            must(share > .5, "the timeline has %.2f of a narrow window" % share)


def look(browser, scheme):
    context = new_context(browser, viewport={"width": 1366, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    requests = []
    page.on("console", lambda message: must(message.type not in ("error", "warning"), "console: " + message.text))
    page.on("pageerror", lambda error: must(False, "script: %s" % error))
    page.on("dialog", lambda dialog: (must(False, "a dialog: " + dialog.message), dialog.dismiss()))
    page.on("request", lambda request: requests.append(request.url))
    page.goto("file://" + os.path.abspath(path))
    drawn(page)
    if scheme == "light":
        check_data(page)
        check_header(page)
        check_first(page)
    scripts = page.locator("script").count()
    links = page.locator("#nav a")
    seen = set()
    for i in range(links.count()):
        name = links.nth(i).inner_text()
        links.nth(i).focus()
        page.keyboard.press("Enter")
        drawn(page, name, links.nth(i).get_attribute("href"))
        if name == "Distributed":
            alone = sum(row["communication_ns"] or 0 for row in expected["distributed"]["rows"]) == 0 and len({row["rank"] for row in expected["processes"]["rows"]} - {None}) < 2
            empty = not any(expected[key]["rows"] for key in ("arrivals", "stragglers", "pipeline", "moe_balance", "collectives", "communication", "missing_collectives", "hang"))
            must(("none" in (links.nth(i).get_attribute("class") or "")) == (alone and empty), "the page Distributed is offered")
        check_charts(page, name)
        check_steps(page, name)
        check_heights(page, name)
        must(links.nth(i).evaluate("(link) => getComputedStyle(link).color") == links.first.evaluate(
            """(link) => { const current = link.cloneNode(); current.className = ""; current.setAttribute("aria-current", "page");
                link.after(current); const color = getComputedStyle(current).color; current.remove(); return color; }"""),
            "the link to %s, which is open, cannot be read" % name)
        if scheme == "dark":
            check_paper(page, name)
        elif name == "Memory":
            check_memory(page)
        elif name == "Advice":
            check_advice(page)
        elif name == "Overview":
            check_timeline_card(page)
            check_breakdown(page)
            check_other(page)
        elif name == "Distributed":
            check_heat(page)
            check_arrivals(page)
        elif name == "Operators":
            check_types(page)
        if pictures:
            page.screenshot(path="%s/%s-%s-%s.png" % (
                pictures, os.path.basename(path)[:-5], scheme, name.split()[0].lower()), full_page=True)
        keys = [each[6:] for each in page.evaluate(
            "[...document.querySelectorAll('main [id^=table-]')].map((each) => each.id)")]
        if scheme == "light":
            check_tables(page, keys)
        seen.update(keys)
        if name == "Steps" and scheme == "light":
            check_levels(page, "critical_path")
        if name == "Kernels" and expected["kernel"]["rows"] and scheme == "light":
            check_kernels(page)
    if scheme == "light":
        check_links(page)
        check_step(page)
    lost = [key for key, table in expected.items() if isinstance(table, dict) and key not in seen]
    must(not lost, "on no page: %s" % lost)
    must(page.locator("script").count() == scripts and page.locator("main img, main iframe, main script").count() == 0,
         "names became markup")
    must([url for url in requests if not url.startswith(("file://", "data:"))] == [], "requests: %s" % requests)
    context.close()


with opened_browser(chromium) as browser:
    for scheme in "light", "dark":
        if scheme in how:
            look(browser, scheme)
    if "narrow" in how:
        check_narrow(browser)
finish()
