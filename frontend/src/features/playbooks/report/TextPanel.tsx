import { useCallback, useDeferredValue, useEffect, useId, useMemo, useRef, useState } from "react";
import type { Location, OutlinePart, Report, ReportLabels, StoredReport } from "@/api/types";
import { badgeTone } from "@/components/Badge";
import { Button } from "@/components/Button";
import { ScrollRegion } from "@/components/layout";
import { pluralize } from "@/lib/format";
import { FindInText } from "./frozen/FindInText";
import { FrozenText, MAX_WHOLE, type Target } from "./frozen/FrozenText";
import { findMatches } from "./frozen/matches";
import { type Place, toUtf16Places, utf16Offsets } from "./frozen/segments";
import { structureByLine } from "./frozen/structure";
import { reportPlaces, resultsByCheck, stops } from "./places";

interface TextPanelProps {
  stored: StoredReport;
  text: string;
  outline: readonly OutlinePart[];
  /** The passage that was asked for elsewhere on the page. */
  asked: Location | null;
  onCheck: (number: number) => void;
}

/** The evaluated text: marks by result, a filter by check, steps from finding to finding, and a map of all of them. */
export function TextPanel({ stored, text, outline, asked, onCheck }: TextPanelProps) {
  const { report, labels } = stored;
  const scroller = useRef<HTMLElement>(null);
  const [check, setCheck] = useState<number | null>(null);
  const all = useMemo(() => toUtf16Places(text, reportPlaces(report)), [text, report]);
  const results = useMemo(() => resultsByCheck(report), [report]);
  const structure = useMemo(() => structureByLine(text, outline), [text, outline]);
  const listed = useMemo(() => stops(all, check), [all, check]);
  const [query, setQuery] = useState("");
  const searched = useDeferredValue(query);
  const matches = useMemo(() => findMatches(text, searched), [text, searched]);
  const places = useMemo(
    () => [...all.filter((place) => check === null || place.check === check), ...matches],
    [all, check, matches],
  );
  const [target, setTarget] = useState<Target | null>(null);
  useEffect(() => {
    const start = asked && utf16Offsets(text, [asked.start]).get(asked.start);
    if (typeof start !== "number") return;
    setCheck(null); // the passage may belong to a check that is filtered out
    setTarget({ start });
  }, [asked, text]);
  const position = indexOf(listed, target);
  const match = indexOf(matches, target);
  const step = useCallback((by: 1 | -1) => setTarget((current) => next(listed, current, by) ?? current), [listed]);
  const stepMatch = useCallback(
    (by: 1 | -1) => setTarget((current) => next(matches, current, by) ?? current),
    [matches],
  );
  useStepKeys(step);
  return (
    <>
      <div className="mb-2 flex flex-wrap items-center gap-x-4 gap-y-2 print:hidden">
        <CheckFilter report={report} labels={labels} value={check} onChange={setCheck} />
        <div className="flex items-center gap-2">
          <Button className="px-2 py-0.5 text-sm" onClick={() => step(-1)} disabled={!listed.length}>
            Previous <kbd>p</kbd>
          </Button>
          <Button className="px-2 py-0.5 text-sm" onClick={() => step(1)} disabled={!listed.length}>
            Next <kbd>n</kbd>
          </Button>
          <span role="status" className="text-sm text-soft">
            {position < 0 ? pluralize(listed.length, "finding") : `Finding ${position + 1} of ${listed.length}`}
          </span>
        </div>
        <FindInText query={query} onQuery={setQuery} matches={matches.length} current={match} onStep={stepMatch} />
      </div>
      <p className="mb-2 text-sm text-soft">
        Evidence is highlighted in the colour of its result, with the sign and the number of its check. Other places
        that the report mentions are underlined.
      </p>
      <div className="flex xl:min-h-0 xl:flex-1 print:block">
        <ScrollRegion
          ref={scroller}
          label="Text with evidence highlighted"
          className={`relative min-w-0 flex-1 rounded border border-rule bg-card py-4 pr-5 xl:overflow-y-auto print:max-h-none print:overflow-visible print:border-0 ${text.length > MAX_WHOLE ? "max-h-[75vh] overflow-y-auto xl:max-h-none" : ""}`}
        >
          <FrozenText
            text={text}
            places={places}
            structure={structure}
            results={results}
            target={target}
            onCheck={onCheck}
            scroller={scroller}
          />
        </ScrollRegion>
        <Minimap
          places={listed}
          length={text.length}
          toneOf={(place) => {
            const result = results.get(place.check);
            return result ? badgeTone(result) : "red";
          }}
          current={target?.start ?? null}
          onPlace={(place) => setTarget({ start: place.start })}
        />
      </div>
    </>
  );
}

