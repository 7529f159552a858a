# SPDX-License-Identifier: Apache-2.0
"""Waits for what a page will show. Playwright's own wait_for_function evaluates text within the page,
which the page's policy forbids as soon as it has to look twice. Limits end what hangs: a page that is
slow on a busy machine is not wrong."""
import contextlib
import time

from playwright.sync_api import Error, sync_playwright

LIMIT_S = 600
shared = None  # the browser of session.py


def launch(playwright, chromium):
    return playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"], timeout=1000 * LIMIT_S)


@contextlib.contextmanager
def opened_browser(chromium):
    """The browser that several scripts share, or one for this script alone."""
    if shared:
        yield shared
        return
    with sync_playwright() as playwright:
        browser = launch(playwright, chromium)
        yield browser
        browser.close()


def new_context(browser, **how):
    context = browser.new_context(**how)
    context.set_default_timeout(1000 * LIMIT_S)
    return context


def until(page, script, arg=None):
    """Until the script's answer is true. The page asks it, again if it has become another page meanwhile."""
    asked = """async ([arg, end]) => {
        while (!await (%s)(arg)) {
            if (Date.now() > end) {
                return false;
            }
            await new Promise((done) => setTimeout(done, 5));
        }
        return true;
    }""" % script
    end = time.time() + LIMIT_S
    while True:
        try:
            if page.evaluate(asked, [arg, 1000 * end]):
                return
            raise TimeoutError(f"not true within {LIMIT_S} s: {script} of {arg}")
        except Error as error:
            if "context was destroyed" not in str(error) or time.time() > end:
                raise


def drawn(page, title="", begin=""):
    """Until the page says that all of what its address asks for is drawn, which begins so, as its title does."""
    until(page, """([title, begin]) => {
        const main = document.querySelector('main');
        return main.dataset.drawn === location.hash && location.hash.startsWith(begin) && main.querySelector('h2').textContent.startsWith(title);
    }""", [title, begin])


def frame(page):
    """Until what was asked for is drawn: a chart that has another size is, in the frame after."""
    page.evaluate("""async () => {
        for (let i = 0; i < 3; i++) {
            await new Promise((done) => requestAnimationFrame(done));
        }
    }""")
