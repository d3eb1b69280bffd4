import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { Link, NavLink, Outlet, ScrollRestoration, useLocation, useNavigation } from "react-router";
import { api } from "@/api/client";
import { useLoginNeeded } from "@/api/login";
import { queries } from "@/api/queries";
import { Button } from "@/components/Button";
import { VisibleText } from "@/components/VisibleText";
import { ForRole } from "@/features/account/roles";
import { DraftProvider } from "@/features/playbooks/evaluate/draft";
import { LoginScreen } from "./LoginScreen";
import { type NavigationGroup, navigationFrom, SCENARIOS } from "./navigation";
import { useTheme } from "./theme";

export function Shell() {
  const main = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  const busy = useNavigation().state !== "idle";
  const loginNeeded = useLoginNeeded();
  const previousPathname = useRef(pathname);
  useEffect(() => {
    if (previousPathname.current !== pathname) main.current?.focus({ preventScroll: true });
    previousPathname.current = pathname;
  }, [pathname]);
  return (
    <DraftProvider>
      <div inert={loginNeeded}>
        <a
          href="#main"
          className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-30 focus:rounded focus:bg-card focus:px-3 focus:py-2 focus:text-link"
        >
          Skip to content
        </a>
        <div className="lg:grid lg:min-h-screen lg:grid-cols-[13rem_minmax(0,1fr)]">
          <Sidebar />
          <div className="flex min-w-0 flex-col">
            <main
              id="main"
              ref={main}
              tabIndex={-1}
              aria-busy={busy}
              className="mx-auto w-full max-w-[92rem] flex-1 px-4 py-6 outline-none sm:px-8 lg:py-9 print:p-0"
            >
              <Outlet />
            </main>
            <Footer />
          </div>
        </div>
      </div>
      {loginNeeded ? <LoginScreen /> : null}
      <ScrollRestoration />
    </DraftProvider>
  );
}

function Sidebar() {
  const { theme, next } = useTheme();
  const { pathname } = useLocation();
  const session = useQuery({ ...queries.session(), staleTime: Number.POSITIVE_INFINITY });
  // Until the server has answered, the address tells: a login leads to the first page.
  const home = session.data?.home ?? (pathname.startsWith("/scenarios") ? "/scenarios" : "/");
  const showsScenarios = useShowsScenarios(home, pathname);
  // Loading the page anew drops everything that it held in memory.
  const logOut = useMutation({ mutationFn: api.logOut, onSuccess: () => window.location.assign("/login") });
  return (
    <header className="border-rule border-b lg:sticky lg:top-0 lg:h-screen lg:border-r lg:border-b-0 print:hidden">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-3 lg:h-full lg:flex-col lg:items-stretch lg:px-5 lg:py-8">
        <Link to={home} className="font-semibold font-serif text-2xl text-ink no-underline">
          Salvo
        </Link>
        <nav aria-label="Main" className="order-last w-full lg:order-none lg:mt-6">
          {navigationFrom(home).map((group) =>
            group.title === SCENARIOS && !showsScenarios ? (
              <details key={group.title} className="lg:mb-6">
                <summary className="cursor-pointer px-2 py-1 text-[0.8rem] text-soft lg:px-3">{group.title}</summary>
                <GroupLinks group={group} />
              </details>
            ) : (
              <div key={group.title} className="flex flex-wrap items-baseline lg:mb-6 lg:block">
                <p className="hidden w-24 px-2 text-[0.8rem] text-soft sm:block lg:w-auto lg:px-3 lg:pb-1">
                  {group.title}
                </p>
                <GroupLinks group={group} />
              </div>
            ),
          )}
        </nav>
        <div className="ml-auto flex flex-wrap lg:mt-auto lg:ml-0 lg:flex-col lg:items-start">
          <Button variant="text" className="px-2 text-sm lg:px-3" onClick={next}>
            Theme: {theme}
          </Button>
          {session.data?.authenticated ? (
            <Link to="/account" className="max-w-full truncate rounded px-2 py-1.5 text-link text-sm underline lg:px-3">
              <VisibleText>{session.data.user}</VisibleText>
            </Link>
          ) : null}
          <Button variant="text" className="px-2 text-sm lg:px-3" onClick={() => logOut.mutate()}>
            {logOut.isError ? "Log out (failed, try again)" : "Log out"}
          </Button>
        </div>
      </div>
    </header>
  );
}

function GroupLinks({ group }: { group: NavigationGroup }) {
  return (
    <ul className="flex flex-wrap gap-x-1 lg:flex-col">
      {group.links.map(({ to, text, role }) => (
        <ForRole key={to} needs={role ?? "reader"}>
          <li>
            <NavLink
              to={to}
              end
              className={({ isActive }) =>
                `block rounded px-2 py-1 text-ink no-underline hover:bg-well lg:px-3 ${isActive ? "bg-well font-semibold" : ""}`
              }
            >
              {text}
            </NavLink>
          </li>
        </ForRole>
      ))}
    </ul>
  );
}

/** Whether there is something to see of scenarios. Until then, their part of the sidebar is folded away. */
function useShowsScenarios(home: string, pathname: string): boolean {
  const { data } = useQuery({ ...queries.anyBatch(), staleTime: 60_000 });
  return home === "/scenarios" || pathname.startsWith("/scenarios") || Boolean(data?.rows.length);
}

function Footer() {
  return (
    <footer className="mx-auto w-full max-w-[92rem] px-4 pb-6 text-sm text-soft sm:px-8">
      <p className="border-rule border-t pt-4">BYOP (Bring Your Own Playbook) by Vasile Tiple, CC BY 4.0.</p>
    </footer>
  );
}
