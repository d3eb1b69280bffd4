import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { Link, useNavigate, useSearchParams } from "react-router";
import { queries } from "@/api/queries";
import type { TimelinePoint } from "@/api/types";
import { Badge, Label, signOf, toneOf } from "@/components/Badge";
import { ButtonLink } from "@/components/Button";
import { PageTitle, Scroll, TD, TH } from "@/components/layout";
import { Seen } from "@/components/Seen";
import { Empty, Failure, Loading } from "@/components/states";
import { score, time, title } from "@/lib/format";
import { Chart } from "./Chart";

export function TimelinePage() {
  const [address, setAddress] = useSearchParams();
  const id = useId();
  const subjects = useQuery(queries.subjects());
  const subject = address.get("subject") ?? subjects.data?.[0]?.name ?? "";
  const points = useQuery({ ...queries.timeline(subject), enabled: Boolean(subject) });
  const error = subjects.error ?? points.error;
  return (
    <>
      <PageTitle lead="How the reports of one subject came out, one after the other.">Over time</PageTitle>
      {error ? <Failure fault={error} retry={() => Promise.all([subjects.refetch(), points.refetch()])} /> : null}
      {subjects.data && !subjects.data.length ? (
        <Empty title="There is no report yet">
          <ButtonLink to="/" look="main">
            Evaluate a text
          </ButtonLink>
        </Empty>
      ) : null}
      {subjects.data?.length ? (
        <div className="mb-5 max-w-sm">
          <label htmlFor={id} className="block text-sm text-soft">
            Subject
          </label>
          <select
            id={id}
            className="field"
            value={subject}
            onChange={(event) => setAddress({ subject: event.target.value })}
          >
            {subjects.data.some(({ name }) => name === subject) ? null : <option>{subject}</option>}
            {subjects.data.map(({ name, reports }) => (
              <option key={name} value={name}>
                {name} ({reports})
              </option>
            ))}
          </select>
        </div>
      ) : null}
      {subject && !points.data && !error ? <Loading what="the reports" /> : null}
      {points.data?.length ? <Series points={points.data} /> : null}
      {points.data && !points.data.length && subjects.data?.length ? (
        <Empty title="There is no report of this subject yet">Choose another subject above.</Empty>
      ) : null}
    </>
  );
}

function Series({ points }: { points: readonly TimelinePoint[] }) {
  const navigate = useNavigate();
  const checks = [...new Set(points.flatMap(({ outcomes }) => Object.keys(outcomes)))];
  return (
    <>
      <Chart points={points} open={(id) => navigate(`/reports/${id}`)} />
      <p className="mt-2 mb-6 text-sm text-soft">
        ▲ ALERT, ◆ REVIEW, ● OBSERVE, ■ STABLE; a ring is a saved baseline. A report without a consistency (a screening,
        or too few votes) stands on the axis.
      </p>
      <Scroll label="Reports of this subject">
        <table className="w-full text-sm">
          <thead>
            <tr>
              {["Time", "Status", "Consistency", "Text", "Evaluator", ...checks.map(title)].map((name) => (
                <th key={name} scope="col" className={`${TH} whitespace-normal`}>
                  <Seen>{name}</Seen>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {points.map((point, index) => (
              <tr key={point.id}>
                <td className={`${TD} whitespace-nowrap`}>
                  <Link to={`/reports/${point.id}`} className="text-link underline">
                    {time(point.created_at)}
                  </Link>
                </td>
                <td className={TD}>
                  <span className="flex flex-wrap gap-1">
                    <Badge of={point.status} />
                    {point.baseline ? <Label tone="plain">baseline</Label> : null}
                    {point.mode === "screening" ? <Label tone="plain">screening</Label> : null}
                    {point.incomplete ? <Label tone="amber">incomplete</Label> : null}
                  </span>
                </td>
                <td className={`${TD} tabular-nums`}>{score(point.consistency)}</td>
                <td className={TD}>{textOf(point, points[index - 1])}</td>
                <td className={`${TD} whitespace-nowrap`}>
                  <Seen>{point.evaluator}</Seen>
                </td>
                {checks.map((check) => (
                  <td key={check} className={TD}>
                    <Outcome of={point} check={check} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </>
  );
}

function textOf(point: TimelinePoint, before: TimelinePoint | undefined): string {
  if (!before) return "first";
  return point.inputs_fingerprint === before.inputs_fingerprint ? "same" : "changed";
}

function Outcome({ of, check }: { of: TimelinePoint; check: string }) {
  const result = of.outcomes[check];
  if (!result) return <span className="text-soft">–</span>;
  return (
    <span data-tone={toneOf(result)} className="whitespace-nowrap text-(--tone)">
      <span aria-hidden="true">{signOf(result)} </span>
      {result}
    </span>
  );
}
