"""A server of releases on loopback: files below a folder, and `releases/latest`, which leads to the tag of a version.

While a file has one beside it that ends with `.cut`, only the half of it is sent, and the connection is closed.
"""

import functools
import http.server
import os
import sys


class Handler(http.server.SimpleHTTPRequestHandler):
    version = ""

    def do_HEAD(self):
        if self.path == "/releases/latest":
            self.send_response(302)
            self.send_header("Location", f"/releases/tag/v{self.version}")
            self.end_headers()
        elif self.path == f"/releases/tag/v{self.version}":
            self.send_response(200)
            self.end_headers()
        else:
            super().do_HEAD()

    def do_GET(self):
        path = self.translate_path(self.path)
        if not os.path.exists(path + ".cut"):
            super().do_GET()
            return
        with open(path, "rb") as file:
            content = file.read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2])
        self.close_connection = True

    def log_message(self, *_):
        pass


folder, Handler.version = sys.argv[1:]
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
server.serve_forever()
