// A server of the official SDK for Node: without an argument on standard input and output, with a port on HTTP.
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

function makeServer() {
  const server = new McpServer({ name: "referee", version: "1.0" });
  server.registerTool(
    "find_order",
    { description: "Find an order.", inputSchema: { order_id: z.string() }, outputSchema: { status: z.string() } },
    async () => ({ content: [{ type: "text", text: "paid" }], structuredContent: { status: "paid" } }),
  );
  server.registerTool(
    "add",
    { description: "Add two numbers.", inputSchema: { a: z.number(), b: z.number() } },
    async ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }),
  );
  return server;
}

const port = process.argv[2];
if (port === undefined) {
  await makeServer().connect(new StdioServerTransport());
} else {
  const transports = new Map();
  createServer(async (request, response) => {
    const known = transports.get(request.headers["mcp-session-id"]);
    if (known) return known.handleRequest(request, response);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => transports.set(id, transport),
    });
    await makeServer().connect(transport);
    return transport.handleRequest(request, response);
  }).listen(Number(port), "127.0.0.1");
}
