import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { afterEach, expect, test, vi } from "vitest";
import { DraftProvider } from "./draft";
import { EvaluatePage } from "./EvaluatePage";

const KEY = "ghp_0123456789abcdefABCDEF";
const WARNING = "The AI output may contain a GitHub token at line 1, column 8.";

const DOCUMENT = {
  name: "notes.txt",
  text: `Token: ${KEY}`,
  characters: 33,
  pages: null,
  encoding: "utf-8",
  sha256: "sha256:0",
  notices: [],
  warning: "The file may contain a GitHub token at line 1, column 8.",
};

const EVALUATORS = { rules: { name: "rules" }, providers: [], base_urls: [], mode_labels: {} };

/** Answers as the server does: an estimate warns of a text with the key. Other lists are empty. */
async function answer(request: Request): Promise<Response> {
  if (request.url.endsWith("/api/evaluators")) return Response.json(EVALUATORS);
  if (new URL(request.url).pathname === "/api/documents") return Response.json(DOCUMENT);
  if (!request.url.endsWith("/api/estimate")) return Response.json([]);
  const { ai_output } = await request.json();
  return Response.json({
    sentence: "Nothing leaves this machine.",
    warnings: ai_output.includes(KEY) ? [WARNING] : [],
  });
}

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function setUp() {
  vi.stubGlobal("fetch", answer);
  render(
    <QueryClientProvider client={new QueryClient()}>
      <MemoryRouter>
        <DraftProvider>
          <EvaluatePage />
        </DraftProvider>
      </MemoryRouter>
    </QueryClientProvider>,
  );
}

test("warns once of a credential in an uploaded file", async () => {
  setUp();
  const [upload] = screen.getAllByLabelText<HTMLInputElement>("Text file");
  await userEvent.upload(upload as HTMLInputElement, new File(["x"], "notes.txt"));
  await screen.findByText(WARNING, { exact: false }, { timeout: 5_000 });
  expect(screen.getAllByText(/may contain a GitHub token/)).toHaveLength(1);
}, 15_000);

test("warns of a credential in a pasted text before it is evaluated, also by the rules", async () => {
  setUp();
  const user = userEvent.setup();
  const field = screen.getByLabelText(/^AI output/);
  await user.click(field);
  await user.paste(`Token: ${KEY}`);
  const warning = await screen.findByText(WARNING, { exact: false }, { timeout: 5_000 });
  expect(warning.closest("[role=alert]")).toBeTruthy();
  await user.clear(field);
  await user.paste("No token.");
  await vi.waitFor(() => expect(screen.queryByText(WARNING, { exact: false })).toBeNull(), { timeout: 5_000 });
}, 15_000);
