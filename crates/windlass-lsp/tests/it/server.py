"""A small language server over standard streams. It knows lines such as `def name`, and says an error of each `bad`.

It writes a line to the file in MARKS for each thing that a test looks at. MODE changes what it does:
push (says diagnostics by itself), crash (ends at the first question), silent (never answers questions),
mute (never answers the greeting), garbage (sends what is no message), huge (announces a message of 1 GB),
child (starts a program that outlives it).
"""
import json, os, re, subprocess, sys

mode, marks = os.environ.get("MODE", ""), os.environ["MARKS"]
files = {}


def mark(text):
    with open(marks, "a") as out:
        out.write(text + "\n")


def send(message):
    body = json.dumps(dict(message, jsonrpc="2.0")).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()


def receive():
    length = None
    while True:
        line = sys.stdin.buffer.readline()
        if not line:
            sys.exit(0)
        if line == b"\r\n":
            return json.loads(sys.stdin.buffer.read(length))
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])


def span(line, start, end):
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}


def found(pattern, uri=None):
    for known, (_, text) in files.items():
        if uri in (None, known):
            for at, line in enumerate(text.split("\n")):
                for hit in re.finditer(pattern, line):
                    yield known, at, hit


def errors(uri):
    return [
        {"range": span(at, hit.start(), hit.end()), "severity": 1, "source": "toy", "message": "bad: " + hit.group(1)}
        for _, at, hit in found(r"bad (\w+)", uri)
    ]


def word(params):
    position, (_, text) = params["position"], files[params["textDocument"]["uri"]]
    line = text.split("\n")[position["line"]]
    for hit in re.finditer(r"\w+", line):
        if hit.start() <= position["character"] < hit.end():
            return hit.group()
    return "?"


def publish(uri):
    if mode == "push":
        send({"method": "textDocument/publishDiagnostics",
              "params": {"uri": uri, "version": files[uri][0], "diagnostics": errors(uri)}})


def answer(method, params):
    if method == "initialize":
        mark("start " + params["rootUri"])
        offered = {"definitionProvider": True, "referencesProvider": {}, "hoverProvider": True,
                   "documentSymbolProvider": True, "workspaceSymbolProvider": True, "callHierarchyProvider": True}
        return {"capabilities": dict(offered, diagnosticProvider={}) if mode != "push" else offered}
    if method == "textDocument/diagnostic":
        return {"kind": "full", "items": errors(params["textDocument"]["uri"])}
    if method == "textDocument/hover":
        return {"contents": {"kind": "markdown", "value": "the word " + word(params)}}
    if method == "textDocument/documentSymbol":
        return [{"name": hit.group(1), "kind": 12, "range": span(at, 0, 9), "selectionRange": span(at, hit.start(1), hit.end(1))}
                for _, at, hit in found(r"def (\w+)", params["textDocument"]["uri"])]
    if method == "workspace/symbol":
        return [{"name": hit.group(1), "kind": 12, "location": {"uri": uri, "range": span(at, hit.start(1), hit.end(1))}}
                for uri, at, hit in found(r"def (\w*%s\w*)" % re.escape(params["query"]))]
    if method in ("textDocument/definition", "textDocument/references", "textDocument/prepareCallHierarchy"):
        name = re.escape(word(params))
        pattern = r"\b(%s)\b" % name if method.endswith("references") else r"def (%s)\b" % name
        places = [(uri, span(at, hit.start(1), hit.end(1))) for uri, at, hit in found(pattern)]
        if method.endswith("Hierarchy"):
            return [{"name": word(params), "kind": 12, "uri": uri, "range": at, "selectionRange": at} for uri, at in places]
        return [{"uri": uri, "range": at} for uri, at in places]
    if method.startswith("callHierarchy/"):
        return [{"from" if "incoming" in method else "to": params["item"], "fromRanges": []}]
    return None


if mode == "child":
    child = subprocess.Popen(["sleep", "1000"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    mark("child %d" % child.pid)
while True:
    message = receive()
    method, params = message.get("method"), message.get("params") or {}
    if method in ("textDocument/didOpen", "textDocument/didChange"):
        document = params["textDocument"]
        text = document["text"] if "text" in document else params["contentChanges"][0]["text"]
        files[document["uri"]] = (document["version"], text)
        mark(method[len("textDocument/"):])
        publish(document["uri"])
    elif method == "textDocument/didClose":
        files.pop(params["textDocument"]["uri"], None)
        mark("didClose")
    elif "id" in message and method:
        question = method != "initialize"
        if mode == "mute" or (mode == "silent" and question):
            continue
        if mode == "crash" and question:
            sys.stderr.write("the toy has broken\n")
            sys.exit(3)
        if mode in ("garbage", "huge") and question:
            sys.stdout.buffer.write(b"Content-Length: 1000000000\r\n\r\n" if mode == "huge" else b"Content-Length: 5\r\n\r\nhello")
            sys.stdout.buffer.flush()
            continue
        send({"id": message["id"], "result": answer(method, params)})
