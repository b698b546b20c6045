"""Every kind of caller before every kind of server, with and without the gateway in between."""
