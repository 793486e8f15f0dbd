"""Servers with OAuth of three kinds that are found in the field, on this machine.

Each is an MCP server (streamable HTTP, answers in JSON) and an authorisation server that logs in whoever opens its page.
What a client must not do ends in an error, and is in `faults`.
"""

import base64
import hashlib
import json
import secrets
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOOLS = ["read", "write"]


class Kind:
    """What distinguishes a server."""

    def __init__(self, registers=False, secret=None, lifetime=3600, separate=False, needed=None):
        # Whether clients register themselves; else there is one, with this secret.
        self.registers, self.secret = registers, secret
        # Seconds for which an access token is said to hold; it does longer. Its refresh token holds once.
        self.lifetime = lifetime
        # Whether another origin gives the tokens.
        self.separate = separate
        # Scopes that a tool needs beside `base`.
        self.needed = needed or {}


class Server:
    def __init__(self, kind):
        self.kind, self.faults, self.said = kind, [], []
        # Access tokens with their scopes.
        self.clients, self.codes, self.tokens, self.refreshes, self.spent = {}, {}, {}, {}, set()
        self.lock = threading.Lock()
        if kind.secret:
            self.clients["known"] = kind.secret
        self.resource = serve(self, Resource)
        self.issuer = serve(self, Authority) if kind.separate else self.resource
        self.url = f"{self.resource.origin}/mcp"

    def fault(self, what):
        self.faults.append(what)
        return what

    def count(self, what):
        return sum(said == what for said in self.said)

    def grant(self, scope, client):
        """A pair of tokens."""
        access, refresh = secrets.token_urlsafe(16), secrets.token_urlsafe(16)
        self.tokens[access] = scope
        self.refreshes[refresh] = (scope, client)
        return {
            "access_token": access, "token_type": "Bearer", "expires_in": self.kind.lifetime, "refresh_token": refresh,
            "scope": scope,
        }

    def close(self):
        for one in {self.resource, self.issuer}:
            one.shutdown()
            one.server_close()


def serve(owner, handler):
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (handler,), {"owner": owner}))
    server.daemon_threads = True
    server.origin = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Authority(BaseHTTPRequestHandler):
    """Gives tokens."""

    protocol_version = "HTTP/1.1"
    owner = None

    def log_message(self, *_):
        pass

    def answer(self, status, body=None, **headers):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def refuse(self, error, what):
        self.answer(400, {"error": error, "error_description": self.owner.fault(what)})

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path == "/.well-known/oauth-authorization-server":
            return self.answer(200, self.metadata())
        if path == "/authorize":
            return self.authorize(dict(urllib.parse.parse_qsl(query)))
        self.answer(404)

    def metadata(self):
        origin, kind = self.owner.issuer.origin, self.owner.kind
        found = {
            "issuer": origin, "authorization_endpoint": f"{origin}/authorize", "token_endpoint": f"{origin}/token",
            "response_types_supported": ["code"], "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"], "authorization_response_iss_parameter_supported": True,
            "token_endpoint_auth_methods_supported": ["client_secret_basic"] if kind.secret else ["none"],
        }
        return {**found, "registration_endpoint": f"{origin}/register"} if kind.registers else found

    def authorize(self, asked):
        owner = self.owner
        if asked.get("client_id") not in owner.clients:
            return self.refuse("invalid_client", "a client that is not known wants to log in")
        if asked.get("code_challenge_method") != "S256" or not asked.get("code_challenge") or not asked.get("state"):
            return self.refuse("invalid_request", "a login without PKCE or state")
        if asked.get("resource", "").rstrip("/") not in (owner.url, owner.resource.origin):
            return self.refuse("invalid_target", f"a login to {asked.get('resource')}")
        code = secrets.token_urlsafe(16)
        with owner.lock:
            owner.said.append("page")
            owner.codes[code] = asked
        back = urllib.parse.urlencode({"code": code, "state": asked["state"], "iss": owner.issuer.origin})
        self.answer(302, Location=f"{asked['redirect_uri']}?{back}")

    def do_POST(self):
        if self.path == "/register" and self.owner.kind.registers:
            return self.register(json.loads(self.body()))
        if self.path == "/token":
            with self.owner.lock:
                return self.token(dict(urllib.parse.parse_qsl(self.body())))
        self.answer(404)

    def register(self, given):
        client = secrets.token_urlsafe(8)
        with self.owner.lock:
            self.owner.said.append("registered")
            self.owner.clients[client] = None
        self.answer(201, {**given, "client_id": client, "token_endpoint_auth_method": "none"})

    def client(self, given):
        """The client of a request, if it has shown its secret."""
        kind, shown = self.owner.kind, self.headers.get("Authorization", "")
        if kind.secret:
            expected = "Basic " + base64.b64encode(f"known:{kind.secret}".encode()).decode()
            return "known" if shown == expected else None
        return given.get("client_id")

    def token(self, given):
        owner, client = self.owner, self.client(given)
        if client not in owner.clients:
            return self.refuse("invalid_client", "a request for tokens without the secret, or of nobody")
        if given.get("grant_type") == "refresh_token":
            shown = given.get("refresh_token")
            if shown in owner.spent:
                return self.refuse("invalid_grant", "a refresh token was used twice")
            if shown not in owner.refreshes:
                return self.refuse("invalid_grant", "a refresh token that was never given")
            owner.spent.add(shown)
            scope, _ = owner.refreshes.pop(shown)
            owner.said.append("refreshed")
            return self.answer(200, owner.grant(scope, client), Cache_Control="no-store")
        asked = owner.codes.pop(given.get("code"), None)
        if asked is None or asked["client_id"] != client or asked["redirect_uri"] != given.get("redirect_uri"):
            return self.refuse("invalid_grant", "a code that was not given to this client")
        digest = base64.urlsafe_b64encode(hashlib.sha256(given.get("code_verifier", "").encode()).digest())
        if digest.decode().rstrip("=") != asked["code_challenge"]:
            return self.refuse("invalid_grant", "a wrong verifier")
        owner.said.append("logged in")
        self.answer(200, owner.grant(asked.get("scope", ""), client), Cache_Control="no-store")


