import { useRouteError } from "react-router";
import { ButtonLink } from "@/components/Button";
import { PageTitle } from "@/components/layout";
import { ErrorNotice } from "@/components/states";

/** At an address where nothing is, or where the page itself failed. */
export function NotFound() {
  const error = useRouteError();
  return (
    <div className="mx-auto max-w-2xl p-6">
      <PageTitle>{error ? "This page failed" : "There is nothing at this address"}</PageTitle>
      {error ? <ErrorNotice error={error} onRetry={() => window.location.reload()} /> : null}
      <p className="mt-4 flex flex-wrap gap-3">
        <ButtonLink to="/">Evaluate a text</ButtonLink>
        <ButtonLink to="/history">History</ButtonLink>
        <ButtonLink to="/scenarios">Batches of runs</ButtonLink>
      </p>
    </div>
  );
}
