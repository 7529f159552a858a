# SPDX-License-Identifier: Apache-2.0
"""Takes the pictures of docs/images from a page of `gprof-report html`.

usage: screenshots.py CHROMIUM PAGE FOLDER

    make demo && build/gprof-report html -o demo.html build/demo/gprof-dump
    PYTHONPATH=build/page-lib python3 test/page/screenshots.py chromium demo.html docs/images
"""
import os
import shutil
import sys

from playwright.sync_api import sync_playwright
from wait import drawn, frame, launch, new_context

chromium, path, folder = sys.argv[1:4]
address = "file://" + os.path.abspath(path)


def open_page(page, hash):
    page.goto("about:blank")
    page.goto(address + hash)
    drawn(page)


def save(page, name, height):
    page.screenshot(path="%s/%s.png" % (folder, name), clip={"x": 0, "y": 0, "width": 1280, "height": height}, full_page=True)


with sync_playwright() as playwright:
    browser = launch(playwright, shutil.which(chromium) or chromium)
    page = new_context(browser, viewport={"width": 1280, "height": 800}, color_scheme="light").new_page()
    open_page(page, "#overview")
    box = page.locator(".charts > section").first.bounding_box()
    save(page, "overview", box["y"] + box["height"] + 16)
    open_page(page, "#kernels")
    save(page, "kernels", 1090)
    # One step, with a kernel selected and the arrow from its launch.
    open_page(page, "#timeline")
    page.get_by_label("Search events by name").fill("step 12")
    page.get_by_role("button", name="Next match").click()
    page.locator(".timeline .rows").focus()
    page.keyboard.press("f")
    page.get_by_label("Search events by name").fill("matmul")
    for _ in range(3):
        page.get_by_role("button", name="Next match").click()
    page.get_by_label("Search events by name").fill("")
    page.evaluate("document.activeElement.blur()")
    frame(page)
    save(page, "timeline", 820)
    browser.close()
