"""What the small ASGI servers of the bench have in common."""


async def live(receive, send):
    """Agree to start and to stop."""
    while True:
        event = await receive()
        await send({"type": event["type"] + ".complete"})
        if event["type"] == "lifespan.shutdown":
            return


async def read(receive):
    """Return the body of a request, or None when its client left."""
    pieces = []
    while True:
        event = await receive()
        if event["type"] == "http.disconnect":
            return None
        pieces.append(event.get("body", b""))
        if not event.get("more_body"):
            return b"".join(pieces)


async def respond(send, status: int, body: bytes, *, is_stream: bool = False) -> None:
    """Answer with JSON, or with an event stream of that one message."""
    if is_stream:
        body = b"event: message\r\ndata: " + body + b"\r\n\r\n"
    headers = [
        (b"content-type", b"text/event-stream" if is_stream else b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