class Resource(Authority):
    """The MCP server. It gives the tokens itself unless another origin does."""

    def do_GET(self):
        if self.path in ("/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"):
            owner = self.owner
            found = {"resource": owner.url, "authorization_servers": [owner.issuer.origin], "scopes_supported": ["base"]}
            return self.answer(200, found)
        if self.path == "/mcp":
            return self.answer(405)
        return self.answer(404) if self.owner.kind.separate else super().do_GET()

    def do_POST(self):
        if self.path != "/mcp":
            return self.answer(404) if self.owner.kind.separate else super().do_POST()
        asked = json.loads(self.body())
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        scope = self.owner.tokens.get(token)
        metadata = f'resource_metadata="{self.owner.resource.origin}/.well-known/oauth-protected-resource/mcp"'
        if scheme != "Bearer" or scope is None:
            return self.answer(401, WWW_Authenticate=f'Bearer {metadata}, scope="base"')
        tool = asked.get("params", {}).get("name") if asked.get("method") == "tools/call" else None
        needed = self.owner.kind.needed.get(tool)
        if needed and needed not in scope.split():
            with self.owner.lock:
                self.owner.said.append("too little")
            challenge = f'Bearer error="insufficient_scope", scope="base {needed}", {metadata}'
            return self.answer(403, WWW_Authenticate=challenge)
        if "id" not in asked:
            return self.answer(202)
        self.answer(200, {"jsonrpc": "2.0", "id": asked["id"], **self.outcome(asked, tool)})

    def outcome(self, asked, tool):
        method = asked["method"]
        if method == "initialize":
            info = {"name": "guarded", "version": "1"}
            return {"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}}
        if method == "tools/list":
            schema = {"type": "object"}
            return {"result": {"tools": [{"name": name, "description": name, "inputSchema": schema} for name in TOOLS]}}
        if method == "tools/call":
            with self.owner.lock:
                self.owner.said.append(f"called {tool}")
            return {"result": {"content": [{"type": "text", "text": f"done: {tool}"}]}}
        return {"error": {"code": -32601, "message": f"unknown method {method}"}}
