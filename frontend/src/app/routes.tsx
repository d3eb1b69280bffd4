import { createBrowserRouter, type RouteObject } from "react-router";
import { Loading } from "@/components/states";
import { EvaluatePage } from "@/features/playbooks/evaluate/EvaluatePage";
import { NotFound } from "./NotFound";
import { Shell } from "./Shell";

/** The first page is part of the initial load; the others are loaded when they are first visited. */
const routes: RouteObject[] = [
  {
    element: <Shell />,
    errorElement: <NotFound />,
    hydrateFallbackElement: <Loading label="the page" />,
    children: [
      { index: true, element: <EvaluatePage /> },
      {
        path: "evaluations/:id",
        lazy: async () => ({ Component: (await import("@/features/playbooks/progress/ProgressPage")).ProgressPage }),
      },
      {
        path: "reports/:id",
        lazy: async () => ({ Component: (await import("@/features/playbooks/report/ReportPage")).ReportPage }),
      },
      {
        path: "history",
        lazy: async () => ({ Component: (await import("@/features/playbooks/history/HistoryPage")).HistoryPage }),
      },
      {
        path: "compare",
        lazy: async () => ({
          Component: (await import("@/features/playbooks/compare/CompareReportsPage")).CompareReportsPage,
        }),
      },
      {
        path: "timeline",
        lazy: async () => ({ Component: (await import("@/features/playbooks/timeline/TimelinePage")).TimelinePage }),
      },
      {
        path: "playbooks",
        lazy: async () => ({ Component: (await import("@/features/playbooks/library/PlaybooksPage")).PlaybooksPage }),
      },
      {
        path: "scenarios",
        lazy: async () => ({ Component: (await import("@/features/scenarios/list/ScenariosPage")).ScenariosPage }),
      },
      {
        path: "scenarios/batches/:id",
        lazy: async () => ({ Component: (await import("@/features/scenarios/batch/BatchPage")).BatchPage }),
      },
      {
        path: "scenarios/runs/:id",
        lazy: async () => ({ Component: (await import("@/features/scenarios/run/RunPage")).RunPage }),
      },
      {
        path: "scenarios/runs/:a/beside/:b",
        lazy: async () => ({
          Component: (await import("@/features/scenarios/compare-runs/CompareRunsPage")).CompareRunsPage,
        }),
      },
      {
        path: "scenarios/compare",
        lazy: async () => ({
          Component: (await import("@/features/scenarios/compare-batches/CompareBatchesPage")).CompareBatchesPage,
        }),
      },
      { path: "*", element: <NotFound /> },
    ],
  },
];

export const router = createBrowserRouter(routes);
