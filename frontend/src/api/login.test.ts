// @vitest-environment happy-dom
import { afterEach, expect, test, vi } from "vitest";
import { api } from "./client";
import { setLoginNeeded, waitForLogin } from "./login";

const REFUSED = { error: { code: "login_needed", message: "You are not logged in to this server.", hint: "" } };

afterEach(() => {
  setLoginNeeded(false);
  vi.unstubAllGlobals();
});

test("a refused stream is opened after the login", async () => {
  const fetch = vi
    .fn()
    .mockResolvedValueOnce(Response.json(REFUSED, { status: 401 }))
    .mockResolvedValueOnce(new Response("event: watching\ndata: {}\n\n"));
  vi.stubGlobal("fetch", fetch);
  const opening = api.watchBatches(null, new AbortController().signal);
  await vi.waitFor(() => expect(fetch).toHaveBeenCalledTimes(1));
  await Promise.resolve();
  expect(fetch).toHaveBeenCalledTimes(1);
  setTimeout(() => setLoginNeeded(false));
  const names: string[] = [];
  for await (const event of await opening) names.push(event.name);
  expect(names).toEqual(["watching"]);
});

test("waiting for a login ends when its page is left", async () => {
  setLoginNeeded(true);
  const page = new AbortController();
  const waiting = waitForLogin(page.signal);
  page.abort(new Error("left"));
  await expect(waiting).rejects.toThrow("left");
});
