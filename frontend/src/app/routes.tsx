import { createBrowserRouter, type RouteObject } from "react-router";
import { Loading } from "@/components/states";
import { PagesForRole } from "@/features/account/roles";
import { EvaluatePage } from "@/features/playbooks/evaluate/EvaluatePage";
import { LoginPage } from "./LoginPage";
import { NotFound } from "./NotFound";
import { Shell } from "./Shell";

/** A page that is loaded when it is first visited. */
function lazyRoute(path: string, load: () => Promise<React.ComponentType>): RouteObject {
  return { path, lazy: async () => ({ Component: await load() }) };
}

/** The first page is part of the initial load; the others are loaded when they are first visited. */
const routes: RouteObject[] = [
  {
    errorElement: <NotFound />,
    hydrateFallbackElement: <Loading label="the page" />,
    children: [
      lazyRoute("shared", async () => (await import("@/features/playbooks/sharing/SharedPage")).SharedPage),
      lazyRoute("login/oidc", async () => (await import("@/features/account/OidcReturnPage")).OidcReturnPage),
    ],
  },
  {
    element: <Shell />,
    errorElement: <NotFound />,
    hydrateFallbackElement: <Loading label="the page" />,
    children: [
      {
        element: <PagesForRole needs="reviewer" />,
        children: [
          { index: true, element: <EvaluatePage /> },
          lazyRoute("review", async () => (await import("@/features/playbooks/review/QueuePage")).QueuePage),
          lazyRoute(
            "review/blind",
            async () => (await import("@/features/playbooks/blind/BlindReviewPage")).BlindReviewPage,
          ),
          lazyRoute("playbooks/new", async () => (await import("@/features/playbooks/editor/EditorPage")).EditorPage),
          lazyRoute(
            "playbooks/:id/edit",
            async () => (await import("@/features/playbooks/editor/EditorPage")).EditorPage,
          ),
          lazyRoute(
            "scenarios/batches/:id/review",
            async () => (await import("@/features/scenarios/review/ReviewPage")).ReviewPage,
          ),
        ],
      },
      lazyRoute(
        "evaluations/:id",
        async () => (await import("@/features/playbooks/progress/ProgressPage")).ProgressPage,
      ),
      lazyRoute("reports/:id", async () => (await import("@/features/playbooks/report/ReportPage")).ReportPage),
      lazyRoute("documents", async () => (await import("@/features/playbooks/documents/DocumentsPage")).DocumentsPage),
      lazyRoute(
        "documents/:id",
        async () => (await import("@/features/playbooks/documents/DocumentBatchPage")).DocumentBatchPage,
      ),
      lazyRoute("history", async () => (await import("@/features/playbooks/history/HistoryPage")).HistoryPage),
      lazyRoute(
        "compare",
        async () => (await import("@/features/playbooks/compare/CompareReportsPage")).CompareReportsPage,
      ),
      lazyRoute("audit", async () => (await import("@/features/playbooks/audit/AuditPage")).AuditPage),
      lazyRoute("timeline", async () => (await import("@/features/playbooks/timeline/TimelinePage")).TimelinePage),
      lazyRoute("playbooks", async () => (await import("@/features/playbooks/library/PlaybooksPage")).PlaybooksPage),
      lazyRoute(
        "playbooks/:id/versions",
        async () => (await import("@/features/playbooks/editor/VersionsPage")).VersionsPage,
      ),
      lazyRoute("scenarios", async () => (await import("@/features/scenarios/list/ScenariosPage")).ScenariosPage),
      lazyRoute("scenarios/batches/:id", async () => (await import("@/features/scenarios/batch/BatchPage")).BatchPage),
      lazyRoute(
        "scenarios/batches/:id/grid",
        async () => (await import("@/features/scenarios/grid/GridPage")).GridPage,
      ),
      lazyRoute("scenarios/runs/:id", async () => (await import("@/features/scenarios/run/RunPage")).RunPage),
      lazyRoute(
        "scenarios/runs/:a/beside/:b",
        async () => (await import("@/features/scenarios/compare-runs/CompareRunsPage")).CompareRunsPage,
      ),
      lazyRoute(
        "scenarios/compare",
        async () => (await import("@/features/scenarios/compare-batches/CompareBatchesPage")).CompareBatchesPage,
      ),
      lazyRoute("account", async () => (await import("@/features/account/AccountPage")).AccountPage),
      { path: "login", element: <LoginPage /> },
      { path: "*", element: <NotFound /> },
    ],
  },
];

export const router = createBrowserRouter(routes);
