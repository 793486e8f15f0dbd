"""Logins of a session to a server, as the scenarios of authorisation need them, with a user who agrees to everything."""

import time
import urllib.error
import urllib.request

# A server that refuses every token must not be logged in to for ever.
MOST = 3


def oauth(scenario, context):
    """What is configured of the login to the server of a scenario."""
    if scenario == "auth/basic-cimd":
        return {"clientMetadataUrl": "https://conformance-test.local/client-metadata.json"}
    found = {"clientId": context.get("client_id"), "clientSecret": context.get("client_secret")}
    if "client-credentials" in scenario:
        found |= {"grant": "client_credentials", "privateKey": context.get("private_key_pem")}
    elif scenario == "auth/wif-jwt-bearer":
        found |= {"grant": "jwt_bearer", "assertion": context["valid_jwt"]}
    elif "idp_token_endpoint" in context:
        provider = {
            "tokenEndpoint": context["idp_token_endpoint"], "clientId": context["idp_client_id"],
            "idToken": context["idp_id_token"],
        }
        found |= {"grant": "identity_provider", "identityProvider": provider}
    return {name: value for name, value in found.items() if value is not None}


class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def returned(page):
    """The address to which the page sends the browser of a user who agrees."""
    try:
        urllib.request.build_opener(Stay).open(page, timeout=60)
    except urllib.error.HTTPError as answer:
        return answer.headers["Location"]
    raise SystemExit("the page does not send the browser back")


def settled(talk, server):
    """The state of the server, once it has answered."""
    while True:
        (state,) = (one["status"] for one in talk.servers() if one["name"] == server)
        if state != "pending":
            return state
        time.sleep(0.1)


def log_in(talk, server):
    """Logs in, and returns whether that succeeded."""
    answer = talk.control("mcp_authenticate", serverName=server)
    if answer["subtype"] == "success" and answer["response"]["requiresUserAction"]:
        address = returned(answer["response"]["authUrl"])
        answer = talk.control("mcp_oauth_callback_url", serverName=server, callbackUrl=address)
    if answer["subtype"] != "success":
        print(f"no login: {answer['error']}")
    return answer["subtype"] == "success"


def behind_logins(talk, server, act):
    """Does something behind the logins that the server asks for, before it and because of it."""
    for _ in range(MOST):
        if settled(talk, server) == "needs-auth" and not log_in(talk, server):
            # The server may have moved to another authorisation server meanwhile.
            continue
        act()
        if settled(talk, server) != "needs-auth":
            return
