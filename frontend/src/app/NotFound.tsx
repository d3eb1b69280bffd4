import { useRouteError } from "react-router";
import { ButtonLink } from "@/components/Button";
import { PageTitle } from "@/components/layout";
import { ErrorNotice } from "@/components/states";

/** Shown for an unknown address, and when a page fails to render. */
export function NotFound() {
  const error = useRouteError();
  return (
    <div className="mx-auto max-w-2xl p-6">
      <PageTitle>{error ? "This page failed" : "Page not found"}</PageTitle>
      {error ? <ErrorNotice error={error} onRetry={() => window.location.reload()} /> : null}
      <p className="mt-4 flex flex-wrap gap-3">
        <ButtonLink to="/">Evaluate a text</ButtonLink>
        <ButtonLink to="/history">History</ButtonLink>
        <ButtonLink to="/scenarios">Batches of runs</ButtonLink>
      </p>
    </div>
  );
}
