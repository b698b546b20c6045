"""Inputs that provoke every error of configuration, contracts and policies, one a line.

They are the test of these errors and the page about them at the same time: whoever adds an error
adds an input that leads to it. Contracts are the part of an entry that makes the difference.
"""

from typing import Final

_KEY: Final = "sha256:" + "0" * 64

FOLDER: Final = "a folder"  # in the place of a file

# Whole files of any kind; these are configurations.
YAML: Final = (
    "",
    "- a",
    "servers: {}\n\tlisten: {}",
    "servers: [}",
    "listen: address: a",
    "servers: {}\n  listen: {}",
    "servers: {}\nservers: {}",
    "servers: &all {}",
    "servers: *all",
    "servers: {<<: {}}",
    "servers: !map {}",
    "%YAML 1.1\n---\nservers: {}",
    "servers: {}\n---\nservers: {}",
    "? [a]\n: b",
    "limits: {call_timeout: 010}",
    "limits: {call_timeout: .inf}",
    f"limits: {{call_timeout: 1{'0' * 1001}}}",
    f"x-a: {'[' * 90}{']' * 90}",
    f"x-a: {'a' * (1 << 20)}",
)
# Files of configuration that aren't even text; and one that isn't there.
BYTES: Final = (b"\xff\xfes\x00", b"servers: {a: \xe9}", None, FOLDER)

