import { useQuery } from "@tanstack/react-query";
import { queries } from "@/api/queries";
import { useSharedReview } from "./sharedView";

/** The name of the user who is logged in; null if nobody logged in with a name. */
export function useUserName(): string | null {
  const isShared = useSharedReview() !== null;
  const { data } = useQuery({ ...queries.session(), staleTime: Number.POSITIVE_INFINITY, enabled: !isShared });
  return data?.authenticated ? data.user : null;
}
