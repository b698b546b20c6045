"""Cases of what a gateway keeps: lives of servers, credentials, decisions, operations, the log."""

from collections.abc import Mapping
from typing import Final

from tests.cases.case import Case

_RENEWAL: Final = "credentials for servers are fixed values; there is no token to renew yet"
_VIRTUAL: Final = "there is one endpoint; subsets are made by policy for each caller"
_OPERATIONS: Final = "at-most-once by key is refused: operations are not kept yet"

CASES: Final[Mapping[str, Case]] = {
    "LIF-01": Case(
        sentence="a server that can't be reached costs the others nothing",
        source="open-webui/mcpo#193",
    ),
    "LIF-02": Case(
        sentence="a changed list is judged anew, and then told to clients",
        source="metatool-ai/metamcp#314",
        note="a tool that is gone is refused with status `unknown_tool`, not -32602",
    ),
    "LIF-03": Case(
        sentence="a slow start of one server delays nobody, and calls of it are told so",
        source="davideast/stitch-mcp#150",
    ),
    "LIF-04": Case(
        sentence="attempts go on through a long outage, and the next call after it works",
        source="NousResearch/hermes-agent#57604",
    ),
    "LIF-05": Case(
        sentence="a server that asks for a login counts as reachable",
        source="IBM/mcp-context-forge#4495",
    ),
    "LIF-06": Case(
        sentence="attempts back off and are shared by all callers",
        source="danny-avila/LibreChat#12162",
    ),
    "LIF-07": Case(
        sentence="a list that fails is told apart from an empty one",
        source="BerriAI/litellm#39234",
    ),
    "LIF-08": Case(
        sentence="a listed tool on a busy server is busy, and not unknown",
        source="metatool-ai/metamcp#318",
        note=(
            "status `unknown_tool`, not -32602, and only for names that are in no list of the "
            "caller"
        ),
    ),
    "AUT-01": Case(
        sentence="a tool that a caller may not use looks like one that does not exist",
        source="github/gh-aw-mcpg#3332",
        note=(
            "a hidden tool is refused with status `unknown_tool`, not -32602, as a name that "
            "does not exist is; a tool that is hidden for want of a scope alone names the scope, "
            "so that a client can ask for it"
        ),
    ),
    "AUT-02": Case(
        sentence="each class of caller is shown its own list, and a change of rights at once",
        source="redhat-data-and-ai/template-agent#230",
        note=(
            "the gateway uses its own credential for a server, so a server's list is the same "
            "for all; what callers see of it is decided for each"
        ),
    ),
    "AUT-03": Case(
        sentence="the tenant is that of the credential, whatever a request says",
        source="caura-ai/caura#319",
    ),
    "AUT-04": Case(
        sentence="a caller's credential goes to no server",
        source="IBM/mcp-context-forge#4392",
    ),
    "AUT-05": Case(
        sentence="a challenge says where to get a credential, or which scope is missing",
        source="punkpeye/mcp-proxy#39",
    ),
    "AUT-06": Case(
        sentence="parallel calls renew a token once",
        source="anomalyco/opencode#34074",
        left=_RENEWAL,
    ),
    "AUT-07": Case(
        sentence="limits are counted for each tenant and say how long to wait",
        source="zoharbabin/web-researcher-mcp#38",
    ),
    "AUT-08": Case(
        sentence="nothing is allowed by accident, and a mistyped rule is refused when it is read",
        source="agentgateway/agentgateway#1058",
    ),
    "AUT-09": Case(
        sentence="a virtual server shows and runs its own subset only",
        source="IBM/mcp-context-forge#2973",
        left=_VIRTUAL,
    ),
    "AUT-10": Case(
        sentence="trouble with the gateway's own credential is not the caller's 401",
        source="stacklok/toolhive#4721",
    ),
    "APR-01": Case(
        sentence="an approval is for the exact call that was shown",
        source="mcp-hangar/mcp-hangar#674",
    ),
    "APR-02": Case(
        sentence="a server's own hints raise the class of a call and never lower it",
        source="NousResearch/hermes-agent#81151",
        note="no server is trusted so far that its hints would lower a class",
    ),
    "APR-03": Case(
        sentence="only a named approver decides, and never the caller",
        source="mcp-hangar/mcp-hangar#665",
    ),
    "APR-04": Case(
        sentence="a caller that leaves neither loses an approved call nor runs it twice",
        source="NousResearch/hermes-agent#106678",
    ),
    "APR-05": Case(
        sentence="a tool that changed after it was accepted is not called until it is reviewed",
        source="gridctl/gridctl#287",
    ),
    "APR-06": Case(
        sentence="an approver of another tenant neither sees nor decides",
        source="mcp-hangar/mcp-hangar#688",
    ),
    "APR-07": Case(
        sentence="a pending approval outlives a restart, and is never taken as given",
        source="vivekchand/clawmetry#4491",
    ),
    "APR-08": Case(
        sentence="the same call asked again is one question",
        source="gridctl/gridctl#1150",
    ),
    "APR-09": Case(
        sentence="a restart of a server is no new definition",
        source="DobermanCore/Doberman-Core#246",
        note=(
            "icons are for display and not pinned; the order of a list counts, that of `required` "
            "as well"
        ),
    ),
    "APR-10": Case(
        sentence="a rejection needs the same right as an approval",
        source="alphaonedev/ai-memory-mcp#3388",
    ),
    "IDM-01": Case(
        sentence="a repeated call gets the stored end and is not sent again",
        source="hostinger/api-mcp-server#68",
        left=_OPERATIONS,
    ),
    "IDM-02": Case(
        sentence="a crash leaves every write known, or known as unknown",
        source="xxynet/KiraAI#195",
        left=_OPERATIONS,
    ),
    "IDM-03": Case(
        sentence="the gateway repeats only what provably did not run",
        source="NousResearch/hermes-agent#88821",
        left=_OPERATIONS,
    ),
    "IDM-04": Case(
        sentence="one key stands for one call",
        source="Noveum/orbit#407",
        left=_OPERATIONS,
    ),
    "IDM-05": Case(
        sentence="a key of one tenant means nothing to another",
        source="Noveum/orbit#455",
        left=_OPERATIONS,
    ),
    "IDM-06": Case(
        sentence="a slow write keeps its lease",
        source="Noveum/orbit#407",
        left=_OPERATIONS,
    ),
    "OBS-01": Case(
        sentence="secrets come in by every door and out by none",
        source="github/gh-aw#50772",
    ),
    "OBS-02": Case(
        sentence="a dead collector costs no call anything",
        source="datarobot-oss/datarobot-genai#633",
    ),
    "OBS-03": Case(
        sentence="what can't be recorded is not sent, and the log is whole again afterwards",
        source="astrid-runtime/astrid#466",
        note=(
            "writes are refused while nothing can be recorded; reads as well, unless "
            "`store.reads_when_unavailable: allow`; an end that could not be stored is noted in "
            "the result and written later"
        ),
    ),
    "OBS-04": Case(
        sentence="a locked store makes calls late, or refuses them as safe to repeat",
        source="cq27-dev/rag-rat#220",
    ),
    "OBS-05": Case(
        sentence="each call has exactly one final event with its true status",
        source="Abilityai/trinity#2807",
        note=(
            "a call that people decide about ends as `approval_pending`, `approval_denied` or "
            "`approval_expired`; malformed messages and rejected credentials are no calls: they "
            "are counted in `admin` events"
        ),
    ),
    "OBS-06": Case(
        sentence="one trace goes from the caller through the gateway to the server",
        source="envoyproxy/ai-gateway#2487",
    ),
    "OBS-07": Case(
        sentence="spans and metrics of every end arrive, with bounded labels",
        source="agentrust-io/cmcp#456",
    ),
    "CFG-01": Case(
        sentence="a misspelt key is an error with its place and the nearest right one",
        source="mcp-hangar/mcp-hangar#982",
    ),
    "CFG-02": Case(
        sentence="a child process gets what its entry names and a small safe base",
        source="Temikus/denkeeper#219",
    ),
    "CFG-03": Case(
        sentence="a missing variable keeps that server from being contacted",
        source="mastra-ai/mastra#18240",
    ),
    "CFG-04": Case(
        sentence="a command line arrives exactly as written",
        source="anthropics/claude-ai-mcp#891",
    ),
}
