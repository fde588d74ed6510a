"""A proxy of HTTP between a program and a server, which loses answers, delays requests and cuts connections."""

import collections
import contextlib
import http.client
import http.server
import threading
import time

# What befalls a request, and how often.
FAULTS = {
    "answers lost": 0.012,  # It is carried out, and nobody says so.
    "requests cut": 0.012,  # It never arrives.
    "answers cut": 0.008,  # Half of the answer arrives.
    "requests late": 0.006,  # The connection is cut, and it is carried out seconds later.
    "requests delayed": 0.02,
    "errors 503": 0.008,
}


class Proxy(http.server.ThreadingHTTPServer):
    """Forwards requests to a port of this machine."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, port, chance):
        super().__init__(("127.0.0.1", 0), Forwarding)
        self.port, self.chance = port, chance
        self.counts, self.lock = collections.Counter(), threading.Lock()
        # Whether nothing is forwarded, as if the server had been killed; and whether requests are as in FAULTS.
        self.is_dead, self.is_lossy = False, False
        self.late = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def draw(self):
        """The fault of the next request, and a number for its size."""
        with self.lock:
            drawn, size = self.chance.random(), self.chance.random()
            self.counts["requests"] += 1
            for fault, share in FAULTS.items():
                if self.is_lossy and drawn < share:
                    self.counts[fault] += 1
                    return fault, size
                drawn -= share
            return None, size

    def forward(self, request, seconds=60):
        """Sends a request, and returns the status, the header's lines and the body of the answer."""
        method, path, headers, body = request
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in headers:
                connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            connection.close()

    def forward_late(self, request, seconds):
        def later():
            time.sleep(seconds)
            with contextlib.suppress(OSError, http.client.HTTPException):
                self.forward(request)

        thread = threading.Thread(target=later, daemon=True)
        self.late.append(thread)
        thread.start()

    def settle(self):
        """Waits for the requests that are late."""
        for thread in self.late:
            thread.join()

    def handle_error(self, *_):
        # A client that is killed leaves its connection.
        pass


class Forwarding(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def cut(self):
        self.close_connection = True

    def forward(self):
        proxy = self.server
        if proxy.is_dead:
            return self.cut()
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        if len(body) < length:
            return self.cut()
        kept = [(name, value) for name, value in self.headers.items() if name.lower() not in ("connection", "expect")]
        request = (self.command, self.path, [*kept, ("Connection", "close")], body)
        fault, size = proxy.draw()
        if fault == "requests cut":
            return self.cut()
        if fault == "requests late":
            proxy.forward_late(request, 0.2 + 6 * size)
            return self.cut()
        if fault == "requests delayed":
            time.sleep(0.1 + 3 * size)
        if fault == "errors 503":
            return self.answer(503, [], b"<Error><Code>SlowDown</Code></Error>")
        try:
            status, headers, found = proxy.forward(request)
        except (OSError, http.client.HTTPException):
            return self.cut()
        if fault == "answers lost" or proxy.is_dead:
            return self.cut()
        self.answer(status, headers, found, len(found) // 2 if fault == "answers cut" else None)

    def answer(self, status, headers, body, length=None):
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in ("connection", "content-length", "transfer-encoding"):
                self.send_header(name, value)
        # The answer to HEAD says the length of what GET answers.
        said = dict((name.lower(), value) for name, value in headers).get("content-length", len(body))
        self.send_header("Content-Length", said if self.command == "HEAD" else str(len(body)))
        self.end_headers()
        if length is not None:
            self.close_connection = True
        self.wfile.write(body[:length])

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = forward
