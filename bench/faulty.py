"""A stdio tool server that does as it is told: answer, die, talk garbage, stay silent, or shout."""

import json
import os
import sys

TOOL = {
    "name": "echo",
    "inputSchema": {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "do": {"type": "string"}},
        "required": ["n", "do"],
    },
}


def say(message: dict) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def call(request_id: object, arguments: dict) -> None:
    match arguments["do"]:
        case "kill":
            os._exit(3)
        case "garbage":
            sys.stdout.write('{"jsonrpc": "2.0", "id": nonsense\n')
            sys.stdout.flush()
        case "silence":
            return
        case "huge":
            sys.stdout.write(f'{{"jsonrpc":"2.0","id":{request_id},"result":{{"content":[],"x":"')
            for _ in range(50):
                sys.stdout.write("x" * (1 << 20))
            sys.stdout.write('"}}\n')
            sys.stdout.flush()
        case _:
            text = {"type": "text", "text": str(arguments["n"])}
            say({"id": request_id, "result": {"content": [text]}})


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        method, request_id = message.get("method"), message.get("id")
        if method == "initialize":
            info = {"name": "faulty", "version": "1"}
            version = message["params"]["protocolVersion"]
            result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
            say({"id": request_id, "result": result})
        elif method == "tools/list":
            say({"id": request_id, "result": {"tools": [TOOL]}})
        elif method == "tools/call":
            call(request_id, message["params"]["arguments"])
        elif request_id is not None:
            say({"id": request_id, "error": {"code": -32601, "message": "method not found"}})


if __name__ == "__main__":
    main()
