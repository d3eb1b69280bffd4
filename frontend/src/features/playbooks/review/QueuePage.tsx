import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { queries } from "@/api/queries";
import type { QueueItem, QueueQuery } from "@/api/types";
import { Badge, Label } from "@/components/Badge";
import { Button, TextLink } from "@/components/Button";
import { FilterSelect } from "@/components/Filter";
import { PageTitle } from "@/components/layout";
import { Pagination } from "@/components/Pagination";
import { SelectField } from "@/components/SelectField";
import { Empty, ErrorNotice, Loading, Notice } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { checkTitle, formatTime, pluralize } from "@/lib/format";
import { useFilters } from "@/lib/useFilters";
import { NameField } from "./forms";
import { QueueDetail } from "./QueueDetail";
import { useReviewerName, useShortcuts } from "./reviewer";
import { useKeys } from "./useKeys";

const LIMIT = 50;
const LEAD = (
  <>
    The checks that wait for a person’s decision. Where reviewers or judges disagree comes first, then what failed.
    Every decision is recorded with your name beside the evaluator’s own result. To decide without seeing it, go to the{" "}
    <TextLink to="/review/blind">blind review</TextLink>.
  </>
);

type Filters = Required<Pick<QueueQuery, "show" | "result" | "assigned">> & { subject: string; disagreements: string };

function filtersFrom(params: URLSearchParams): Filters {
  return {
    show: (params.get("show") ?? "waiting") as Filters["show"],
    result: (params.get("result") ?? "concerns") as Filters["result"],
    assigned: (params.get("assigned") ?? "anybody") as Filters["assigned"],
    subject: params.get("subject") ?? "",
    disagreements: params.get("disagreements") ?? "",
  };
}

function toQuery(filters: Filters, me: string, offset: number): QueueQuery {
  const { subject, disagreements, ...rest } = filters;
  return {
    ...rest,
    ...(rest.assigned === "me" || rest.assigned === "me_or_nobody" ? { me } : {}),
    ...(subject ? { subject } : {}),
    ...(disagreements ? { disagreements: true } : {}),
    limit: LIMIT,
    offset,
  };
}

function itemKey(item: QueueItem): string {
  return `${item.report_id} ${item.check_id}`;
}

