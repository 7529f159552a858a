# SPDX-License-Identifier: Apache-2.0
"""devtools.py CHROMIUM TIMELINE.json: opens it in the Performance panel of Chromium's DevTools, counts the slices of
each row in the panel's model beside those of the file, and looks for each of them in its chart.

The panel's chart leaves out what its tree of a row drops: a slice that begins before the one around it ends, and ends
behind it. Times are binary fractions of microseconds there; a slice that ends a rounding error too late is missing.

The browser serves its own DevTools at its debugging port; they run in one of its pages.
"""
import collections
import json
import os
import sys
import tempfile
import time
import urllib.request

from playwright.sync_api import sync_playwright

OPEN = """async (text) => {
  const ui = await import('/devtools/ui/legacy/legacy.js');
  const timeline = await import('/devtools/panels/timeline/timeline.js');
  await ui.ViewManager.ViewManager.instance().showView('timeline');
  await timeline.TimelinePanel.TimelinePanel.instance().loadFromFile(new File([text], 'x.json'));
}"""

COUNT = """async () => {
  const timeline = await import('/devtools/panels/timeline/timeline.js');
  const panel = timeline.TimelinePanel.TimelinePanel.instance();
  if (!panel.hasActiveTrace()) {
    return null;
  }
  const model = panel.getParsedTraceForLayoutTests();
  const provider = panel.getFlameChart().getMainDataProvider();
  const chart = provider.timelineData();
  const drawn = new Set(Array.from(chart.entryLevels, (level, i) => provider.eventByIndex(i)));
  const rows = [], missing = [];
  for (const [pid, process] of model.Renderer.processes) {
    for (const [tid, thread] of process.threads) {
      rows.push([pid, tid, thread.name, thread.entries.length]);
      missing.push(...thread.entries.filter((event) => !drawn.has(event)).map((event) => [pid, tid, event.ts, event.dur, event.name]));
    }
  }
  return {rows, missing, drawn: drawn.size, tracks: chart.groups.map((group) => group.name)};
}"""


def wait_for(what, get):
    """As long as it takes: the test as a whole has its limit."""
    for _ in range(600):
        found = get()
        if found:
            return found
        time.sleep(0.5)
    sys.exit(f"no {what} after all this time")


def look(context, port, text):
    context.new_page()
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
        target = [tab["id"] for tab in json.load(answer) if tab["type"] == "page"][0]
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"http://127.0.0.1:{port}/devtools/devtools_app.html?ws=127.0.0.1:{port}/devtools/page/{target}")
    page.evaluate(OPEN, text)
    found = wait_for("timeline in DevTools", lambda: page.evaluate(COUNT))
    return found, errors


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        text = file.read()
    events = json.loads(text)["traceEvents"]
    rows = collections.Counter((event["pid"], event["tid"]) for event in events if event["ph"] == "X")
    names = {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event["name"] == "thread_name"}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            folder, executable_path=sys.argv[1],
            args=["--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--remote-allow-origins=*"])
        port_file = os.path.join(folder, "DevToolsActivePort")
        port = wait_for("port", lambda: os.path.exists(port_file) and open(port_file).readline().strip())
        found, errors = look(context, port, text)
        context.close()
    bad = list(errors)
    shown = {(pid, tid): (name, nr) for pid, tid, name, nr in found["rows"]}
    for row, nr in rows.items():
        if shown.get(row) != (names[row], nr):
            bad.append(f"row {row} {names[row]!r} has {nr} slices, DevTools have {shown.get(row)}")
    for row in rows:
        if not any(names[row] in track for track in found["tracks"]):
            bad.append(f"no track {names[row]!r}")
    bad += [f"not drawn: {each}" for each in found["missing"]]
    if found["drawn"] < sum(rows.values()):
        bad.append(f"{found['drawn']} slices are drawn")
    print(f"{sum(rows.values())} slices in {len(rows)} rows; in {len(found['tracks'])} tracks {found['drawn']} are drawn")
    for text in bad[:20]:
        print(text)
    return bool(bad)


sys.exit(main())
