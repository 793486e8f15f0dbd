"""Runs a conversation in a terminal and judges what the terminal has kept."""

import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

BINARY = os.environ["WINDLASS_BIN"]
TURNS, LINES = 5, 400
SIZES = [(60, 20), (120, 40), (50, 15), (90, 30), (80, 24)]
PATIENCE = 120


def script():
    """Turns of numbered lines, with a question between them."""
    turns = []
    for turn in range(TURNS):
        numbers = range(turn * LINES, (turn + 1) * LINES)
        text = "\n\n".join(f"line {number:05} of the answer" for number in numbers)
        turns.append({"blocks": [{"type": "text", "text": text}]})
    asked = {"type": "tool_use", "name": "Write", "input": {"file_path": "made.txt", "content": "one\ntwo\n"}}
    turns.insert(2, {"blocks": [asked]})
    return {"version": 1, "turns": turns}


class Place:
    """A home, a directory and a script of their own."""

    def __init__(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="terminal-"))
        for name in ["home", "work"]:
            (self.root / name).mkdir()
        (self.root / "script.json").write_text(json.dumps(script()))

    def environment(self, term):
        kept = {name: os.environ[name] for name in ["PATH", "DISPLAY"] if name in os.environ}
        return kept | {
            "HOME": str(self.root / "home"), "LANG": "C.UTF-8", "TERM": term,
            "WINDLASS_SCRIPT": str(self.root / "script.json"), "SHELL": "/bin/sh",
        }

    def remove(self):
        shutil.rmtree(self.root, ignore_errors=True)


def judge(rows, name):
    """Fails unless each line is there once, in order, without rows of the live area between them."""
    text = "\n".join(rows)
    numbers = [int(found) for found in re.findall(r"line (\d{5}) of", text)]
    wanted = list(range(TURNS * LINES))
    if numbers != wanted:
        missing = sorted(set(wanted) - set(numbers))
        extra = [number for number in wanted if numbers.count(number) > 1]
        raise SystemExit(f"{name}: {len(numbers)} of {len(wanted)} lines; missing {missing[:10]}, twice {extra[:10]}")
    last = max(at for at, row in enumerate(rows) if "of the answer" in row)
    live = [row for row in rows[:last] if re.search(r"Esc interrupts|asks before changes|Row \d+ of|q closes|wants permission", row)]
    if live:
        raise SystemExit(f"{name}: rows of the live area in the scrollback: {live[:5]}")
    print(f"{name}: {len(numbers)} lines, each once and in order; no row of the live area above")


class Sitting:
    """Keys and sizes of the conversation, the same for each terminal."""

    def play(self):
        for turn in range(TURNS):
            self.line(f"turn {turn}")
            if turn == 2:
                self.wait("wants permission")
                time.sleep(1)
                self.resize(70, 18)
                time.sleep(1)
                self.keys("y")
            last = (turn + 1) * LINES - 1
            self.wait(f"line {last:05} of")
            time.sleep(1)
            self.keys("?")
            time.sleep(0.5)
            self.keys("\x1b")
            time.sleep(0.5)
            self.resize(*SIZES[turn])
            time.sleep(1)
        self.line("/exit")

    def line(self, text):
        self.keys(text)
        time.sleep(0.6)
        self.keys("\r")


class Recorded(Sitting):
    """A pseudo-terminal whose bytes and sizes are recorded, for an engine that reads them later."""

    name = "xterm-headless"

    def __init__(self, place, engine):
        self.engine, self.parts, self.seen = engine, [], b""
        self.child, self.host = pty.fork()
        if self.child == 0:
            os.chdir(place.root / "work")
            os.execve(BINARY, [BINARY], place.environment("xterm-256color"))
        self.resize(80, 24)
        self.wait("shows the keys")

    def resize(self, columns, rows):
        self.read(0.5)
        self.parts.append({"columns": columns, "rows": rows})
        fcntl.ioctl(self.host, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def keys(self, text):
        os.write(self.host, text.encode())

    def read(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.host], [], [], left)[0]:
                continue
            try:
                data = os.read(self.host, 65536)
            except OSError:
                return
            if not data:
                return
            self.parts.append({"bytes": data.hex()})
            self.seen += data

    def wait(self, text):
        end = time.monotonic() + PATIENCE
        while text.encode() not in self.seen:
            if time.monotonic() > end:
                raise SystemExit(f"{self.name}: {text!r} never came: {self.seen[-2000:]!r}")
            self.read(0.1)
        self.read(0.5)

    def rows(self):
        self.read(2)
        os.waitpid(self.child, 0)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as record:
            json.dump(self.parts, record)
            record.flush()
            run = ["node", "tests/terminal/engine.mjs", record.name, self.engine]
            return subprocess.run(run, check=True, capture_output=True, text=True).stdout.splitlines()


