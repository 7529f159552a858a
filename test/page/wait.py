# SPDX-License-Identifier: Apache-2.0
"""Waits for what a page will show. Playwright's own wait_for_function evaluates text within the page,
which the page's policy forbids as soon as it has to look twice. Limits end what hangs: a page that is
slow on a busy machine is not wrong."""
import time

LIMIT_S = 600


def launch(playwright, chromium):
    return playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"], timeout=1000 * LIMIT_S)


def new_context(browser, **how):
    context = browser.new_context(**how)
    context.set_default_timeout(1000 * LIMIT_S)
    return context


def until(page, script, arg=None):
    """Asks the script until its answer is true."""
    end = time.monotonic() + LIMIT_S
    while not page.evaluate(script, arg):
        if time.monotonic() > end:
            raise TimeoutError(f"not true within {LIMIT_S} s: {script} of {arg}")
        time.sleep(0.02)


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
