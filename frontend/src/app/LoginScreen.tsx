import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useLayoutEffect, useRef } from "react";
import { api } from "@/api/client";
import { setLoginNeeded } from "@/api/login";
import { queries } from "@/api/queries";
import { Details } from "@/components/Details";
import { OidcLogin } from "@/features/account/OidcLogin";
import { PasswordLogin } from "@/features/account/PasswordLogin";

const POLL_MILLISECONDS = 2000;
const TITLE = "Log in – Salvo";

/** Covers the page, which stays mounted, until this browser is logged in: in this tab or in another. */
export function LoginScreen() {
  const heading = useRef<HTMLHeadingElement>(null);
  const previousFocus = useRef<Element | null>(null);
  const client = useQueryClient();
  useLayoutEffect(() => {
    previousFocus.current = document.activeElement;
  }, []);
  useEffect(() => {
    const previousTitle = document.title;
    document.title = TITLE;
    heading.current?.focus();
    return () => {
      if (document.title === TITLE) document.title = previousTitle;
      if (previousFocus.current instanceof HTMLElement) previousFocus.current.focus({ preventScroll: true });
    };
  }, []);
  const options = useQuery(queries.loginOptions());
  const resume = useCallback(() => {
    setLoginNeeded(false);
    client.invalidateQueries();
  }, [client]);
  useEffect(() => {
    const check = () => void api.session().then(resume, () => undefined);
    const timer = setInterval(check, POLL_MILLISECONDS);
    window.addEventListener("focus", check);
    return () => {
      clearInterval(timer);
      window.removeEventListener("focus", check);
    };
  }, [resume]);
  return (
    <main className="fixed inset-0 z-40 overflow-auto bg-paper">
      <div className="mx-auto max-w-2xl px-6 py-12 sm:py-24">
        <p className="font-semibold font-serif text-2xl">Salvo</p>
        <h1 ref={heading} tabIndex={-1} className="mt-8 text-3xl leading-tight outline-none">
          Log in to continue
        </h1>
        {options.data?.provider ? (
          <OidcLogin provider={options.data.provider} isPrimary={!options.data.passwords} />
        ) : null}
        {options.data?.passwords ? <PasswordLogin onLoggedIn={resume} /> : null}
        {options.data?.passwords || options.data?.provider ? (
          <>
            <p className="mt-6 max-w-prose text-soft">
              A login ends after twelve hours without use, after seven days, and when you log out.
              {options.data.passwords
                ? " While you log in with a password, this tab keeps everything that is entered in it. If you forgot your password, ask an administrator for a new one."
                : null}
            </p>
            <div className="mt-4">
              <Details title="For whoever runs the server">
                <PrintedAddress />
              </Details>
            </div>
          </>
        ) : (
          <>
            <div className="mt-4">
              <PrintedAddress />
            </div>
            <p className="mt-3 max-w-prose text-soft">
              A login ends after twelve hours without use, after seven days, when you log out, and when the server
              stops. You can leave this tab open: it continues by itself after you log in, with everything that is
              entered in it.
            </p>
          </>
        )}
      </div>
    </main>
  );
}

function PrintedAddress() {
  return (
    <p className="max-w-prose">
      Open the newest address that the server printed in its terminal, in this browser. Each address works once; when it
      is used or has expired, the server prints another.
    </p>
  );
}
