import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, test } from "vitest";
import { Search } from "./Filter";

function Page({ heard }: { heard: (words: string) => void }) {
  const [words, setWords] = useState("");
  const [change] = useState(() => (next: string) => {
    heard(next);
    setWords(next);
  });
  return (
    <>
      <Search placeholder="" value={words} change={change} />
      <button type="button" onClick={() => setWords("")}>
        Clear
      </button>
    </>
  );
}

test("it is asked once when the typing pauses, and what is cleared elsewhere stays cleared", async () => {
  const heard: string[] = [];
  render(<Page heard={(words) => heard.push(words)} />);
  const field = screen.getByRole<HTMLInputElement>("searchbox");
  await userEvent.type(field, "refund");
  await waitFor(() => expect(heard).toEqual(["refund"]));
  await userEvent.click(screen.getByRole("button"));
  expect(field.value).toBe("");
  await new Promise((go) => setTimeout(go, 350));
  expect(heard).toEqual(["refund"]);
});
