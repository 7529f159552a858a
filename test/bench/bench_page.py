# SPDX-License-Identifier: Apache-2.0
"""How fast a page of `gprof-report html` is in Chromium: until it is painted, its timeline, frames while zooming.

usage: bench_page.py CHROMIUM PAGE...

The first page is zoomed; of the others only opening counts.
"""
import os
import sys

from playwright.sync_api import sync_playwright
from wait import until

chromium, path = sys.argv[1:3]
others = sys.argv[3:]
frames = 120

# A wheel event in each frame: in for the first half, then out again, at three places.
ZOOM = """(frames) => new Promise((done) => {
    const box = document.querySelector('.timeline'), canvas = box.querySelector('.rows canvas'), bounds = canvas.getBoundingClientRect();
    const draws = [], steps = [];
    let before = performance.now(), i = 0;
    const step = (now) => {
        if (i > 1) {
            draws.push(Number(box.dataset.drawMs));
            steps.push(now - before);
        }
        before = now;
        if (i++ === frames) {
            done([draws, steps]);
            return;
        }
        const x = bounds.left + 208 + (bounds.width - 208) * [.25, .5, .75][i % 3];
        canvas.dispatchEvent(new WheelEvent('wheel', {deltaY: i * 2 <= frames ? -60 : 60, clientX: x, clientY: bounds.top + 40, bubbles: true, cancelable: true}));
        requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
})"""


def spread(values):
    values = sorted(values)
    return "median %.1f, 95 %% within %.1f, most %.1f ms" % (values[len(values) // 2], values[int(len(values) * .95)], values[-1])


def opened(browser, path):
    """The page, once it is painted."""
    page = browser.new_context(viewport={"width": 1366, "height": 900}).new_page()
    page.goto("file://" + os.path.abspath(path))
    until(page, "() => performance.getEntriesByType('paint').length > 0")
    print("%-44s %8.0f ms" % ("first paint, " + os.path.basename(path), page.evaluate(
        "Math.max(...performance.getEntriesByType('paint').map((entry) => entry.startTime))")))
    return page


def draw_timeline(page):
    page.evaluate("window.begun = performance.now(); location.hash = '#timeline'")
    page.wait_for_selector(".timeline[data-draw-ms]")
    print("the timeline unpacked and drawn              %8.0f ms" % page.evaluate("performance.now() - window.begun"))


with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
    page = opened(browser, path)
    draw_timeline(page)
    print("  " + page.locator("main .note", has_text="one by one").first.inner_text().split(". The others")[0])
    draws, steps = page.evaluate(ZOOM, frames)
    print("drawing of a frame while zooming               " + spread(draws))
    print("from frame to frame (16.7 at 60 a second)      " + spread(steps))
    for other in others:
        page = opened(browser, other)
        if page.evaluate("document.getElementById('timeline').textContent.length > 0"):
            draw_timeline(page)
    browser.close()
