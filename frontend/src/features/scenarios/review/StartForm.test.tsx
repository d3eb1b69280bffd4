import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";
import { StartForm } from "./StartForm";

afterEach(cleanup);

test("starts with the name and the number that were typed, and not without a name or a whole number", async () => {
  const onStart = vi.fn();
  render(<StartForm user={null} onStart={onStart} isPending={false} done={null} />);
  const start = screen.getByRole<HTMLButtonElement>("button", { name: "Start" });
  const number = screen.getByLabelText("Runs that you label in all");
  expect(start.disabled).toBe(true);
  await userEvent.type(screen.getByLabelText("Your name"), " Ada ");
  await userEvent.clear(number);
  await userEvent.type(number, "1.5");
  expect(start.disabled).toBe(true);
  await userEvent.clear(number);
  await userEvent.type(number, "12");
  await userEvent.click(start);
  expect(onStart).toHaveBeenCalledExactlyOnceWith({ reviewer: "Ada", number: 12 });
});

test("a user who is logged in is not asked for a name", async () => {
  const onStart = vi.fn();
  render(<StartForm user="Ada Brown" onStart={onStart} isPending={false} done={null} />);
  expect(screen.queryByLabelText("Your name")).toBeNull();
  expect(screen.getByText(/You label as/).textContent).toBe("You label as Ada Brown.");
  await userEvent.click(screen.getByRole("button", { name: "Start" }));
  expect(onStart).toHaveBeenCalledExactlyOnceWith({ reviewer: "Ada Brown", number: 40 });
});

test("who labelled every run is not asked to choose a higher number", () => {
  const { rerender } = render(
    <StartForm user={null} onStart={vi.fn()} isPending={false} done={{ name: "Ada", labelled: 40, wanted: 40 }} />,
  );
  expect(screen.getByRole("status").textContent).toContain("To label more, choose a higher number.");
  rerender(
    <StartForm user={null} onStart={vi.fn()} isPending={false} done={{ name: "Ada", labelled: 16, wanted: 40 }} />,
  );
  expect(screen.getByRole("status").textContent).toBe(
    "You have labelled 16 runs. There are no others to label. Another reviewer can start.",
  );
});
