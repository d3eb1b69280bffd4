import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Navigate } from "react-router";
import { api } from "@/api/client";
import { ButtonLink } from "@/components/Button";
import { ErrorNotice, Loading } from "@/components/states";

/** Where the login provider sends the browser to. What is in the address is handed to the server, once. */
export function OidcReturnPage() {
  const [answer] = useState(() => new URLSearchParams(window.location.search));
  const state = answer.get("state");
  // A query, because an effect runs twice in development, and the server accepts the answer once.
  const login = useQuery({
    queryKey: ["oidc", state],
    queryFn: () =>
      api.finishOidcLogin({
        state: state ?? "",
        code: answer.get("code"),
        error: answer.get("error"),
        iss: answer.get("iss"),
      }),
    enabled: state !== null,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  useEffect(() => {
    document.title = "Log in – Salvo";
    window.history.replaceState(window.history.state, "", window.location.pathname); // the code stays in no history
  }, []);
  if (login.isSuccess) return <Navigate to={login.data.return_to} replace />;
  return (
    <main className="mx-auto max-w-2xl px-6 py-12 sm:py-24">
      <p className="font-semibold font-serif text-2xl">Salvo</p>
      <h1 className="mt-8 mb-4 text-3xl leading-tight">{login.isFetching ? "Logging in" : "You are not logged in"}</h1>
      {login.isError ? <ErrorNotice error={login.error} /> : null}
      {state === null ? (
        <p>
          {answer.has("error")
            ? "The login provider did not log you in, or you cancelled it."
            : "This page works only when the login provider opens it."}
        </p>
      ) : null}
      {login.isFetching ? (
        <Loading label="the answer of the login provider" />
      ) : (
        <p className="mt-6">
          <ButtonLink to="/" variant="primary">
            Back to the login
          </ButtonLink>
        </p>
      )}
    </main>
  );
}
