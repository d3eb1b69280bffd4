import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearchParams } from "react-router";
import { queries } from "@/api/queries";
import type { TimelineReport } from "@/api/types";
import { Badge, badgeSign, badgeTone, Label, shownStatus } from "@/components/Badge";
import { ButtonLink, TextLink } from "@/components/Button";
import { PageTitle, ScrollRegion, TD, TH } from "@/components/layout";
import { SelectField } from "@/components/SelectField";
import { Empty, ErrorNotice, Loading } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { checkTitle, formatConsistency, formatTime } from "@/lib/format";
import { TimelineChart } from "./TimelineChart";

export function TimelinePage() {
  const [params, setParams] = useSearchParams();
  const subjects = useQuery(queries.subjects());
  const subject = params.get("subject") ?? subjects.data?.[0]?.name ?? "";
  const points = useQuery({ ...queries.timeline(subject), enabled: Boolean(subject) });
  const error = subjects.error ?? points.error;
  return (
    <>
      <PageTitle lead="The reports on one subject, in order.">Timeline</PageTitle>
      {error ? <ErrorNotice error={error} onRetry={() => Promise.all([subjects.refetch(), points.refetch()])} /> : null}
      {subjects.data && !subjects.data.length ? (
        <Empty title="No reports yet">
          <ButtonLink to="/" variant="primary">
            Evaluate a text
          </ButtonLink>
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
      {points.data?.length ? <TimelineView points={points.data} /> : null}
      {points.data && !points.data.length && subjects.data?.length ? (
        <Empty title="No reports on this subject yet">Choose another subject above.</Empty>
      ) : null}
    </>
  );
}

function TimelineView({ points }: { points: readonly TimelineReport[] }) {
  const navigate = useNavigate();
  const checks = [...new Set(points.flatMap(({ outcomes }) => Object.keys(outcomes)))];
  return (
    <>
      <TimelineChart points={points} onOpen={(id) => navigate(`/reports/${id}`)} />
      <p className="mt-2 mb-6 text-sm text-soft">
        ▲ ALERT, ◆ REVIEW, ● OBSERVE, ■ STABLE, … INCOMPLETE; a ring marks a saved baseline. A report without a
        consistency score (a screening, too few votes, or the built-in rules, which do not vary) is drawn below the
        axis.
      </p>
      <ScrollRegion label="Reports on this subject">
        <table className="w-full text-sm">
          <thead>
            <tr>
              {["Time", "Status", "Consistency", "Text", "Evaluator", ...checks.map(checkTitle)].map((name) => (
                <th key={name} scope="col" className={`${TH} whitespace-normal`}>
                  <VisibleText>{name}</VisibleText>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {points.map((point, index) => (
              <tr key={point.id}>
                <td className={`${TD} whitespace-nowrap`}>
                  <TextLink to={`/reports/${point.id}`}>{formatTime(point.created_at)}</TextLink>
                </td>
                <td className={TD}>
                  <span className="flex flex-wrap gap-1">
                    <Badge value={shownStatus(point)} />
                    {point.baseline ? <Label tone="plain">baseline</Label> : null}
                    {point.mode === "screening" ? <Label tone="plain">screening</Label> : null}
                  </span>
                </td>
                <td className={`${TD} tabular-nums`}>{formatConsistency(point)}</td>
                <td className={TD}>{textChange(point, points[index - 1])}</td>
                <td className={`${TD} whitespace-nowrap`}>
                  <VisibleText>{point.evaluator}</VisibleText>
                </td>
                {checks.map((check) => (
                  <td key={check} className={TD}>
                    <CheckOutcome point={point} check={check} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </>
  );
}

function textChange(point: TimelineReport, previous: TimelineReport | undefined): string {
  if (!previous) return "first";
  return point.inputs_fingerprint === previous.inputs_fingerprint ? "same" : "changed";
}

function CheckOutcome({ point, check }: { point: TimelineReport; check: string }) {
  const result = point.outcomes[check];
  if (!result) return <span className="text-soft">–</span>;
  return (
    <span data-tone={badgeTone(result)} className="whitespace-nowrap text-(--tone)">
      <span aria-hidden="true">{badgeSign(result)} </span>
      {result}
    </span>
  );
}
