import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "react-router";
import { queries } from "@/api/queries";
import type { TimelineReport } from "@/api/types";
import { Button, ButtonLink } from "@/components/Button";
import { PageTitle } from "@/components/layout";
import { SelectField } from "@/components/SelectField";
import { Empty, ErrorNotice, Loading } from "@/components/states";
import { ForRole } from "@/features/account/roles";
import { pluralize } from "@/lib/format";
import { HeatMap } from "./HeatMap";

const REPORTS_SHOWN = 30;

export function TimelinePage() {
  const [params, setParams] = useSearchParams();
  const subjects = useQuery(queries.subjects());
  const subject = params.get("subject") ?? subjects.data?.[0]?.name ?? "";
  const points = useQuery({ ...queries.timeline(subject), enabled: Boolean(subject) });
  const error = subjects.error ?? points.error;
  return (
    <>
      <PageTitle lead="What each check found in the reports on one subject, the newest report first.">
        Over time
      </PageTitle>
      {error ? <ErrorNotice error={error} onRetry={() => Promise.all([subjects.refetch(), points.refetch()])} /> : null}
      {subjects.data && !subjects.data.length ? (
        <Empty title="No reports yet">
          <ForRole needs="reviewer">
            <ButtonLink to="/" variant="primary">
              Evaluate a text
            </ButtonLink>
          </ForRole>
        </Empty>
      ) : null}
      {subjects.data?.length ? (
        <div className="mb-5 max-w-sm">
          <SelectField
            label="Subject"
            value={subject}
            onChange={(name) => setParams({ subject: name })}
            options={subjects.data.map(({ name, reports }) => ({ value: name, label: `${name} (${reports})` }))}
          />
        </div>
      ) : null}
      {subject && !points.data && !error ? <Loading label="the reports" /> : null}
      {points.data?.length ? <TimelineView key={subject} points={points.data} /> : null}
      {points.data && !points.data.length && subjects.data?.length ? (
        <Empty title="No reports on this subject yet">Choose another subject above.</Empty>
      ) : null}
    </>
  );
}

function TimelineView({ points }: { points: readonly TimelineReport[] }) {
  const [shown, setShown] = useState(REPORTS_SHOWN);
  const [title, setTitle] = useState("");
  const titles = [...new Set(points.flatMap((point) => (point.title ? [point.title] : [])))].sort();
  const newestFirst = points.filter((point) => !title || point.title === title).reverse();
  const older = newestFirst.length - shown;
  return (
    <>
      {titles.length > 1 ? (
        <div className="mb-4 max-w-sm">
          <SelectField
            label="Document"
            value={title}
            onChange={setTitle}
            options={[{ value: "", label: "All documents" }, ...titles.map((name) => ({ value: name, label: name }))]}
          />
        </div>
      ) : null}
      <HeatMap newestFirst={newestFirst} shown={shown} />
      <p className="mt-2 text-sm text-soft">
        Fail means that the check found something to look at, not that the text is wrong. Undecided means that the
        evaluator could not settle it. A report opens from its date.
      </p>
      {older > 0 ? (
        <Button className="mt-3" onClick={() => setShown(shown + REPORTS_SHOWN)}>
          Show {pluralize(Math.min(older, REPORTS_SHOWN), "older report")}
        </Button>
      ) : null}
    </>
  );
}
