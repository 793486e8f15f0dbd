"""A registry on loopback that takes crates as crates.io does.

Usage: server.py FOLDER. Prints its address, and writes each crate that is published, in order, to FOLDER/published.
"""

import hashlib
import http.server
import json
import pathlib
import struct
import sys


def index_row(crate, checksum):
    """The row of the index for what `cargo publish` has sent."""
    rows = []
    for dep in crate["deps"]:
        renamed = dep.get("explicit_name_in_toml")
        row = {
            "name": renamed or dep["name"],
            "req": dep["version_req"],
            "features": dep["features"],
            "optional": dep["optional"],
            "default_features": dep["default_features"],
            "target": dep["target"],
            "kind": dep["kind"],
            "registry": dep.get("registry"),
        }
        if renamed:
            row["package"] = dep["name"]
        rows.append(row)
    return {
        "name": crate["name"],
        "vers": crate["vers"],
        "deps": rows,
        "cksum": checksum,
        "features": {},
        "features2": crate["features"],
        "v": 2,
        "yanked": False,
        "rust_version": crate.get("rust_version"),
    }


class Registry(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    folder = pathlib.Path()
    rows = {}
    archives = {}

    def answer(self, status, body=b""):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        address = f"http://{self.headers['Host']}"
        parts = self.path.strip("/").split("/")
        if self.path == "/index/config.json":
            config = {"dl": f"{address}/dl/{{crate}}/{{version}}", "api": address}
            self.answer(200, json.dumps(config).encode())
        elif parts[0] == "index":
            name = parts[-1]
            if name in self.rows:
                self.answer(200, "\n".join(map(json.dumps, self.rows[name])).encode())
            else:
                self.answer(404)
        elif parts[0] == "dl" and len(parts) == 3:
            _, name, version = parts
            found = self.archives.get((name, version))
            self.answer(200 if found else 404, found or b"")
        else:
            self.answer(404)

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        size = struct.unpack("<I", body[:4])[0]
        crate, rest = json.loads(body[4 : 4 + size]), body[4 + size :]
        archive = rest[4 : 4 + struct.unpack("<I", rest[:4])[0]]
        missing = sorted(
            dep["name"]
            for dep in crate["deps"]
            if dep["kind"] != "dev" and dep["name"].startswith("windlass") and dep["name"] not in self.rows
        )
        if missing:
            detail = f"{crate['name']} comes before {', '.join(missing)}"
            self.answer(400, json.dumps({"errors": [{"detail": detail}]}).encode())
            return
        row = index_row(crate, hashlib.sha256(archive).hexdigest())
        self.rows.setdefault(crate["name"], []).append(row)
        self.archives[crate["name"], crate["vers"]] = archive
        with (self.folder / "published").open("a") as file:
            file.write(f"{crate['name']} {crate['vers']} {len(archive)}\n")
        self.answer(200, json.dumps({"warnings": {"invalid_categories": [], "invalid_badges": [], "other": []}}).encode())

    def log_message(self, *_):
        pass


def main():
    Registry.folder = pathlib.Path(sys.argv[1])
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


main()
