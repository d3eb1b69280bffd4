import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, test } from "vitest";
import { FilterSearch } from "./Filter";

function Page({ onQuery }: { onQuery: (query: string) => void }) {
  const [words, setQuery] = useState("");
  const [onChange] = useState(() => (next: string) => {
    onQuery(next);
    setQuery(next);
  });
  return (
    <>
      <FilterSearch placeholder="" value={words} onChange={onChange} />
      <button type="button" onClick={() => setQuery("")}>
        Clear
      </button>
    </>
  );
}

test("it is asked once when the typing pauses, and what is cleared elsewhere stays cleared", async () => {
  const onQuery: string[] = [];
  render(<Page onQuery={(words) => onQuery.push(words)} />);
  const field = screen.getByRole<HTMLInputElement>("searchbox");
  await userEvent.type(field, "refund");
  await waitFor(() => expect(onQuery).toEqual(["refund"]));
  await userEvent.click(screen.getByRole("button"));
  expect(field.value).toBe("");
  await new Promise((go) => setTimeout(go, 350));
  expect(onQuery).toEqual(["refund"]);
});
