"""The fast downstream over standard input and output: one JSON message a line."""

import sys

import orjson

from bench.downstream import replied

if __name__ == "__main__":
    for line in sys.stdin.buffer:
        message = orjson.loads(line)
        if "id" in message and "method" in message:
            sys.stdout.buffer.write(orjson.dumps(replied(message)) + b"\n")
            sys.stdout.buffer.flush()
