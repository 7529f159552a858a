# SPDX-License-Identifier: Apache-2.0
"""Opens all pages of files of `gprof-report html` in Firefox: each shows something, and none throws, while one that throws is
seen to. That of `serve` asks for events.

usage: firefox.py FIREFOX FOLDER PAGE...    FOLDER: for the browser's profile and log; PAGE: a file, or an address
"""
import os
import sys
import tempfile

from marionette_driver import By, Wait
from marionette_driver.marionette import Marionette

firefox, folder = sys.argv[1:3]
paths = sys.argv[3:]
BROKEN = "<!DOCTYPE html><nav id=nav></nav><main>text</main><script>none.of(this)</script>"

# Errors of scripts, also those in promises, and what the page's policy forbids; warnings are none.
ERRORS = """return Services.console.getMessageArray()
    .filter((each) => each instanceof Ci.nsIScriptError && !(each.flags & each.warningFlag) && /^(file|http):/.test(each.sourceName))
    .map((each) => each.lineNumber + ": " + each.errorMessage);"""


def errors(driver):
    with driver.using_context("chrome"):
        found = driver.execute_script(ERRORS)
        driver.execute_script("Services.console.reset()")
    return found


def is_shown(driver):
    return driver.execute_script("return document.querySelector('main').innerText.trim().length > 0 && !document.body.innerText.includes('Unpacking');")


def look_closer(driver, path):
    """The page asks its server for the events that it has merged, and draws them."""
    driver.execute_script("location.hash = '#timeline';")
    Wait(driver, timeout=600).until(is_shown)
    for _ in range(4):
        driver.execute_script("document.querySelector('.timeline .rows').dispatchEvent(new KeyboardEvent('keydown', {key: 'w', bubbles: true}));")
        driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(() => arguments[0]()));")
    Wait(driver, timeout=600).until(lambda driver: driver.execute_script("""return document.querySelector('.timeline').dataset.detail === 'drawn' &&
        performance.getEntriesByType('resource').some((each) => each.name.includes('/window?'));"""), message=path + " asks for no events")


def look(driver, path):
    """What is wrong with a file, and how many pages it has."""
    wrong, is_served = [], path.startswith("http:")
    driver.navigate(path if is_served else "file://" + os.path.abspath(path))
    pages = [link.get_attribute("href") for link in driver.find_elements(By.CSS_SELECTOR, "#nav a")]
    for page in pages or [""]:
        driver.execute_script("location.hash = arguments[0];", [page])
        Wait(driver, timeout=600).until(is_shown, message="%s%s shows nothing" % (path, page))
        # Drawn: what a frame throws has come by then.
        driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(() => arguments[0]()));")
        wrong += ["%s%s: line %s" % (os.path.basename(path), page, each) for each in errors(driver)]
    if is_served:
        look_closer(driver, path)
        wrong += errors(driver)
    return wrong, len(pages)


broken = os.path.join(folder, "broken.html")
open(broken, "w").write(BROKEN)
home = tempfile.mkdtemp(dir=folder)
driver = Marionette(bin=firefox, headless=True, gecko_log=os.path.join(home, "log"), workspace=home,
                    app_args=["-remote-allow-system-access"], startup_timeout=600)
wrong, nr_pages = [], 0
try:
    driver.start_session()
    driver.timeout.script = 600
    errors(driver)
    found, _ = look(driver, broken)
    if not any("none is not defined" in each for each in found):
        wrong.append("an error was not seen: %s" % found)
    for path in paths:
        found, nr = look(driver, path)
        wrong += found
        nr_pages += nr
        if nr < 5:
            wrong.append("%s has %d pages" % (path, nr))
finally:
    driver.cleanup()
for each in wrong:
    print("wrong:", each)
print("%d pages" % nr_pages)
sys.exit(bool(wrong))