CONFIG: Final = (
    # Keys and plain types
    "serverz: {}",
    "no_such_key: 1",
    "mcpServers: {}",
    "servers: {a: {command: x, transport: stdio}}",
    "servers: {a: {command: x, forward_authorization: true}}",
    "servers: []",
    "servers: {a: x}",
    "servers: {a: {command: 1}}",
    "expose: {max_name: many}",
    "expose: {max_name: 4}",
    "expose: {max_name: 4000}",
    "expose: {max_name: 1.5}",
    "expose: {transparent: perhaps}",
    "listen: {max_concurrency: []}",
    "servers: {a: {command: ''}}",
    "telemetry: {incoming_context: child}",
    "events: {level: all}",
    "telemetry: {service_name: ''}",
    f"telemetry: {{service_name: {'a' * 129}}}",
    "limits: {call_timeout: 30}",
    "limits: {call_timeout: 0s}",
    "limits: {call_timeout: 2d}",
    "listen: {max_body: little}",
    "listen: {max_body: 1B}",
    "listen: {allowed_hosts: a.example}",
    "identity: {api_keys: [{id: a}]}",
    "events: {checkpoints: {to: [{log: false}]}}",
    # Variables
    "policies: ${NOT_THERE}",
    "policies: ${env:NOT_THERE}",
    "policies: ${not-a-name}",
    "policies: ${NOT_THERE",
    "policies: ${SET}",
    "env_file: nowhere.env",
    # Servers
    "servers: {a.b: {command: x}}",
    "servers: {a: {}}",
    "servers: {a: {command: x, url: 'https://a.example'}}",
    "servers: {a: {command: x, headers: {A: b}}}",
    "servers: {a: {url: 'https://a.example', type: stdio}}",
    "servers: {a: {url: 'https://a.example', type: sse}}",
    "servers: {a: {command: x, env: {1A: b}}}",
    'servers: {a: {command: "x\\0"}}',
    "servers: {a: {command: x, restart: {first: 2m}}}",
    "servers: {a: {url: 'https://a.example', headers: {'A B': c}}}",
    "servers: {a: {url: 'https://a.example', headers: {Host: c}}}",
    "servers: {a: {url: 'https://a.example', headers: {A: ' c'}}}",
    "servers: {a: {url: 'https://a.example', headers: {A: b, a: c}}}",
    # Addresses
    "listen: {address: localhost}",
    "listen: {address: '0.0.0.0:8700'}",
    "admin: {address: '0.0.0.0:8701'}",
    "admin: {address: '0.0.0.0:8701', accounts: [{user: ann, tenant: a}]}",
    "listen: {public_url: tools.example.com}",
    "listen: {public_url: 'https://a.example/b c'}",
    "listen: {public_url: 'https://u:p@a.example'}",
    "listen: {public_url: 'https://a.example/#b'}",
    "listen: {public_url: 'https://a.example/?b'}",
    "listen: {path: mcp}",
    "listen: {path: '/a b'}",
    "listen: {path: /.well-known/mcp}",
    "listen: {allowed_hosts: ['https://a.example']}",
    "listen: {allowed_origins: ['https://a.example/b']}",
    "admin: {public_url: 'https://a.example/b'}",
    "store: mysql://a",
    # People and keys
    "identity: {local: {user: ' '}}",
    "identity: {local: {scopes: ['a b']}}",
    f"identity: {{api_keys: [{{id: a_b, hash: '{_KEY}', user: a, tenant: a}}]}}",
    "identity: {api_keys: [{id: a, hash: secret, user: a, tenant: a}]}",
    f"identity: {{api_keys: [{{id: a, hash: '{_KEY}', user: a, tenant: a, expires: soon}}]}}",
    f"identity: {{api_keys: [{{id: a, hash: '{_KEY}', user: a, tenant: a}}, "
    f"{{id: a, hash: 'sha256:{'1' * 64}', user: a, tenant: a}}]}}",
    f"identity: {{api_keys: [{{id: a, hash: '{_KEY}', user: a, tenant: a}}, "
    f"{{id: b, hash: '{_KEY}', user: a, tenant: a}}]}}",
    "identity: {jwt: [{issuer: 'http://a.example', audience: a, jwks_file: k, tenant: a}]}",
    "identity: {jwt: [{issuer: 'https://a.example', audience: [], jwks_file: k, tenant: a}]}",
    "identity: {jwt: [{issuer: 'https://a.example', audience: a, tenant: a}]}",
    "identity: {jwt: [{issuer: 'https://a.example', audience: a, jwks_file: k}]}",
    "identity: {jwt: [{issuer: 'https://a.example', audience: a, jwks_file: k, tenant: a, "
    "tenants: [b]}]}",
    "identity: {jwt: [{issuer: 'https://a.example', audience: a, jwks_file: k, tenant: a, "
    "algorithms: []}]}",
    "identity: {jwt: [{issuer: 'https://a.example', audience: a, jwks_file: k, tenant: a, "
    "algorithms: [HS256]}]}",
    "identity: {jwt: [{issuer: 'https://a.example', audience: a, jwks_file: k, tenant: a}, "
    "{issuer: 'https://a.example', audience: b, jwks_file: k, tenant: b}]}",
    "identity: {jwt: [{issuer: 'https://a.example', audience: a, jwks_file: k, claims: "
    "{tenant: t}}, {issuer: 'https://b.example', audience: b, jwks_file: k, tenant: b}]}",
    "identity: {jwt: [{issuer: 'https://a.example', audience: a, jwks_file: k, claims: "
    "{tenant: /a~}}]}",
    "admin: {oidc: {issuer: 'https://a.example', client_id: a}}",
    "admin: {oidc: {issuer: 'https://a.example', client_id: a, tenant: a, tenants: [a]}}",
    "admin: {accounts: [{user: ann, tenant: a}, {user: Ann, tenant: a}]}",
    f"admin: {{api_keys: [{{id: a, hash: '{_KEY}', user: a, tenant: a, scopes: [a]}}]}}",
    "activation: {people: 2}\nadmin: {oidc: {issuer: 'https://a.example', client_id: a, claims: "
    "{tenant: t}}}",
    "activation: {people: 2}",
    "expose: {transparent: true}\nservers: {a: {command: x}, b: {command: y}}",
    "expose: {own_tools: [gateway_sing]}",
    "runs: {header: Host}",
    # Approvals and the log
    "approvals: {approvers: {users: [ann], count: 2}}",
    "approvals: {hold: {clients: {a: 2h}}}",
    "approvals: {webhooks: [{name: a.b, url: 'https://a.example', format: slack}]}",
    "approvals: {webhooks: [{name: a, url: 'https://a.example', secret: abc}]}",
    "approvals: {webhooks: [{name: a, url: 'https://a.example'}]}",
    "approvals: {webhooks: [{name: a, url: 'https://a.example', format: slack}, "
    "{name: a, url: 'https://b.example', format: slack}]}",
    "events: {checkpoints: {origin: a log}}",
    "events: {checkpoints: {to: [{file: a, log: true}]}}",
    "events: {checkpoints: {to: [{url: 'https://a.example'}]}}",
)

