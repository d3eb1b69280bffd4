import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { afterEach, expect, test, vi } from "vitest";
import type { DocumentText } from "@/api/types";
import { TextField } from "./TextField";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

/** Answers as the server does: memo.txt is Windows-1252, scan.pdf has no text. */
async function answer(request: Request): Promise<Response> {
  const query = new URL(request.url).searchParams;
  const name = query.get("name") ?? "";
  if (name === "memo.txt" && query.get("encoding") === "windows-1252") {
    const notices = ["memo.txt is not UTF-8, so it was read as Windows-1252."];
    return Response.json({ name, text: "5 €", characters: 3, pages: null, notices, sha256: "sha256:0", warning: null });
  }
  const [code, message] =
    name === "memo.txt"
      ? ["not_utf8", "memo.txt is not UTF-8. It could be Windows-1252."]
      : ["invalid_input", "The file contains no text."];
  return Response.json({ error: { code, message, hint: "" } }, { status: 422 });
}

function Field({ onDocument }: { onDocument: (document: DocumentText) => void }) {
  const [value, setValue] = useState("An earlier text");
  return (
    <TextField
      label="AI output"
      hint=""
      rows={3}
      value={value}
      onChange={setValue}
      onDocument={(document) => {
        setValue(document.text);
        onDocument(document);
      }}
    />
  );
}

function setUp() {
  vi.stubGlobal("fetch", answer);
  const onDocument = vi.fn();
  render(
    <QueryClientProvider client={new QueryClient()}>
      <Field onDocument={onDocument} />
    </QueryClientProvider>,
  );
  const field = screen.getByLabelText<HTMLTextAreaElement>("AI output");
  const upload = (name: string) => userEvent.upload(screen.getByLabelText("Text file"), new File(["x"], name));
  return { field, upload, onDocument };
}

test("a file that could not be read is named and leaves the field empty", async () => {
  const { field, upload, onDocument } = setUp();
  expect(field.value).toBe("An earlier text");
  await upload("scan.pdf");
  const alert = await screen.findByRole("alert");
  expect(alert.textContent).toBe("scan.pdf was not read. The file contains no text.");
  expect(field.value).toBe("");
  expect(onDocument).not.toHaveBeenCalled();
});

test("Windows-1252 is offered, read only on request, and then noted", async () => {
  const { field, upload } = setUp();
  await upload("memo.txt");
  const button = await screen.findByRole("button", { name: "Read it as Windows-1252" });
  expect(field.value).toBe("");
  await userEvent.click(button);
  await screen.findByText(/so it was read as Windows-1252/);
  expect(field.value).toBe("5 €");
  expect(screen.queryByRole("alert")).toBeNull();
});
