import { useRouteError } from "react-router";
import { ButtonLink } from "@/components/Button";
import { PageTitle } from "@/components/layout";
import { Failure } from "@/components/states";

/** At an address where nothing is, or where the page itself failed. */
export function Lost() {
  const fault = useRouteError();
  return (
    <div className="mx-auto max-w-2xl p-6">
      <PageTitle>{fault ? "This page failed" : "There is nothing at this address"}</PageTitle>
      {fault ? <Failure fault={fault} retry={() => window.location.reload()} /> : null}
      <p className="mt-4 flex flex-wrap gap-3">
        <ButtonLink to="/">Evaluate a text</ButtonLink>
        <ButtonLink to="/history">History</ButtonLink>
        <ButtonLink to="/scenarios">Batches of runs</ButtonLink>
      </p>
    </div>
  );
}
