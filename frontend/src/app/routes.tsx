import { createBrowserRouter, type RouteObject } from "react-router";
import { Loading } from "@/components/states";
import { EvaluatePage } from "@/features/playbooks/evaluate/EvaluatePage";
import { Lost } from "./Lost";
import { Shell } from "./Shell";

/** The first page comes with the first load; each other when it is first gone to. */
const routes: RouteObject[] = [
  {
    element: <Shell />,
    errorElement: <Lost />,
    hydrateFallbackElement: <Loading what="the page" />,
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
        lazy: async () => ({ Component: (await import("@/features/playbooks/compare/ComparePage")).ComparePage }),
      },
      {
        path: "timeline",
        lazy: async () => ({ Component: (await import("@/features/playbooks/timeline/TimelinePage")).TimelinePage }),
      },
      {
        path: "playbooks",
        lazy: async () => ({ Component: (await import("@/features/playbooks/library/PlaybooksPage")).PlaybooksPage }),
      },
      { path: "*", element: <Lost /> },
    ],
  },
];

export const router = createBrowserRouter(routes);
