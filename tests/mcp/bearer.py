"""A proxy that shows a bearer token with every request: the conformance package has no way to.

All else passes as it is, streams of events too, so that headers such as `Host` are judged by the server behind it.
"""

import asyncio
import threading


class Proxy:
    """Listens on a port of its own, `port`, in front of a port of this machine."""

    def __init__(self, behind, token):
        self.behind, self.token = behind, token
        self.loop = asyncio.new_event_loop()
        self.server = self.loop.run_until_complete(asyncio.start_server(self.pass_on, "127.0.0.1", 0))
        self.port = self.server.sockets[0].getsockname()[1]
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    async def pass_on(self, reader, writer):
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.behind)
        except OSError:
            return writer.close()
        back = asyncio.ensure_future(copy(far_reader, writer))
        try:
            while await self.request(reader, far_writer):
                pass
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            # A client that is gone is gone for the server, too.
            far_writer.close()
            await back

    async def request(self, reader, far):
        """Passes on a request; whether there was one."""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = await reader.readline()
            if not line:
                return False
            head += line
        lines = head[:-4].split(b"\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines[1:])}
        lines.append(b"Authorization: Bearer " + self.token.encode())
        far.write(b"\r\n".join(lines) + b"\r\n\r\n")
        if headers.get(b"transfer-encoding", b"").lower() == b"chunked":
            await chunks(reader, far)
        else:
            far.write(await reader.readexactly(int(headers.get(b"content-length", 0))))
        await far.drain()
        return True


async def chunks(reader, far):
    while True:
        line = await reader.readline()
        size = int(line.split(b";")[0], 16)
        far.write(line + await reader.readexactly(size + 2))
        if size == 0:
            return


async def copy(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()