# What differs from a contract that is right; a key that is given here is not given twice.
CONTRACTS: Final = (
    "riskk: low",
    "name: refund",
    "definition: {name: pay, inputSchema: {type: object}}",
    "effect: delete",
    "risk: 3",
    "reviewed: perhaps",
    f"pin: sha256:{'0' * 64}",
    "pin: md5:0",
    "definition: {name: refund}",
    "definition: {name: refund, inputSchema: []}",
    "definition: {name: refund, inputSchema: {type: array}}",
    "definition: {name: refund, inputSchema: {type: object, properties: {a: {type: text}}}}",
    "definition: {name: refund, inputSchema: {type: 7}}",
    "definition: {name: refund, inputSchema: {$schema: 'https://a.example'}}",
    "definition: {name: refund, inputSchema: {$ref: 'https://a.example'}}",
    "definition: {name: refund, inputSchema: {$ref: '#a'}}",
    "definition: {name: refund, inputSchema: {properties: {a: {pattern: '(?=a)'}}}}",
    "sensitive: {customer: personal}",
    "sensitive: {'': personal}",
    "sensitive: {/customer: private}",
    "scopes: payments",
    "failure: {timeout: 30}",
    "risk_when: [{when: args.a > 1, reason: much}]",
    "risk_when: [{when: '', reason: much, risk: high}]",
    "results: {max_bytes: 0}",
    # Where arguments come from
    "provenance: {/id: {from: [elsewhere]}}",
    "provenance: {/id: {from: ['results(a,)']}}",
    "provenance: {/id: {from: ['actor(name)']}}",
    "provenance: {/id: {from: ['collected(a, b)']}}",
    "provenance: {/id: {from: ['results(within: run)']}}",
    "provenance: {/id: {from: ['results(a, within: day)']}}",
    "provenance: {/id: {from: ['constant([1])']}}",
    "provenance: {/id: {from: ['computed(1)']}}",
    "provenance: {/id: {from: ['computed(1..today)']}}",
    "provenance: {/id: {from: ['computed(2..1)']}}",
    "provenance: {/id: {from: ['computed(a..b)']}}",
    "provenance: {/id: {from: ['computed(2026-12-31..2026-01-01)']}}",
    "provenance: {/id: {from: []}}",
    "provenance: {/id: {from: ['actor(user)'], same_record_as: /a, relate: {same_record_as: /a}}}",
    "yields: [{type: 'a b', path: /id}]",
    "yields: [{type: model, path: /id}]",
    "retrieval: {}",
    "retrieval: {documents: {path: ''}}",
    "retrieval: {query: /a/*}",
    # Repeats
    "idempotency: {window: 24}",
    "idempotency: {retry: read}",
    "idempotency: {retry: keyed}",
    "idempotency: {retry: query}",
    "idempotency: {inject: {}}",
    "idempotency: {inject: {header: 'a b'}}",
    "idempotency: {inject: {header: Cookie}}",
    "idempotency: {inject: {meta: progressToken}}",
    "idempotency: {lookup: {tool: find, found: 'true'}}",
    # Outcomes and the way back
    "outcome: {checksum: {of: 'the $args.body', equals: $result.sha}}",
    "outcome: {object: {type: a, id: the $x}}",
    "outcome: {object: {type: a, id: $op.name}}",
    "outcome: {object: {type: a, id: $old.id}}",
    "approval: {summary: pay $result.amount}",
    "outcome: {readback: {tool: a.b, expect: 'true', wait: {interval: 2m}}}",
    "compensation: {class: irreversible}",
    "compensation: {class: compensable}",
    "compensation: {class: retriable}",
    "compensation: {tool: a.b, class: irreversible}",
    "compensation: {class: pivot, reason: gone, deadline: 1d}",
)
# The whole file, where the name of the tool is what is wrong.
CONTRACT_FILES: Final = (
    "tools: {refund: {pin: 'PIN', effect: write, risk: low, definition: {name: refund}}}",
    "tool: {}",
)

