import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { createMemoryRouter, Link, RouterProvider } from "react-router";
import { expect, test } from "vitest";
import { useFilters } from "./useFilters";

function Page() {
  const [params, update] = useFilters();
  const updateThrice = () => {
    update({ scenario: "refund" });
    update({ model: "gpt" });
    update({ verdict: "failed" });
  };
  return (
    <>
      <p>{params.toString()}</p>
      <button type="button" onClick={updateThrice}>
        quickly
      </button>
      <button type="button" onClick={() => update({ model: "" })}>
        any model
      </button>
      <Link to="/?model=haiku&verdict=open">elsewhere</Link>
    </>
  );
}

test("keeps all changes made in quick succession and returns to page one", async () => {
  const router = createMemoryRouter([{ path: "/", element: <Page /> }], { initialEntries: ["/?offset=50"] });
  render(<RouterProvider router={router} />);
  await userEvent.click(screen.getByText("quickly"));
  expect(await screen.findByText("scenario=refund&model=gpt&verdict=failed")).toBeTruthy();
  await userEvent.click(screen.getByText("elsewhere"));
  await userEvent.click(screen.getByText("any model"));
  expect(await screen.findByText("verdict=open")).toBeTruthy();
});
