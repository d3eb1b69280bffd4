/** How long an evaluation still takes. Pure. */

/** Answers that must have arrived before their pace says anything. */
const MIN_ANSWERS = 2;

/** Seconds at the pace of the answers that were seen; null while there are too few of them. */
export function remainingSeconds(
  watched: number,
  answers: number,
  { done, total }: { done: number; total: number },
): number | null {
  if (answers < MIN_ANSWERS || watched <= 0 || done >= total) return null;
  return Math.ceil(((total - done) * watched) / answers);
}

/** "48 s", "3 min 05 s", "1 h 02 min". */
export function formatClock(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${String(seconds % 60).padStart(2, "0")} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}
