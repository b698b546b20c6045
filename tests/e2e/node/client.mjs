// The official TypeScript client, one era a run: lists tools, calls one, prints one JSON line.
// usage: node client.mjs v1|v2|v2-modern URL KEY TOOL ARGUMENTS
const [, , generation, url, key, tool, args] = process.argv;
const requestInit = key ? { headers: { Authorization: `Bearer ${key}` } } : {};

const { Client, StreamableHTTPClientTransport } =
  generation.startsWith('v2')
    ? await import('@modelcontextprotocol/client')
    : {
        ...(await import('@modelcontextprotocol/sdk/client/index.js')),
        ...(await import('@modelcontextprotocol/sdk/client/streamableHttp.js')),
      };

const options = generation === 'v2-modern' ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {};
const client = new Client({ name: 'weighbridge-e2e', version: '1.0.0' }, options);
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
const { tools } = await client.listTools();
const result = await client.callTool({ name: tool, arguments: JSON.parse(args) });
console.log(JSON.stringify({ tools: tools.map((each) => each.name), result }));
await client.close();