function indexOf(places: readonly Place[], target: Target | null): number {
  return target ? places.findIndex((place) => place.start === target.start) : -1;
}

/** The nearest place after or before the current one, round the ends of the text. */
function next(places: readonly Place[], current: Target | null, by: 1 | -1): Target | null {
  const from = current?.start ?? -1;
  const place =
    by > 0
      ? (places.find(({ start }) => start > from) ?? places[0])
      : (places.findLast(({ start }) => start < from) ?? places.at(-1));
  return place ? { start: place.start } : null;
}

interface CheckFilterProps {
  report: Report;
  labels: ReportLabels;
  value: number | null;
  onChange: (check: number | null) => void;
}

function CheckFilter({ report, labels, value, onChange }: CheckFilterProps) {
  const id = useId();
  return (
    <div className="flex items-center gap-2 text-sm">
      <label htmlFor={id}>Show</label>
      <select
        id={id}
        className="field w-auto max-w-64 py-0.5"
        value={value ?? ""}
        onChange={(event) => onChange(event.target.value ? Number(event.target.value) : null)}
      >
        <option value="">all checks</option>
        {report.check_results.map((check, index) =>
          check.decided_by === "derived" ? null : (
            <option key={check.check_id} value={index + 1}>
              {index + 1}. {labels.checks[check.check_id]?.title ?? check.check_id}
            </option>
          ),
        )}
      </select>
    </div>
  );
}

/** `n` and `p` step through the findings, unless the user is typing. */
function useStepKeys(step: (by: 1 | -1) => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const element = event.target instanceof Element ? event.target : null;
      if (element?.closest("input, textarea, select, [contenteditable]")) return;
      if (event.key === "n") step(1);
      else if (event.key === "p") step(-1);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [step]);
}

interface MinimapProps {
  places: readonly Place[];
  /** Of the text. */
  length: number;
  toneOf: (place: Place) => string;
  current: number | null;
  onPlace: (place: Place) => void;
}

/** More marks than this cannot be told apart on a screen. */
const MAX_TICKS = 300;

/** Where the findings are in the text. For the mouse: the stepper does the same by keyboard. */
function Minimap({ places, length, toneOf, current, onPlace }: MinimapProps) {
  const ticks = useMemo(() => {
    const byHeight = new Map<number, Place>();
    for (const place of places) byHeight.set(Math.round((place.start / Math.max(length, 1)) * MAX_TICKS), place);
    return [...byHeight.entries()];
  }, [places, length]);
  if (!places.length) return null;
  return (
    <div
      aria-hidden="true"
      data-testid="minimap"
      className="relative ml-1 hidden w-4 shrink-0 rounded bg-well xl:block print:hidden"
    >
      {ticks.map(([height, place]) => (
        <button
          key={height}
          type="button"
          tabIndex={-1}
          data-tone={toneOf(place)}
          className={`absolute right-0 left-0 h-1.5 rounded-sm bg-(--tone) ${place.start === current ? "outline-2 outline-ink" : ""}`}
          style={{ top: `calc(${(height / MAX_TICKS) * 100}% - ${(height / MAX_TICKS) * 6}px)` }}
          onClick={() => onPlace(place)}
        />
      ))}
    </div>
  );
}
