"""What made-up callers ask for: tools, resources and prompts of a made-up company."""

from dataclasses import dataclass, field, replace
from random import Random
from typing import Final, Protocol

from gateway.case import Origin
from gateway.types.calls import Method
from gateway.types.json import JsonObject
from gateway.types.runs import Run
from gateway.types.tools import Kind, Quarantine, Tool

_OFTEN: Final = (
    *("crm.find", "crm.find", "crm.note", "crm.note"),
    *("pay.refund", "pay.refund", "mail.send", "mail.send", "web.fetch"),
)


class Wanting(Protocol):
    """Where a caller is, as far as his wishes go."""

    is_able: bool
    only: tuple[str, ...]
    tools: dict[str, Tool]


@dataclass
class Wishes:
    """What one caller asks for next."""

    stage: Wanting
    random: Random
    tenant: str
    seen: dict[str, list[Origin]] = field(default_factory=dict[str, "list[Origin]"])
    run: Run | None = None

    def wish(self) -> tuple[Method, Tool, JsonObject]:
        """Return what is asked for, of what, with which arguments."""
        random = self.random
        if self.stage.only:
            key = random.choice(self.stage.only)
            return Method.CALL_TOOL, self._published(key), self._arguments(key)
        match random.randrange(20):
            case 0:
                return self._resource()
            case 1:
                return self._prompt()
            case 2:
                method = random.choice((Method.GET_TASK, Method.CANCEL_TASK, Method.UPDATE_TASK))
                return method, self.stage.tools["files.index"], {}
            case _:
                key = random.choice([*self.stage.tools, *_OFTEN])
                return Method.CALL_TOOL, self._published(key), self._arguments(key)

    def _published(self, key: str) -> Tool:
        tool = self.stage.tools[key]
        match self.random.randrange(60):
            case 0 if key != "shell.run_command":
                return replace(tool, pin="sha256:other")
            case 1 if key != "shell.run_command":
                return replace(tool, quarantine=Quarantine(reason="odd"))
            case _:
                return tool

    def _resource(self) -> tuple[Method, Tool, JsonObject]:
        random = self.random
        uri = random.choice(
            (
                "file:///handbook/travel.md",
                "file:///handbook/secret.md",
                "file:///handbook/../etc/passwd",
                "file:///handbook/jane.doe@example.org.md",
                "file:///other.md",
            )
        )
        definition: JsonObject = {"uri": uri, "name": uri}
        tool = Tool(
            server=random.choice(("files", "crm")),
            name=uri,
            exposed_name=uri,
            definition=definition if random.randrange(2) else {"uriTemplate": "file:///{+path}"},
            pin="sha256:resource",
            kind=Kind.RESOURCE,
        )
        return random.choice((Method.READ_RESOURCE, Method.SUBSCRIBE, Method.COMPLETE)), tool, {}

    def _prompt(self) -> tuple[Method, Tool, JsonObject]:
        random = self.random
        tool = Tool(
            server="files",
            name="reply",
            exposed_name="files__reply",
            definition={"name": "reply"},
            pin="sha256:prompt",
            kind=Kind.PROMPT,
        )
        tone = random.choice(("kind", "rude", "jane@example.org"))
        arguments: JsonObject = {"tone": tone} if random.randrange(3) else {}
        return random.choice((Method.GET_PROMPT, Method.COMPLETE)), tool, arguments

    def _arguments(self, key: str) -> JsonObject:  # noqa: C901 - one case for each tool
        random = self.random
        known = [*self.seen]
        is_known = bool(known) and random.randrange(4) > 0
        customer = random.choice(known) if is_known else f"c-{random.randrange(30)}"
        tenant = random.choice(("", "", self.tenant, "globex"))
        match key:
            case "crm.find":
                query = random.choice(("x", "jane", "jane.doe@example.org", "+49 170 1234567"))
                made: JsonObject = {"query": query, "tenant": tenant}
                if random.randrange(2):
                    made["limit"] = random.choice((1, 5, 500, "many"))
                return made
            case "crm.get":
                return {"id": customer} if random.randrange(20) else {"id": 7}
            case "crm.note":
                texts = ("called", "as said", "see http://x.example", "n" * 200, "t" * 500)
                text = random.choice(texts)
                return {"customer_id": customer, "text": text}
            case "crm.delete":
                return {"customer_id": customer}
            case "pay.refund":
                return self._refund(customer, tenant)
            case "pay.cancel":
                return {"reference": f"r-{random.randrange(9)}"}
            case "mail.send":
                return self._mail()
            case "web.fetch":
                urls = ("https://example.org/a", "https://bad.example", "no url")
                url = urls[0] if self.stage.is_able else random.choice(urls)
                return {"url": url + random.choice(("", "?token=s3cr3tABCDEFGH123456"))}
            case "shell.run_command":
                command = random.choice(("ls -l", "rm -rf /", "ls " + "x" * 40))
                return {"command": command, "api_key": "sk-1234567890abcdefghij"}
            case _:
                return {"folder": "/a"}

    def _refund(self, customer: str, tenant: str) -> JsonObject:
        random, run = self.random, self.run
        known = run.fields.get("customer_id") if run is not None else None
        if known is not None and (self.stage.is_able or random.randrange(2)):
            customer = str(known.value)
        made: JsonObject = {
            "customer_id": customer,
            "amount": random.choice((10, 50.5, 99.0, 150.0, 450, 700.0, 1500)),
            "currency": random.choice(("EUR", "EUR", "USD", "GBP")),
        }
        if self.stage.is_able:
            return {**made, "currency": "EUR", "amount": random.choice((30.0, 60.0, 150.0, 450))}
        if tenant:
            made["tenant"] = tenant
        if random.randrange(2):
            made["iban"] = random.choice(("DE89370400440532013000", "x"))
        if random.randrange(2):
            made["note"] = random.choice(("urgent please", "as agreed"))
        return made

    def _mail(self) -> JsonObject:
        random = self.random
        everybody = ("ana@example.org", "bob@example.org", "eve@evil.example", "no address")
        to = (
            random.sample(everybody, random.randrange(1, 4))
            if random.randrange(2)
            else ["ana@example.org"]
        )
        return {"to": [*to], "subject": "hi", "body": "dear all"}
