"""A server that a test starts on this machine, and ends."""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Server:
    """A server that runs until it is ended, in a process group of its own."""

    def __init__(self, folder, words, port, environment):
        self.url = f"http://127.0.0.1:{port}"
        self.log = open(folder / f"server-{port}.log", "wb")
        self.process = subprocess.Popen(
            words, cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=self.log,
            stderr=subprocess.STDOUT, start_new_session=True)
        deadline = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.end()
                sys.exit(f"{words} does not answer:\n{pathlib.Path(self.log.name).read_text()}")
            time.sleep(0.05)

    def send(self, number):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def end(self):
        self.send(signal.SIGCONT)
        self.send(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.send(signal.SIGKILL)
            self.process.wait()
        self.log.close()
