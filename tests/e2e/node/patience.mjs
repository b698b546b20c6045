// An official TypeScript client that waits a moment for each answer, and calls again when it has none.
// usage: node patience.mjs v1|v2|v2-modern URL KEY NAME TOOL ARGUMENTS TIMEOUT_MS
// Prints a line of JSON for each call without an answer, and one with the result.
const [, , generation, url, key, name, tool, args, patience] = process.argv;
const isFirst = !generation.startsWith('v2');

const { Client, StreamableHTTPClientTransport } = isFirst
  ? {
      ...(await import('@modelcontextprotocol/sdk/client/index.js')),
      ...(await import('@modelcontextprotocol/sdk/client/streamableHttp.js')),
    }
  : await import('@modelcontextprotocol/client');

const options = generation === 'v2-modern' ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {};
const client = new Client({ name, version: '1.0.0' }, options);
const requestInit = { headers: { Authorization: `Bearer ${key}` } };
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
const call = { name: tool, arguments: JSON.parse(args) };
const timeout = { timeout: Number(patience) };
for (;;) {
  try {
    const result = await (isFirst ? client.callTool(call, undefined, timeout) : client.callTool(call, timeout));
    console.log(JSON.stringify({ result }));
    break;
  } catch (error) {
    if (!/timed out/i.test(error.message)) throw error;
    console.log(JSON.stringify({ gaveUp: error.message }));
  }
}
await client.close();
