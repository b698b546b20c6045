"""Cases of the protocol: names, schemas, arguments, results, messages and transports."""

from collections.abc import Mapping
from typing import Final

from tests.cases.case import Case

CASES: Final[Mapping[str, Case]] = {
    "NAM-01": Case(
        sentence=(
            "tools of the same name on two servers are both listed, and each call reaches its own"
        ),
        source="langchain-ai/langchain-mcp-adapters#605",
    ),
    "NAM-02": Case(
        sentence="an exposed name keeps within the longest length and still stands for one tool",
        source="anthropics/claude-code#2412",
    ),
    "NAM-03": Case(
        sentence="names are looked up in a stored map, so a separator inside a name means nothing",
        source="metatool-ai/metamcp#184",
    ),
    "NAM-04": Case(
        sentence=(
            "exposed names hold letters, digits, `_` and `-`; servers are called by the original "
            "name"
        ),
        source="microsoft/wassette#56",
    ),
    "NAM-05": Case(
        sentence="resources and prompts of the same name keep their owner",
        source="giantswarm/muster#1096",
    ),
    "SCH-01": Case(
        sentence=(
            "a definition that can't be enforced is kept back alone, and named with its pointer"
        ),
        source="Kuadrant/mcp-gateway#662",
    ),
    "SCH-02": Case(
        sentence="a root schema without a type is published and enforced alike",
        source="stacklok/toolhive#5770",
    ),
    "SCH-03": Case(
        sentence="references stay whole and are followed",
        source="QwenLM/Qwen-Agent#873",
    ),
    "SCH-04": Case(
        sentence="every field of a definition arrives; what the gateway overrides is marked",
        source="mcp-hangar/mcp-hangar#880",
    ),
    "SCH-05": Case(
        sentence="arguments are judged by the dialect that the schema declares",
        source="IBM/mcp-context-forge#2342",
    ),
    "SCH-06": Case(
        sentence="a schema is published as it came",
        source="home-assistant/core#178032",
    ),
    "SCH-07": Case(
        sentence="absent, null and the word null stay three things",
        source="home-assistant/core#144300",
    ),
    "SCH-08": Case(
        sentence="a pattern that can't be enforced is found when the tool is listed",
        source="langchain-ai/langchainjs#11351",
    ),
    "SCH-09": Case(
        sentence="an empty or boolean schema means what it says",
        source="home-assistant/core#175628",
    ),
    "SCH-10": Case(
        sentence="no schema and no argument can burn more than a budget of time",
        source="modelcontextprotocol/php-sdk#358",
    ),
    "ARG-01": Case(
        sentence="an object written as a string is refused with what was expected where",
        source="PrefectHQ/fastmcp#932",
        note="there is no mode that repairs arguments",
    ),
    "ARG-02": Case(
        sentence="digits are the same on both ways, in events and in digests",
        source="anthropics/claude-code#78762",
    ),
    "ARG-03": Case(
        sentence="a null where nothing may be null is refused, and neither sent nor removed",
        source="danny-avila/LibreChat#11905",
    ),
    "ARG-04": Case(
        sentence="arguments are judged and never coerced; what is sent is what was judged",
        source="can1357/oh-my-pi#9653",
    ),
    "OUT-01": Case(
        sentence="a text that is too large is cut and says so; structured data is refused instead",
        source="oraios/serena#516",
    ),
    "OUT-02": Case(
        sentence="structured data without text is a full result, with a text for older clients",
        source="IBM/mcp-context-forge#5472",
    ),
    "OUT-03": Case(
        sentence="a result that breaks its schema says whether the call was carried out",
        source="opentokenz/mcpx#28",
    ),
    "OUT-04": Case(
        sentence=(
            "a failure of a server is a tool result with words, a code and whether anything "
            "happened"
        ),
        source="IBM/mcp-context-forge#6275",
        note=(
            "an unknown tool is a refusal and so a tool result with status `unknown_tool`, not "
            "the JSON-RPC error -32602; a malformed request stays a JSON-RPC error"
        ),
    ),
    "OUT-05": Case(
        sentence="structured data of any JSON type reaches each era in the form that it takes",
        source="naw103/foremerge#28",
    ),
    "OUT-06": Case(
        sentence="blocks of every kind arrive as they were sent",
        source="smart-mcp-proxy/mcpproxy-go#368",
        note=(
            "a `resource_link` passes unchanged and can be read; where no list and no template "
            "knows its URI and several servers have resources, as `weighbridge://server/…` only"
        ),
    ),
    "OUT-07": Case(
        sentence="NaN in a frame fails that call alone and is never turned into something else",
        source="modelcontextprotocol/python-sdk#3385",
    ),
    "OUT-08": Case(
        sentence="an answer that is no tool result is never shown as a success",
        source="GopherSecurity/gopher-mcp#202",
    ),
    "RPC-01": Case(
        sentence="a reply carries the id of its request, type included",
        source="modelcontextprotocol/python-sdk#961",
    ),
    "RPC-02": Case(
        sentence="two clients with one id get their own answers",
        source="domdomegg/computer-use-mcp#64",
    ),
    "RPC-03": Case(
        sentence="a cancelled call gets at most one reply and reaches the server as cancelled",
        source="modelcontextprotocol/python-sdk#2416",
        note=(
            "over HTTP in the handshake era the stream of a cancelled request ends with the "
            "error -32800, as a stream of that era has to end with a message; a write that was "
            "sent is not taken back at its server: it runs to its end, which its event tells"
        ),
    ),
    "RPC-04": Case(
        sentence="a late answer is dropped and harms nothing",
        source="langgenius/dify#41482",
    ),
    "RPC-05": Case(
        sentence="what a server asks in the middle of a call is answered at once",
        source="docker/mcp-gateway#79",
    ),
    "RPC-06": Case(
        sentence=(
            "an unknown protocol version is negotiated or refused so that the client can fall back"
        ),
        source="MapleTechLabs/maple#514",
    ),
    "RPC-07": Case(
        sentence="progress reaches the caller that asked for it, under its own token",
        source="twentyhq/twenty#24559",
    ),
    "RPC-08": Case(
        sentence="the handshake is kept in order on both sides",
        source="sparfenyuk/mcp-proxy#40",
    ),
    "RPC-09": Case(
        sentence="an id of null is refused and not taken for a notification",
        source="googleapis/mcp-toolbox#3464",
    ),
    "RPC-10": Case(
        sentence="unknown methods and notifications end nothing",
        source="MarkusPfundstein/mcp-gsuite#21",
    ),
    "RPC-11": Case(
        sentence="a broken frame costs that message alone",
        source="webstudio-is/webstudio#6066",
    ),
    "STD-01": Case(
        sentence="a child that dies ends its calls at once, with the reason, and comes back",
        source="MoonshotAI/kimi-code#2109",
    ),
    "STD-02": Case(
        sentence="no process is left behind, however a client, server or gateway ends",
        source="avelino/mcp#51",
    ),
    "STD-03": Case(
        sentence="a server may write to stderr as much as it likes",
        source="mark3labs/mcp-go#956",
    ),
    "STD-04": Case(
        sentence="many calls at once on a cold server start it once",
        source="docker/mcp-gateway#318",
        note=(
            "one process serves every caller of a server; keys of isolation come with per-user "
            "credentials, and `max_calls` bounds what is under way"
        ),
    ),
    "STD-05": Case(
        sentence="a long line passes up to the limit; one beyond it costs that call alone",
        source="IBM/mcp-context-forge#2591",
        note=(
            "requests are bounded by `listen.max_body` (1 MiB unless set), messages of servers "
            "by `max_message_bytes` (8 MiB unless set)"
        ),
    ),
    "STD-06": Case(
        sentence="text is UTF-8 under any locale; bad bytes cost that message alone",
        source="MoonshotAI/kimi-code#886",
    ),
    "STD-07": Case(
        sentence="a child that ignores every hint is ended with its whole group",
        source="ProxymanApp/Proxyman#2727",
    ),
    "HTT-01": Case(
        sentence="a session that a server forgot is begun anew, and only a safe call is repeated",
        source="modelcontextprotocol/python-sdk#1676",
    ),
    "HTT-02": Case(
        sentence="a client that leaves costs no other client anything",
        source="supercorp-ai/supergateway#144",
    ),
    "HTT-03": Case(
        sentence="a dead connection is not used again",
        source="IBM/mcp-context-forge#3520",
    ),
    "HTT-04": Case(
        sentence="second streams and stray requests end nothing",
        source="supercorp-ai/supergateway#112",
    ),
    "HTT-05": Case(
        sentence="every legal form of an event stream is read",
        source="envoyproxy/ai-gateway#1398",
    ),
    "HTT-06": Case(
        sentence="a stop answers what it can and ends in time",
        source="modelcontextprotocol/python-sdk#514",
    ),
    "HTT-07": Case(
        sentence="a quiet stream is kept open",
        source="punkpeye/fastmcp#317",
    ),
    "HTT-08": Case(
        sentence="Host and Origin are checked before any work",
        source="smart-mcp-proxy/mcpproxy-go#898",
        note=(
            "forwarded headers are not read: behind a proxy that rewrites Host, the name it "
            "sends is allowed as well"
        ),
    ),
    "HTT-09": Case(
        sentence="a burst is answered whole, or told to come back",
        source="stacklok/toolhive#5952",
    ),
    "HTT-10": Case(
        sentence="doubled headers are read as one or refused",
        source="bcurts/agentchattr#80",
    ),
}
