# SPDX-License-Identifier: Apache-2.0
"""Takes the pictures of docs/images from pages of `gprof-report html`.

usage: screenshots.py CHROMIUM FOLDER DEMO TORCH GPU JOB PAIR SUMMARY

DEMO is the page of `make demo`, TORCH that of a PyTorch training on CPUs with GPROF_PYTHON=modules, GPU that of a training on a GPU, such
as the trace resnet50_nw4_v100, JOB that of several ranks, such as the trace dlrm_v100_8ranks, PAIR that of two runs of TORCH, and
SUMMARY that of JOB by `reduce`:

    make demo && build/gprof-report html -o demo.html build/demo/gprof-dump
    PYTHONPATH=build/page-lib python3 test/page/screenshots.py chromium docs/images demo.html torch.html gpu.html job.html pair.html summary.html
"""
import base64
import os
import shutil
import sys

from playwright.sync_api import sync_playwright
from wait import drawn, frame, launch, new_context

chromium, folder, demo, torch, gpu, job, pair, summary = sys.argv[1:9]
TO_WEBP = """async (png) => {
    const image = new Image();
    image.src = 'data:image/png;base64,' + png;
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.width, image.height];
    canvas.getContext('2d').drawImage(image, 0, 0);
    return canvas.toDataURL('image/webp', .7).split(',')[1];
}"""


def open_page(page, path, hash):
    page.goto("about:blank")
    page.goto("file://" + os.path.abspath(path) + hash)
    drawn(page)


def save(page, blank, name, height=800):
    """WebP has a third of PNG's size. Charts are drawn again where the window has another size."""
    before = page.viewport_size
    page.set_viewport_size({"width": before["width"], "height": round(height)})
    for _ in range(4):
        frame(page)
    png = page.screenshot()
    with open("%s/%s.webp" % (folder, name), "wb") as file:
        file.write(base64.b64decode(blank.evaluate(TO_WEBP, base64.b64encode(png).decode())))
    page.set_viewport_size(before)


def show_step(page):
    """One step, with a kernel selected and the arrow from its launch."""
    open_page(page, demo, "#timeline")
    page.get_by_label("Search events by name").fill("step 12")
    page.get_by_role("button", name="Next match").click()
    page.locator(".timeline .rows").focus()
    page.keyboard.press("f")
    page.get_by_label("Search events by name").fill("matmul")
    for _ in range(3):
        page.get_by_role("button", name="Next match").click()
    page.get_by_label("Search events by name").fill("")
    page.evaluate("document.activeElement.blur()")


with sync_playwright() as playwright:
    browser = launch(playwright, shutil.which(chromium) or chromium)
    blank = browser.new_page()
    pages = {scheme: new_context(browser, viewport={"width": 1280, "height": 800}, color_scheme=scheme).new_page() for scheme in ("light", "dark")}
    light, dark = pages["light"], pages["dark"]
    open_page(light, demo, "#overview")
    box = light.locator(".charts > section").first.bounding_box()
    save(light, blank, "overview", box["y"] + box["height"] + 16)
    open_page(light, demo, "#kernels")
    save(light, blank, "kernels")
    show_step(light)
    save(light, blank, "timeline", 820)
    for page, path, hash, name in (
            (light, torch, "#steps", "steps"), (dark, torch, "#flame", "flame"), (light, torch, "#modules", "modules"), (dark, torch, "#memory", "memory"),
            (light, torch, "#operators", "operators"), (light, torch, "#data_loading", "data-loading"), (dark, torch, "#utilization", "utilization"),
            (light, gpu, "#roofline", "roofline"), (dark, gpu, "#copies", "copies"), (light, gpu, "#api", "api"), (light, demo, "#nvtx", "nvtx"),
            (light, demo, "#losses", "losses"), (light, gpu, "#about", "about"),
            (dark, job, "#timeline", "job-timeline"), (light, job, "#distributed", "distributed"), (light, job, "#idle", "idle"), (dark, job, "#advice", "advice"),
            (light, job, "#ranks", "ranks"), (light, pair, "", "diff"), (light, pair, "#flame", "diff-flame"), (dark, pair, "#timelines", "diff-timelines"),
            (light, summary, "", "summary")):
        open_page(page, path, hash)
        save(page, blank, name)
    phone = new_context(browser, viewport={"width": 420, "height": 900}, color_scheme="dark").new_page()
    open_page(phone, job, "#operators")
    save(phone, blank, "phone", 900)
    browser.close()
