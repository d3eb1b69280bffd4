import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, test } from "vitest";
import { FilterSearch } from "./Filter";

function Page({ onQuery }: { onQuery: (query: string) => void }) {
  const [query, setQuery] = useState("");
  const [onChange] = useState(() => (next: string) => {
    onQuery(next);
    setQuery(next);
  });
  return (
    <>
      <FilterSearch placeholder="" value={query} onChange={onChange} />
      <button type="button" onClick={() => setQuery("")}>
        Clear
      </button>
    </>
  );
}

test("reports the query once typing pauses, and stays cleared after it is cleared elsewhere", async () => {
  const queries: string[] = [];
  render(<Page onQuery={(query) => queries.push(query)} />);
  const field = screen.getByRole<HTMLInputElement>("searchbox");
  await userEvent.type(field, "refund");
  await waitFor(() => expect(queries).toEqual(["refund"]));
  await userEvent.click(screen.getByRole("button"));
  expect(field.value).toBe("");
  await new Promise((resolve) => setTimeout(resolve, 350));
  expect(queries).toEqual(["refund"]);
});
