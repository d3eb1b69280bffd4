// A program with the official SDK for Node as its client: it calls a tool of every server in its configuration.
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const ARGUMENTS = { find_order: { order_id: "A-1001" }, add: { a: 2, b: 3 } };
const results = {};
const { mcpServers } = JSON.parse(readFileSync(process.env.SALVO_MCP_CONFIG, "utf8"));
for (const [name, { url, headers }] of Object.entries(mcpServers)) {
  const client = new Client({ name: "referee", version: "1.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  const { tools } = await client.listTools();
  const result = await client.callTool({ name: tools[0].name, arguments: ARGUMENTS[tools[0].name] });
  const wrong = await client.callTool({ name: tools[0].name, arguments: {} });
  results[name] = {
    tools: tools.map((tool) => tool.name),
    structured: result.structuredContent,
    wrong: wrong.isError,
  };
  await client.close();
}
console.log(JSON.stringify(results));
