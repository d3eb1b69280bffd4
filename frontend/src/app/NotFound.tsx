import { useLocation, useRouteError } from "react-router";
import { ButtonLink } from "@/components/Button";
import { PageTitle } from "@/components/layout";
import { ErrorNotice } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { ForRole } from "@/features/account/roles";

/** Shown for an unknown address, and when a page fails to render. */
export function NotFound() {
  const error = useRouteError();
  const { pathname } = useLocation();
  if (error) {
    return (
      <div className="mx-auto max-w-2xl p-6">
        <PageTitle>This page failed</PageTitle>
        <ErrorNotice error={error} onRetry={() => window.location.reload()} />
        <WaysOut>
          <ButtonLink to="/">Evaluate a text</ButtonLink>
        </WaysOut>
      </div>
    );
  }
  const lead = (
    <>
      There is no page at{" "}
      <code className="[overflow-wrap:anywhere]">
        <VisibleText>{pathname}</VisibleText>
      </code>
      . The address may be mistyped or incomplete.
    </>
  );
  return (
    <>
      <PageTitle lead={lead}>Page not found</PageTitle>
      <WaysOut>
        <ForRole needs="reviewer">
          <ButtonLink to="/">Evaluate a text</ButtonLink>
        </ForRole>
      </WaysOut>
    </>
  );
}

function WaysOut({ children }: { children: React.ReactNode }) {
  return (
    <p className="mt-4 flex flex-wrap gap-3">
      {children}
      <ButtonLink to="/history">History</ButtonLink>
      <ButtonLink to="/scenarios">Batches of runs</ButtonLink>
    </p>
  );
}