class Screen(Sitting):
    """GNU screen on a pseudo-terminal."""

    name = "screen"

    def __init__(self, place, _):
        self.place, self.session = place, f"judge{os.getpid()}"
        settings = place.root / "screenrc"
        settings.write_text("defscrollback 50000\nstartup_message off\ndefutf8 on\n")
        self.child, self.host = pty.fork()
        if self.child == 0:
            os.chdir(place.root / "work")
            environment = place.environment("xterm-256color") | {"SCREENDIR": str(place.root / "sockets")}
            pathlib.Path(environment["SCREENDIR"]).mkdir(mode=0o700)
            command = ["screen", "-c", str(settings), "-S", self.session, "sh", "-c", f"{BINARY}; echo over; sleep 1000"]
            os.execvpe("screen", command, environment)
        self.resize(80, 24)
        self.wait("shows the keys")

    def resize(self, columns, rows):
        fcntl.ioctl(self.host, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def keys(self, text):
        os.write(self.host, text.encode())

    def drain(self):
        while select.select([self.host], [], [], 0.05)[0]:
            try:
                os.read(self.host, 65536)
            except OSError:
                return

    def rows(self):
        self.wait("over")
        return self.all()

    def all(self):
        copy = self.place.root / "hardcopy"
        copy.unlink(missing_ok=True)
        environment = self.place.environment("xterm") | {"SCREENDIR": str(self.place.root / "sockets")}
        subprocess.run(["screen", "-S", self.session, "-X", "hardcopy", "-h", str(copy)], env=environment, check=False)
        for _ in range(20):
            self.drain()
            if copy.exists():
                return copy.read_text(errors="replace").splitlines()
        return []

    def wait(self, text):
        end = time.monotonic() + PATIENCE
        while not any(text in row for row in self.all()):
            if time.monotonic() > end:
                raise SystemExit(f"{self.name}: {text!r} never came: {self.all()[-30:]}")
            time.sleep(0.2)

    def close(self):
        environment = self.place.environment("xterm") | {"SCREENDIR": str(self.place.root / "sockets")}
        subprocess.run(["screen", "-S", self.session, "-X", "quit"], env=environment, check=False)


class Tmux(Sitting):
    """tmux with a window of its own."""

    name = "tmux"

    def __init__(self, place, _):
        self.socket = str(place.root / "socket")
        command = f"cd {place.root}/work && {BINARY}; echo over; sleep 1000"
        subprocess.run(
            ["tmux", "-S", self.socket, "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", ";", "set", "-g",
             "history-limit", "50000", ";", "set", "-g", "status", "off", ";", "new-window", command, ";",
             "kill-window", "-t", ":0"],
            env=place.environment("xterm-256color"), check=True)
        self.wait("shows the keys")

    def run(self, *arguments):
        return subprocess.run(["tmux", "-S", self.socket, *arguments], capture_output=True, text=True).stdout

    def resize(self, columns, rows):
        self.run("resize-window", "-x", str(columns), "-y", str(rows))

    def keys(self, text):
        for part in re.split("([\r\x1b])", text):
            if part:
                name = {"\r": ["Enter"], "\x1b": ["Escape"]}.get(part, ["-l", part])
                self.run("send-keys", *name)

    def all(self):
        return self.run("capture-pane", "-p", "-J", "-S", "-").splitlines()

    def wait(self, text):
        end = time.monotonic() + PATIENCE
        while not any(text in row for row in self.all()):
            if time.monotonic() > end:
                raise SystemExit(f"{self.name}: {text!r} never came: {self.all()[-30:]}")
            time.sleep(0.2)

    def rows(self):
        self.wait("over")
        return self.all()

    def close(self):
        self.run("kill-server")


class Xterm(Sitting):
    """xterm on a virtual display. Keys come by a pseudo-terminal inside, the scrollback by its printer."""

    name = "xterm"

    def __init__(self, place, _):
        self.place, self.printed, self.inside = place, place.root / "printed", place.root / "inside"
        self.display = f":{90 + os.getpid() % 100}"
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.server = subprocess.Popen(["Xvfb", self.display, "-screen", "0", "1600x1200x8"], **quiet)
        time.sleep(2)
        relay = [sys.executable, __file__, "relay", str(self.inside), BINARY]
        environment = place.environment("xterm-256color") | {"DISPLAY": self.display, "WINDLASS_BIN": BINARY}
        self.xterm = subprocess.Popen(
            ["xterm", "-sl", "50000", "-fn", "fixed", "-geometry", "80x24", "-xrm", f"XTerm*printerCommand: cat > {self.printed}",
             "-xrm", "XTerm*allowWindowOps: true", "-e", *relay],
            env=environment, cwd=place.root / "work", **quiet)
        self.wait("shows the keys")

    def order(self, kind, value):
        with open(f"{self.inside}.orders", "a") as orders:
            orders.write(json.dumps([kind, value]) + "\n")

    def resize(self, columns, rows):
        self.order("resize", [columns, rows])

    def keys(self, text):
        self.order("keys", text)
        time.sleep(0.2)

    def wait(self, text):
        end = time.monotonic() + PATIENCE
        log = pathlib.Path(f"{self.inside}.log")
        while not (log.exists() and text.encode() in log.read_bytes()):
            if time.monotonic() > end:
                raise SystemExit(f"{self.name}: {text!r} never came")
            time.sleep(0.2)
        time.sleep(0.5)

    def rows(self):
        for _ in range(100):
            time.sleep(0.3)
            if self.printed.exists() and b"of the answer" in self.printed.read_bytes():
                time.sleep(2)
                return self.printed.read_text(errors="replace").replace("\f", "\n").splitlines()
        raise SystemExit("xterm: nothing was printed")

    def close(self):
        for process in [self.xterm, self.server]:
            process.terminate()
            process.wait()


def relay(inside, binary):
    """Runs the command between xterm and a pseudo-terminal, with keys and sizes of a file. Prints all at the end."""
    columns, rows = os.get_terminal_size()
    child, host = pty.fork()
    if child == 0:
        os.execv(binary, [binary])
    import tty
    tty.setraw(0)
    done = 0
    size = struct.pack("HHHH", rows, columns, 0, 0)
    fcntl.ioctl(host, termios.TIOCSWINSZ, size)

    def resized(*_):
        columns, rows = os.get_terminal_size()
        fcntl.ioctl(host, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    signal.signal(signal.SIGWINCH, resized)
    with open(f"{inside}.log", "ab", buffering=0) as log:
        while True:
            ready = select.select([host, 0], [], [], 0.1)[0]
            if host in ready:
                try:
                    data = os.read(host, 65536)
                except OSError:
                    break
                if not data:
                    break
                log.write(data)
                os.write(1, data)
            if 0 in ready:
                os.write(host, os.read(0, 4096))
            try:
                orders = pathlib.Path(f"{inside}.orders").read_text().splitlines()
            except OSError:
                continue
            for order in orders[done:]:
                kind, value = json.loads(order)
                if kind == "keys":
                    os.write(host, value.encode())
                else:
                    os.write(1, f"\x1b[8;{value[1]};{value[0]}t".encode())
            done = len(orders)
    # All lines go to the printer.
    os.write(1, b"\r\n\x1b[?11i")
    time.sleep(60)


def main():
    if sys.argv[1] == "relay":
        return relay(*sys.argv[2:])
    judges = {"xterm-headless": Recorded, "screen": Screen, "tmux": Tmux, "xterm": Xterm}
    kind = judges[sys.argv[1]]
    place = Place()
    sitting = None
    try:
        sitting = kind(place, sys.argv[2])
        sitting.play()
        judge(sitting.rows(), sitting.name)
    finally:
        if hasattr(sitting, "close"):
            sitting.close()
        place.remove()
    return None


main()
