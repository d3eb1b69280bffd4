import type { Location, Report, Result } from "@/api/types";
import type { Kind, Place } from "./frozen/segments";

/** All places in the text that the report refers to. Checks are numbered from 1, as on their cards. */
export function reportPlaces(report: Report): Place[] {
  const places: Place[] = [];
  const add = (location: Location | null, kind: Kind, check = 0) => {
    if (location) places.push({ start: location.start, end: location.end, kind, check });
  };
  report.check_results.forEach((check, index) => {
    const dissenting = check.dissent.flatMap((dissent) => dissent.evidence_citations);
    for (const citation of [...check.evidence_citations, ...dissenting])
      for (const location of [citation.location, ...citation.other_locations]) add(location, "evidence", index + 1);
    for (const hit of check.pattern_hits) add(hit.location, "mention", index + 1);
  });
  for (const finding of report.artifact_findings) add(finding.location, "finding");
  for (const assumption of report.assumptions_extracted) add(assumption.location, "mention");
  for (const area of report.unchecked_areas) add(area.location, "mention");
  return places;
}

/** The results by the number of the check, for the colours of the marks. */
export function resultsByCheck(report: Report): ReadonlyMap<number, Result> {
  return new Map(report.check_results.map((check, index) => [index + 1, check.result]));
}

/** The places that a reader steps through: evidence and findings, of one check or of all. Sorted, without duplicates. */
export function stops(places: readonly Place[], check: number | null): Place[] {
  const shown = places.filter((place) => place.kind !== "mention" && (check === null || place.check === check));
  const byStart = new Map<number, Place>();
  for (const place of shown) if (!byStart.has(place.start)) byStart.set(place.start, place);
  return [...byStart.values()].sort((a, b) => a.start - b.start);
}
