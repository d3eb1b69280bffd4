import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { useKeys } from "./useKeys";

afterEach(cleanup);

function Page({ isOn = true, onAccept }: { isOn?: boolean; onAccept: () => void }) {
  useKeys(isOn, { a: onAccept });
  return (
    <>
      <textarea aria-label="Reason" />
      <button type="button">Item</button>
    </>
  );
}

test("a letter is a shortcut on the page and on a button", () => {
  const onAccept = vi.fn();
  render(<Page onAccept={onAccept} />);
  fireEvent.keyDown(document.body, { key: "a" });
  fireEvent.keyDown(screen.getByRole("button"), { key: "a" });
  expect(onAccept).toHaveBeenCalledTimes(2);
});

test("who writes a reason, holds a modifier or turned shortcuts off decides nothing by accident", () => {
  const onAccept = vi.fn();
  const { rerender } = render(<Page onAccept={onAccept} />);
  fireEvent.keyDown(screen.getByLabelText("Reason"), { key: "a" });
  fireEvent.keyDown(document.body, { key: "a", ctrlKey: true });
  rerender(<Page isOn={false} onAccept={onAccept} />);
  fireEvent.keyDown(document.body, { key: "a" });
  expect(onAccept).not.toHaveBeenCalled();
});
