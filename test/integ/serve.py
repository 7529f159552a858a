# SPDX-License-Identifier: Apache-2.0
"""What `serve` answers, and what it refuses.

usage: serve.py REPORT FOLDER STREAM    FOLDER: for files of its own
"""
import atexit
import http.client
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys

sys.path.insert(0, "test/page")
from must import finish, must  # noqa: E402

report, folder, stream = sys.argv[1:4]
HEADERS = {"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Cross-Origin-Resource-Policy": "same-origin",
           "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"}
FORBIDDEN = "Open the whole address that gprof-report serve printed.\n"


class Server:
    def __init__(self, *options):
        self.process = subprocess.Popen([report, "serve", *options, stream], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        atexit.register(self.process.kill)
        self.line = self.process.stdout.readline()
        found = re.fullmatch(r"serving 1 process of (.*): http://127\.0\.0\.1:(\d+)/([0-9a-f]{64})/ \(Ctrl-C ends\)\n", self.line)
        must(found and found.group(1) == stream, "the line is %r" % self.line)
        self.port, self.token = int(found.group(2)), found.group(3)

    def get(self, path, method="GET", headers=None, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers if headers is not None else [("Host", "127.0.0.1:%d" % self.port)]:
            connection.putheader(name, value)
        if body:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        answer.text = answer.read().decode()
        connection.close()
        return answer

    def own(self, path, **how):
        return self.get("/%s/%s" % (self.token, path), **how)

    def connect(self, request):
        """A connection that has sent that much."""
        peer = socket.create_connection(("127.0.0.1", self.port))
        try:
            peer.sendall(request)
        except OSError:
            pass  # refused meanwhile
        return peer

    def status_of(self, request):
        """The status that the bytes get; None where the server closes the connection without one."""
        with self.connect(request) as peer:
            try:
                peer.shutdown(socket.SHUT_WR)
                found = re.match(rb"HTTP/1\.[01] (\d+) ", peer.recv(64))
            except OSError:
                return None
            return int(found.group(1)) if found else None

    def is_well(self, after):
        answer = self.own("")
        must(answer.status == 200 and answer.text == self.page, "no page after " + after)

    def end(self, number):
        self.process.send_signal(number)
        must(self.process.wait() == 0, "status %s after signal %d" % (self.process.returncode, number))
        must(self.process.stdout.read() == "", "more than a line is printed")


def plain(page):
    """Without what differs by file and run."""
    page = re.sub(r'nonce(-|=")[0-9a-f]{32}', r"nonce\1", page)
    return re.sub(r'"written": "[^"]*"', "", page).replace("connect-src 'self'; ", "").replace(', "window_events": 250000', "")


def check_page(server):
    answer = server.own("")
    server.page = answer.text
    path = folder + "/page.html"
    subprocess.run([report, "html", "--timeline-size", "20k", "-o", path, stream], stderr=subprocess.DEVNULL)
    must(answer.status == 200 and plain(answer.text) == plain(open(path).read()), "the page is not that of html")
    must("connect-src" not in open(path).read(), "a file may ask a server")
    policy = answer.getheader("Content-Security-Policy")
    must(policy == re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', answer.text).group(1) + "; frame-ancestors 'none'", "policy %s" % policy)
    must(answer.getheader("Content-Type") == "text/html; charset=utf-8", "type of the page")
    must(server.own("", headers=[("Host", "localhost:%d" % server.port)]).status == 200, "localhost is not answered")


def check_headers(server):
    for answer in (server.own(""), server.own("window?process=1&from=0&to=1000"), server.own("x"), server.get("/"), server.own("window"),
                   server.own("", method="POST", body=b"x"), server.own("", headers=[("Host", "x")])):
        for name, value in HEADERS.items():
            must(answer.getheader(name) == value, "%s of status %d is %s" % (name, answer.status, answer.getheader(name)))
        must("default-src 'none'" in answer.getheader("Content-Security-Policy"), "policy of status %d" % answer.status)
        must(not [name for name, _ in answer.getheaders() if name.lower().startswith("access-control")], "other sites may read")


def check_window(server, begin, end):
    """Every event of the time, as `timeline` has it."""
    answer = server.own("window?process=1&from=%d&to=%d" % (begin, end))
    must(answer.status == 200, "status %d of a window" % answer.status)
    page, trace = folder + "/window.html", folder + "/window.json"
    open(page, "w").write('<script type="text/plain" id="timeline">%s</script>' % answer.text)
    subprocess.run([report, "timeline", "--time", "%dns-%dns" % (begin, end), "--tracks", "api,ops,nvtx,python,gpu,steps,marks", "-o", trace, stream], stderr=subprocess.DEVNULL)
    done = subprocess.run([sys.executable, "test/page/timeline_data.py", page, trace, "99999999", "no"], stdout=subprocess.PIPE, text=True)
    must(done.returncode == 0, "%d to %d: %s" % (begin, end, done.stdout))
    return int(done.stdout.split()[0])


def check_windows(server):
    last = max(each["ts"] + each.get("dur", 0) for each in events) - first
    chance = random.Random(1)
    nr = sum(check_window(server, begin, begin + 1 + chance.randrange(int(last * 100))) for begin in [0] + [chance.randrange(int(last * 1000)) for _ in range(6)])
    must(nr > 1000, "%d events in all windows" % nr)
    empty = server.own("window?process=1&from=%d&to=%d" % (last * 1000 + 10 ** 9, last * 1000 + 2 * 10 ** 9))
    must(empty.status == 200, "a window without events: %d" % empty.status)
    for query in ("", "process=1&from=0", "process=0&from=0&to=1", "process=2&from=0&to=1", "process=1&from=5&to=5", "process=1&from=-1&to=5", "process=1&from=0&to=1e9", "process=1&from=0&to=",
                  "process=1&from=0&to=99999999999999999999", "process=%31&from=0&to=1", "process=1&from=0x0&to=1", "process=1&from=0&to=1%00", "process&from&to"):
        answer = server.own("window?" + query)
        must(answer.status == 400 and "process=N" in answer.text, "%s: %d" % (query, answer.status))


def check_refusals(server):
    wrong = server.token[:-1] + ("0" if server.token[-1] != "0" else "1")
    for path in ("/", "/x", "/window", "/" + wrong + "/", "/" + server.token[:-1] + "/", "/" + "0" * 64 + "/", "/?" + server.token, "/..", "//" + server.token + "/", "/%2e%2e/etc/passwd", "/" + server.token.upper().replace("0", "A") + "/"):
        answer = server.get(path)
        must(answer.status == 403 and answer.text == FORBIDDEN, "%s: %d" % (path, answer.status))
    for path in ("x", "..", "../", "../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "/etc/passwd", "window/", "Window", "window%00", "%77indow", ".", "page.html", "a" * 5000):
        answer = server.own(path)
        must(answer.status == 404 and answer.text == "There is no such page.\n", "%s: %d" % (path[:40], answer.status))
    must(server.get("/" + server.token).status == 404, "the token without a slash")
    for method in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "CONNECT", "get", "X" * 500):
        answer = server.own("", method=method)
        must(answer.status == 405 and answer.getheader("Allow") == "GET", "%s: %d" % (method[:20], answer.status))
    must(server.status_of(b"POST /%s/ HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 1000000\r\n\r\n" % (server.token.encode(), server.port) + b"x" * 1000000) in (405, None), "a large body")
    must(server.status_of(b"GET /%s/ HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 1\r\n\r\nx" % (server.token.encode(), server.port)) is None, "a GET with a body")
    own = "127.0.0.1:%d" % server.port
    for hosts in ([], ["127.0.0.1"], ["localhost"], ["127.0.0.1:1"], ["evil.example:%d" % server.port], ["[::1]:%d" % server.port], [own + ".evil.example"], ["0.0.0.0:%d" % server.port],
                  [own, "evil.example"], [own, own], ["LOCALHOST:%d" % server.port], ["user@" + own]):
        answer = server.own("", headers=[("Host", host) for host in hosts])
        must(answer.status in (400, 403) and "<html" not in answer.text, "host %s: %d" % (hosts, answer.status))
    server.is_well("refusals")


def check_hostile(server):
    target, host = b"/" + server.token.encode(), b"Host: 127.0.0.1:%d\r\n" % server.port
    for request in (b"GET /" + b"a" * 200000 + b" HTTP/1.1\r\n" + host + b"\r\n", b"GET " + target + b"/ HTTP/1.1\r\n" + host + b"X: " + b"y" * 200000 + b"\r\n\r\n",
                    b"GET " + target + b"/ HTTP/1.1\r\n" + host + b"".join(b"X%d: y\r\n" % i for i in range(5000)) + b"\r\n", b"\0" * 5000, b"\r\n" * 5000, b"\xff" * 20000, b"GET\r\n\r\n",
                    b" " * 100000):
        must(server.status_of(request) != 200, "%r is answered" % request[:60])
        server.is_well(repr(request[:60]))
    chance = random.Random(2)
    good = b"GET " + target + b"/window?process=1&from=0&to=1000 HTTP/1.1\r\n" + host + b"Connection: close\r\n\r\n"
    for _ in range(300):
        bytes = bytearray(good)
        for _ in range(chance.randrange(1, 6)):
            at = chance.randrange(len(bytes))
            bytes[at:at + chance.randrange(3)] = chance.randbytes(chance.randrange(3))
        if bytes.endswith(b"\r\n\r\n"):
            server.status_of(bytes)
        else:
            server.connect(bytes).close()
    server.is_well("changed requests")
    # 200 that say no more, while others are answered; more than it takes at once; and those that leave before the answer.
    waiting = [server.connect(good[:chance.randrange(len(good))]) for _ in range(200)]
    server.is_well("200 half requests")
    waiting += [server.connect(b"GET") for _ in range(200)]
    for peer in waiting:
        peer.close()
    for _ in range(100):
        server.connect(good).close()
    server.is_well("400 connections")
    must(len(os.listdir("/proc/%d/fd" % server.process.pid)) < 300, "descriptors stay open")


subprocess.run([report, "timeline", "-o", folder + "/all.json", stream], stderr=subprocess.DEVNULL)
events = [each for each in json.load(open(folder + "/all.json"))["traceEvents"] if each["ph"] == "X"]
first = min(each["ts"] for each in events)
server = Server("--timeline-size", "20k")
other = Server()
must(other.token != server.token and other.port != server.port, "two servers have the same address")
other.end(signal.SIGTERM)
check_page(server)
check_headers(server)
check_windows(server)
check_refusals(server)
check_hostile(server)
# Nobody but this machine.
for line in open("/proc/net/tcp"):
    if line.split()[1].endswith(":%04X" % server.port):
        must(line.split()[1].startswith("0100007F") or line.split()[3] != "0A", "it listens on " + line.split()[1])
taken = subprocess.run([report, "serve", "--port", str(server.port), stream], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
must(taken.returncode == 1 and "cannot listen on 127.0.0.1:%d: Address already in use" % server.port in taken.stderr, "a port that is taken: " + taken.stderr)
port = server.port
server.end(signal.SIGINT)
again = Server("--port", str(port))
must(again.port == port, "another port than was asked for")
again.end(signal.SIGTERM)
finish()