POLICY: Final = (
    f"# {'a' * (4 << 20)}",
    "rule: []",
    "rules: [{id: a}]",
    "rules: [{id: a, decision: permit}]",
    "rules: [{id: 'a b', decision: allow}]",
    "rules: [{id: a, decision: deny, code: No}]",
    "rules: [{id: a, decision: allow, when: ''}]",
    "rules: [{id: a, decision: allow, match: {tools: []}}]",
    "rules: [{id: a, decision: allow, match: {effects: [delete]}}]",
    "rules: [{id: a, decision: allow, match: {tools: [a.b], prompts: [a.c]}}]",
    "rules: [{id: a, decision: allow, match: {prompts: [a.b], methods: [tools/call]}}]",
    "rules: [{id: a, decision: allow, match: {prompts: [a.b], causes: [lookup]}}]",
    "rules: [{id: a, decision: allow, match: {tenants: {in_set: big}}}]",
    "rules: [{id: a, decision: allow, match: {tenants: {in_set: a-b}}}]",
    "rules: [{id: a, decision: allow, match: {methods: tools/call}}]",
    "rules: [{id: a, decision: allow, limits: [{id: l, per: [user], max: 1, window: 30}]}]",
    "rules: [{id: a, decision: allow, limits: [{id: l, per: [user], max: -1, window: 1h}]}]",
    "rules: [{id: a, decision: allow, output: {keep: [name]}}]",
    "rules: [{id: a, decision: allow, constrain: {set: {/: 1}}}]",
    "rules: [{id: a, decision: deny, constrain: {set: {a: 1}}}]",
    "rules: [{id: a, decision: obligation}]",
    "rules: [{id: a, decision: require_approval}]",
    "rules: [{id: a, decision: allow, approval: {approvers: {roles: [lead]}}}]",
    "rules: [{id: a, decision: require_approval, approval: {}}]",
    "rules: [{id: a, decision: require_approval, approval: {approvers: {}}}]",
    "rules: [{id: a, decision: require_approval, approval: {factors: [{name: g}]}}]",
    "rules: [{id: a, decision: require_approval, approval: {quorum: 2, factors: "
    "[{name: g, roles: [lead]}]}}]",
    "rules: [{id: a, decision: require_approval, approval: {factors: "
    "[{name: g, roles: [lead]}, {name: g, roles: [boss]}]}}]",
    "rules: [{id: a, decision: require_approval, approval: {approvers: {roles: [lead]}, escalate: "
    "[{after: 5m}]}}]",
    "rules: [{id: a, decision: require_approval, approval: {approvers: {roles: [lead]}, escalate: "
    "[{after: 5m, users: [self]}]}}]",
    "rules: [{id: a, decision: require_approval, approval: {approvers: {roles: [lead]}, escalate: "
    "[{after: 5m, roles: [a]}, {after: 1m, roles: [b]}]}}]",
    "rules: [{id: a, decision: require_approval, approval: {approvers: {roles: [lead]}, "
    "quorum: 0}}]",
    "rules: [{id: a, decision: allow}, {id: a, decision: deny}]",
    # Expressions
    "rules: [{id: a, decision: allow, when: arg.amount > 1}]",
    "rules: [{id: a, decision: allow, when: args.amount >}]",
    "rules: [{id: a, decision: allow, when: nothing(args)}]",
    "rules: [{id: a, decision: allow, when: actor.usr == 'a'}]",
    "rules: [{id: a, decision: allow, when: '1'}]",
    "rules: [{id: a, decision: allow, when: 1 == 'a'}]",
)

