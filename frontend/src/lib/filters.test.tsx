import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { createMemoryRouter, Link, RouterProvider } from "react-router";
import { expect, test } from "vitest";
import { useFilters } from "./filters";

function Page() {
  const [address, go] = useFilters();
  const quickly = () => {
    go({ scenario: "refund" });
    go({ model: "gpt" });
    go({ verdict: "failed" });
  };
  return (
    <>
      <p>{address.toString()}</p>
      <button type="button" onClick={quickly}>
        quickly
      </button>
      <button type="button" onClick={() => go({ model: "" })}>
        any model
      </button>
      <Link to="/?model=haiku&verdict=open">elsewhere</Link>
    </>
  );
}

test("changes in quick succession are all kept, and lead to page one", async () => {
  const router = createMemoryRouter([{ path: "/", element: <Page /> }], { initialEntries: ["/?offset=50"] });
  render(<RouterProvider router={router} />);
  await userEvent.click(screen.getByText("quickly"));
  expect(await screen.findByText("scenario=refund&model=gpt&verdict=failed")).toBeTruthy();
  await userEvent.click(screen.getByText("elsewhere"));
  await userEvent.click(screen.getByText("any model"));
  expect(await screen.findByText("verdict=open")).toBeTruthy();
});
