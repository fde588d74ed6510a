"""A headless Chromium, driven by its DevTools protocol over a WebSocket (RFC 6455), with the standard library alone."""

import base64
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import tempfile
import time


class WebSocket:
    """A client's end of a WebSocket that carries text."""

    def __init__(self, port, path):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self.buffer += self.receive()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise ConnectionError(head.decode())

    def receive(self):
        piece = self.socket.recv(1 << 16)
        if not piece:
            raise ConnectionError("the browser has closed the connection")
        return piece

    def take(self, count):
        while len(self.buffer) < count:
            self.buffer += self.receive()
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def send(self, text):
        data = text.encode()
        length = len(data)
        head = bytes([0x81])
        if length < 126:
            head += bytes([0x80 | length])
        elif length < 1 << 16:
            head += bytes([0x80 | 126]) + struct.pack(">H", length)
        else:
            head += bytes([0x80 | 127]) + struct.pack(">Q", length)
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[index & 3] for index, byte in enumerate(data))
        self.socket.sendall(head + mask + masked)

    def message(self, timeout):
        """The next text; None if there is none in time."""
        text = b""
        while True:
            self.socket.settimeout(timeout if not self.buffer and not text else 60)
            try:
                first, second = self.take(2)
            except TimeoutError:
                return None
            self.socket.settimeout(60)
            length = second & 0x7F
            if length == 126:
                length = struct.unpack(">H", self.take(2))[0]
            elif length == 127:
                length = struct.unpack(">Q", self.take(8))[0]
            data = self.take(length)
            if first & 0xF in (0, 1):
                text += data
                if first & 0x80:
                    return text.decode()
            elif first & 0xF == 8:
                raise ConnectionError("the browser has closed the connection")


class Page:
    """One page of a browser."""

    def __init__(self, port, target):
        self.socket = WebSocket(port, f"/devtools/page/{target}")
        self.number = 0
        self.problems = []
        self.dialogs = 0
        for domain in ("Page", "Runtime", "Log", "Network", "Performance"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.message(60) or "null")
            if message is None:
                raise TimeoutError(method)
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.note(message)

    def note(self, event):
        """Remembers what a console would show as an error."""
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.problems.append(" ".join(str(one.get("value", one)) for one in parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            entry = parameters["entry"]
            self.problems.append(f"{entry['text']} {entry.get('url', '')}")
        elif method == "Page.javascriptDialogOpening":
            self.dialogs += 1

    def evaluate(self, expression):
        """The value of an expression; of a promise, what it becomes."""
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description") or details["text"])
        return result["result"].get("value")

    def wait(self, expression, seconds=20, what=None):
        """Waits until an expression is true."""
        end = time.monotonic() + seconds
        while True:
            if self.evaluate(f"!!({expression})"):
                return
            if time.monotonic() > end:
                raise TimeoutError(f"{what or expression}: not within {seconds} s")
            time.sleep(0.02)

    def open(self, address):
        """Loads an address, also one that differs from this in what is after the # alone."""
        self.call("Page.navigate", url="about:blank")
        self.wait("location.href === 'about:blank'")
        self.call("Page.navigate", url=address)
        self.wait("location.href !== 'about:blank' && document.readyState !== 'loading'", what=address)

    def reload(self):
        self.evaluate("window.isBefore = true")
        self.call("Page.reload")
        self.wait("!window.isBefore", what="to load again")

    def size(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                  mobile=False)

    def scheme(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def key(self, key, text=None):
        printed = {"text": key} if text is None and len(key) == 1 else {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **printed)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1, **more)

    def click(self, x, y):
        self.mouse("mousePressed", x, y)
        self.mouse("mouseReleased", x, y)

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))


class Chromium:
    """A browser with a profile of its own, which goes with it."""

    def __init__(self):
        program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if program is None:
            raise FileNotFoundError("chromium; install it with Tools/support/setup chromium")
        self.profile = tempfile.mkdtemp(prefix="inspect-chromium.")
        self.process = subprocess.Popen(
            [program, "--headless=new", "--remote-debugging-port=0", f"--user-data-dir={self.profile}",
             "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--disable-background-networking", "--disable-component-update", "--no-default-browser-check"]
            + (["--no-sandbox"] if os.geteuid() == 0 else []) + ["about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        file = pathlib.Path(self.profile, "DevToolsActivePort")
        end = time.monotonic() + 60
        while not (file.exists() and "\n" in file.read_text()):
            if time.monotonic() > end or self.process.poll() is not None:
                raise TimeoutError("chromium does not start")
            time.sleep(0.05)
        lines = file.read_text().split("\n")
        self.port = int(lines[0])
        self.browser = WebSocket(self.port, lines[1])
        self.number = 0

    def page(self):
        """A new page without the cookies of others."""
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        return Page(self.port, target)

    def call(self, method, **parameters):
        self.number += 1
        self.browser.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.browser.message(60) or "null")
            if message is None:
                raise TimeoutError(method)
            if message.get("id") == self.number:
                return message["result"]

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)