TESTS: Final = (
    "callers: {}\ntests: []",
    "callers: {a: {user: a}}\ntests: [{name: t, as: b, call: a.b, expect: {decision: allow}}]",
    "callers: {a: {user: a}}\ntests: [{name: t, as: a, call: a.b, expect: {}}]",
    "callers: {a: {user: a}}\ntests: [{name: t, as: a, expect: {decision: allow}}]",
    "callers: {a: {user: a}}\ntests: [{name: t, as: a, call: a.b, server: a, expect: "
    "{decision: deny}}]",
    "callers: {a: {user: a}}\ntests: [{name: t, as: a, call: a.b, method: tools/call, ask: "
    "sampling/createMessage, expect: {decision: deny}}]",
    "callers: {a: {user: a}}\ntests: [{name: t, as: a, call: a.b, method: prompts/get, expect: "
    "{decision: deny}}]",
    "callers: {a: {user: a}}\ntests: [{name: t, as: a, call: a.b, ask: tools/call, expect: "
    "{decision: deny}}]",
    "callers: {a: {user: a}}\ntests: [{name: t, as: a, prompt: a.b, cause: lookup, expect: "
    "{decision: deny}}]",
    "callers: {a: {user: a}}\ntests: [{name: t, as: a, call: a.b, result: {}, expect: "
    "{decision: deny}}]",
    "callers: {a: {user: a}}\ntests: [{name: t, as: a, prompt: a.b, result: {}, expect: "
    "{result: {}}}]",
    "callers: {a: {user: a}}\ntests: [{name: t, as: a, call: a.b, phase: acting, run: "
    "{phase: acting}, expect: {decision: deny}}]",
    "callers: {a: {user: a}}\ntests: [{name: t, as: a, call: a.b, expect: {phase: acting}}]",
    "callers: {a: {user: a}}\ntests: [{name: t, as: a, call: a.b, run: {fields: {f: 1}, said: "
    "{f: 2}}, expect: {decision: deny}}]",
    "callers: {a: {user: a}}\ntests: [{name: t, as: a, call: a.b, run: {resume_phase: acting}, "
    "expect: {decision: deny}}]",
    "now: noon\ncallers: {a: {user: a}}\ntests: [{name: t, as: a, call: a.b, expect: {code: c}}]",
)

RUNS: Final = (
    "runs: {}",
    "runs: {a b: {}}",
    "runs: {a: {fields: {in: {}}}}",
    "runs: {a: {fields: {a-b: {}}}}",
    "runs: {a: {phases: {completed: {}}}}",
    "runs: {a: {phases: {working: {}}}}",
    "runs: {a: {during_wait: [refund]}}",
    "runs: {a: {phases: {acting: {tools: [a.b]}}, during_wait: [a.c]}}",
    "runs: {a: {limits: {money: {argument: amount, max: 1}}}}",
    "runs: {a: {limits: {money: {argument: /a/*, max: 1}}}}",
    "runs: {a: {limits: {money: {argument: '', max: 1}}}}",
    "runs: {a: {limits: {wall: 2}}}",
    "runs: {a: {completed_when: [fields.customer == 1]}}",
    "runs: {a: {completed_when: [size(fields) > 1]}}",
    "runs: {a: {completed_when: ['verified(refund)']}}",
    "runs: {a: {completed_when: [evidence]}}",
)

# Folders: what no file has wrong by itself; names of files with their texts, or None for what is
# none. The first is not there, the second is empty where contracts are asked for.
FOLDERS: Final = (
    None,
    {},
    {"sub/a.yaml": "rules: []"},
    {"a.yaml": None},
    {"a.yaml": b"\xff"},
    {"a.yaml": b"#" * ((4 << 20) + 1)},
    {"a.yaml": "rules: [{id: a, decision: allow}]", "b.yaml": "rules: [{id: a, decision: deny}]"},
    {"a.yaml": "default: {code: a}", "b.yaml": "default: {code: b}"},
    {"runs/a.yaml": "runs: {a: {}}", "runs/b.yaml": "runs: {a: {}}"},
    {"contracts/a.yaml": "CONTRACT", "contracts/b.yaml": "CONTRACT"},
)

# Files of variables (`env_file`).
ENV: Final = ("A B", "A='b", 'A="b', "A=b\0", "A=b\nA=c")
