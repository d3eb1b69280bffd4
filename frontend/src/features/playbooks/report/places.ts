import type { Location, Report } from "@/api/types";
import type { Kind, Place } from "./frozen/segments";

/** Everything in the text that the report points at. Checks are numbered from 1, as their cards are. */
export function placesOf(report: Report): Place[] {
  const found: Place[] = [];
  const add = (location: Location | null, kind: Kind, check = 0) => {
    if (location) found.push({ start: location.start, end: location.end, kind, check });
  };
  report.check_results.forEach((check, index) => {
    for (const quote of check.evidence_citations) add(quote.location, "evidence", index + 1);
    for (const one of check.dissent)
      for (const quote of one.evidence_citations) add(quote.location, "evidence", index + 1);
    for (const hit of check.pattern_hits) add(hit.location, "mention", index + 1);
  });
  for (const finding of report.artifact_findings) add(finding.location, "finding");
  for (const one of report.assumptions_extracted) add(one.location, "mention");
  for (const one of report.unchecked_areas) add(one.location, "mention");
  return found;
}
