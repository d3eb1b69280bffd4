/** Whether the page shows a shared report, to somebody who need not be logged in: it then asks for nothing else. */
import { createContext, useContext } from "react";
import type { ReportReview } from "@/api/types";

/** The review of the shared report; null on every other page. */
export const SharedReviewContext = createContext<ReportReview | null>(null);

export function useSharedReview(): ReportReview | null {
  return useContext(SharedReviewContext);
}
