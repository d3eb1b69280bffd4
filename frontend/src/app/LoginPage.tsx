import { useQuery } from "@tanstack/react-query";
import { Navigate } from "react-router";
import { queries } from "@/api/queries";
import { ErrorNotice, Loading } from "@/components/states";

/** Shown at /login when the code of the address is missing, wrong or used. A browser with a session goes on. */
export function LoginPage() {
  const session = useQuery(queries.session());
  if (session.isSuccess) return <Navigate to="/" replace />;
  if (session.isError) return <ErrorNotice error={session.error} onRetry={() => session.refetch()} />;
  return <Loading label="the page" />;
}
