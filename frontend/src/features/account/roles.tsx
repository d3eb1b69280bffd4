import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Navigate, Outlet, useLocation } from "react-router";
import { queries } from "@/api/queries";
import type { Role } from "@/api/types";
import { TextLink } from "@/components/Button";
import { PageTitle } from "@/components/layout";
import { useSharedReview } from "./sharedView";

/** Each includes those before it. */
const ROLES: readonly Role[] = ["reader", "reviewer", "admin"];

/** Whether who is logged in may do what needs this role. The server decides; the page hides what it would refuse. */
export function useHasRole(role: Role): boolean {
  const isShared = useSharedReview() !== null;
  const { data } = useQuery({ ...queries.session(), staleTime: Number.POSITIVE_INFINITY, enabled: !isShared });
  if (isShared) return role === "reader";
  return !data || ROLES.indexOf(data.role) >= ROLES.indexOf(role);
}

/** What only people with this role see. */
export function ForRole({ needs, children }: { needs: Role; children: ReactNode }) {
  return useHasRole(needs) ? children : null;
}

/** Pages for people with this role. Others get to the history from the first page, and are told why from the rest. */
export function PagesForRole({ needs }: { needs: Role }) {
  const { pathname } = useLocation();
  if (useHasRole(needs)) return <Outlet />;
  if (pathname === "/") return <Navigate to="/history" replace />;
  return (
    <>
      <PageTitle lead="You can read and export. Ask an administrator of this server for another role.">
        {`This page needs the role ${needs}`}
      </PageTitle>
      <TextLink to="/history">All evaluations</TextLink>
    </>
  );
}