export function QueuePage() {
  const [params, update] = useFilters();
  const [name] = useReviewerName();
  const filters = filtersFrom(params);
  const offset = Number(params.get("offset")) || 0;
  const { data, error, refetch, isFetching } = useQuery({
    ...queries.reviewQueue(toQuery(filters, name.trim(), offset)),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
  return (
    <>
      <PageTitle lead={LEAD}>Waiting for review</PageTitle>
      <QueueFilters filters={filters} onChange={update} />
      {error ? <ErrorNotice error={error} onRetry={refetch} /> : null}
      {!data && !error ? <Loading label="what waits" /> : null}
      {data ? (
        <div aria-busy={isFetching}>
          <p role="status" className="mb-3 text-soft">
            {data.total
              ? `${pluralize(data.total, "check")} listed, ${data.waiting} waiting for a decision.`
              : "Nothing matches these filters."}
          </p>
          {data.items.length ? <QueueList items={data.items} /> : <NothingWaits filters={filters} onClear={update} />}
          <Pagination
            offset={offset}
            limit={LIMIT}
            more={data.total > offset + data.items.length}
            onChange={update}
            previous="Previous"
            next="Next"
          />
        </div>
      ) : null}
    </>
  );
}

function QueueFilters({ filters, onChange }: { filters: Filters; onChange: (change: Record<string, string>) => void }) {
  const { data: subjects } = useQuery(queries.subjects());
  return (
    <search className="mb-4 flex flex-wrap items-start gap-4">
      <NameField />
      <div className="max-sm:w-full">
        <SelectField
          label="Show"
          value={filters.show}
          onChange={(show) => onChange({ show })}
          options={[
            { value: "waiting", label: "Waiting for a decision" },
            { value: "decided", label: "Decided" },
            { value: "all", label: "All" },
          ]}
        />
      </div>
      <div className="max-sm:w-full">
        <SelectField
          label="Result by the evaluator"
          value={filters.result}
          onChange={(result) => onChange({ result })}
          options={[
            { value: "concerns", label: "Failed, unclear or disputed" },
            { value: "fail", label: "Failed" },
            { value: "indeterminate", label: "Indeterminate" },
            { value: "pass", label: "Passed" },
            { value: "all", label: "Any result" },
          ]}
        />
      </div>
      <div className="max-sm:w-full">
        <SelectField
          label="Assigned to"
          value={filters.assigned}
          onChange={(assigned) => onChange({ assigned })}
          options={[
            { value: "anybody", label: "Anybody" },
            { value: "me_or_nobody", label: "Me or nobody" },
            { value: "me", label: "Me" },
            { value: "nobody", label: "Nobody" },
          ]}
        />
      </div>
      <FilterSelect
        label="Subject"
        allLabel="All subjects"
        value={filters.subject}
        onChange={(subject) => onChange({ subject })}
        options={(subjects ?? []).map(({ name }) => ({ value: name, label: name }))}
      />
      <FilterSelect
        label="Disagreements"
        allLabel="With or without"
        value={filters.disagreements}
        onChange={(disagreements) => onChange({ disagreements })}
        options={[{ value: "only", label: "Only disagreements" }]}
      />
    </search>
  );
}

function NothingWaits({ filters, onClear }: { filters: Filters; onClear: (change: Record<string, string>) => void }) {
  const isDefault = filters.show === "waiting" && filters.result === "concerns" && filters.assigned === "anybody";
  if (isDefault && !filters.subject && !filters.disagreements) {
    return (
      <Empty title="Nothing waits for your decision">
        Checks that failed or are unclear appear here when a text was evaluated.
      </Empty>
    );
  }
  return (
    <Empty title="Nothing matches these filters">
      <Button onClick={() => onClear({ show: "", result: "", assigned: "", subject: "", disagreements: "" })}>
        Clear filters
      </Button>
    </Empty>
  );
}

/** The list beside the check that is selected in it; everything works by keyboard alone. */
function QueueList({ items }: { items: readonly QueueItem[] }) {
  const navigate = useNavigate();
  const [shortcuts, setShortcuts] = useShortcuts();
  const [position, setPosition] = useState(0);
  const [help, setHelp] = useState(false);
  const [done, setDone] = useState("");
  const [chosen, setChosen] = useState(0);
  const list = useRef<HTMLOListElement>(null);
  // A decided check leaves the list, and the next one takes its place.
  const index = Math.min(position, items.length - 1);
  const selected = items[index];
  const focusItem = useCallback((next: number) => {
    setPosition(next);
    list.current?.querySelectorAll<HTMLElement>("button")[next]?.focus();
  }, []);
  const choose = (number: number) => {
    setPosition(number);
    setChosen((count) => count + 1);
  };
  useEffect(() => {
    // On a narrow screen the check is below the list.
    const detail = document.getElementById("queue-detail");
    if (chosen && detail && detail.getBoundingClientRect().top > window.innerHeight) detail.scrollIntoView();
  }, [chosen]);
  useKeys(shortcuts, {
    j: () => focusItem(Math.min(index + 1, items.length - 1)),
    k: () => focusItem(Math.max(index - 1, 0)),
    r: () => selected && navigate(`/reports/${selected.report_id}`),
    "?": () => setHelp((shown) => !shown),
  });
  // After a decision the focus returns to the list, so that the next key works at once.
  const wasDone = useRef(done);
  useEffect(() => {
    if (wasDone.current !== done) list.current?.querySelectorAll<HTMLElement>("button")[index]?.focus();
    wasDone.current = done;
  }, [done, index]);
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-2 text-sm">
        <Button className="text-sm" aria-expanded={help} onClick={() => setHelp(!help)}>
          Keyboard (?)
        </Button>
        <label className="flex items-center gap-2">
          <input type="checkbox" checked={shortcuts} onChange={(event) => setShortcuts(event.target.checked)} />
          Single letters are shortcuts
        </label>
        <span role="status" className="text-soft">
          {done}
        </span>
      </div>
      {help ? <KeyboardHelp /> : null}
      <div className="grid grid-cols-[minmax(0,1fr)] gap-6 xl:grid-cols-[minmax(0,2fr)_minmax(0,3fr)]">
        {/* On a narrow screen the check is below the list, so the list leaves room for it. */}
        <ol
          ref={list}
          aria-label="Checks"
          className="max-h-[40vh] space-y-2 overflow-y-auto p-1 xl:max-h-[75vh] print:max-h-none"
        >
          {items.map((item, number) => (
            <li key={itemKey(item)}>
              <QueueButton item={item} isSelected={number === index} onSelect={() => choose(number)} />
            </li>
          ))}
        </ol>
        <div id="queue-detail" className="min-w-0 scroll-mt-4">
          {selected ? (
            <QueueDetail key={itemKey(selected)} item={selected} shortcuts={shortcuts} onDone={setDone} />
          ) : null}
        </div>
      </div>
    </>
  );
}

function QueueButton({ item, isSelected, onSelect }: { item: QueueItem; isSelected: boolean; onSelect: () => void }) {
  return (
    <button
      type="button"
      aria-current={isSelected ? "true" : undefined}
      onClick={onSelect}
      className={`w-full rounded border px-3 py-2 text-left ${isSelected ? "border-link bg-well" : "border-rule bg-card hover:bg-well"}`}
    >
      <span className="flex flex-wrap items-center gap-2">
        <Badge value={item.evaluator_result} />
        <span className="font-semibold">
          <VisibleText>{checkTitle(item.check_id)}</VisibleText>
        </span>
        {item.standing === "disputed" ? <Label tone="amber">reviewers disagree</Label> : null}
        {item.judges_disagree ? <Label tone="amber">judges disagree</Label> : null}
        {item.votes_split ? <Label tone="amber">votes differ</Label> : null}
        {item.standing === "accepted" || item.standing === "overridden" ? (
          <Label tone="plain">{item.standing === "accepted" ? "accepted" : "changed"}</Label>
        ) : null}
      </span>
      <span className="mt-1 block text-sm text-soft [overflow-wrap:anywhere]">
        <VisibleText>{item.document || item.subject}</VisibleText> · {formatTime(item.created_at)}
        {item.assignee ? ` · for ${item.assignee}` : ""}
        {item.comments ? ` · ${pluralize(item.comments, "comment")}` : ""}
      </span>
    </button>
  );
}

const KEYS: readonly [string, string][] = [
  ["j", "Next check"],
  ["k", "Previous check"],
  ["a", "Accept the evaluator’s result"],
  ["o", "Change the result, with a reason"],
  ["c", "Comment"],
  ["r", "Open the report"],
  ["Escape", "Close a form"],
  ["?", "Show or hide this list"],
];

function KeyboardHelp() {
  return (
    <div className="mb-4">
      <Notice tone="blue">
        <h2 className="mb-1 font-semibold">Keyboard</h2>
        <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
          {KEYS.map(([key, meaning]) => (
            <div key={key} className="contents">
              <dt>
                <kbd className="font-mono">{key}</kbd>
              </dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
      </Notice>
    </div>
  );
}
