import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";
import { queries } from "@/api/queries";
import type { CheckResult, Compared, Report } from "@/api/types";
import { Badge, Label } from "@/components/Badge";
import { ButtonLink } from "@/components/Button";
import { Disclaimers } from "@/components/Disclaimers";
import { Facts, PageTitle, Section } from "@/components/layout";
import { Seen } from "@/components/Seen";
import { Empty, Failure, Loading, Notice } from "@/components/states";
import { change, score, time, title } from "@/lib/format";
import { MODE_LABELS, votes } from "../report/words";

export function ComparePage() {
  const [address] = useSearchParams();
  const a = address.get("a") ?? "";
  const b = address.get("b") ?? "";
  const { data, error, refetch } = useQuery({ ...queries.compare(a, b), enabled: Boolean(a && b) });
  return (
    <>
      <Disclaimers more={data?.disclaimers ?? []} />
      <PageTitle>Compare two reports</PageTitle>
      {!a || !b ? (
        <Empty title="Two reports are needed">
          <ButtonLink to="/history" look="main">
            Pick two in History
          </ButtonLink>
        </Empty>
      ) : null}
      {error ? <Failure fault={error} retry={refetch} /> : null}
      {a && b && !data && !error ? <Loading what="the two reports" /> : null}
      {data ? <Shown of={data} /> : null}
    </>
  );
}

function Shown({ of }: { of: Compared }) {
  const { comparison } = of;
  return (
    <>
      <p className="max-w-prose font-serif text-lg">{comparison.attribution}</p>
      <div className="mt-3 space-y-2 empty:hidden">
        {comparison.cautions.map((caution) => (
          <Notice key={caution}>
            <Seen>{caution}</Seen>
          </Notice>
        ))}
      </div>
      <div className="mt-6 grid gap-4 md:grid-cols-2">
        <Side name="A" report={of.a} />
        <Side name="B" report={of.b} />
      </div>
      <p className="mt-4">
        Consistency {score(comparison.before.consistency_score)} → {score(comparison.after.consistency_score)}
        {comparison.consistency_delta !== null ? ` (${change(comparison.consistency_delta)})` : ""}
      </p>
      <Section title="Checks">
        <ul className="space-y-3">
          {names(of).map((name) => (
            <CheckRow key={name} name={name} of={of} />
          ))}
        </ul>
      </Section>
    </>
  );
}

function Side({ name, report }: { name: string; report: Report }) {
  return (
    <section aria-label={`Report ${name}`} className="rounded border border-rule bg-card p-4">
      <h2 className="mb-2 flex flex-wrap items-center gap-3 text-lg">
        <span>{name}</span> <Badge of={report.summary.overall_status} />
        <Link to={`/reports/${report.report_id}`} className="font-sans text-base text-link underline">
          Open
        </Link>
      </h2>
      <Facts
        of={[
          { name: "Time", value: time(report.timestamp) },
          { name: "Subject", value: report.subject },
          { name: "Evaluator", value: report.evaluator, code: true },
          { name: "Playbook", value: `${report.playbook_id} ${report.playbook_version}`, code: true },
          { name: "Mode", value: MODE_LABELS[report.execution_mode] },
        ]}
      />
    </section>
  );
}

/** The checks of both, in the order of the second. */
function names({ a, b }: Compared): string[] {
  return [...new Set([...b.check_results, ...a.check_results].map(({ check_id }) => check_id))];
}

function CheckRow({ name, of }: { name: string; of: Compared }) {
  const changed = of.comparison.changed_checks.find(({ check_id }) => check_id === name);
  const quotes = of.comparison.evidence.find(({ check_id }) => check_id === name);
  const find = (report: Report) => report.check_results.find(({ check_id }) => check_id === name);
  return (
    <li
      data-tone={changed ? (changed.worse ? "red" : "green") : "plain"}
      className={`rounded border border-rule border-l-[0.4rem] bg-card p-4 ${changed ? "border-l-(--tone)" : ""}`}
    >
      <h3 className="flex flex-wrap items-center gap-2 font-semibold">
        <Seen>{title(name)}</Seen>
        {changed ? (
          <Label tone={changed.worse ? "red" : "green"}>{changed.worse ? "↓ worse" : "↑ better"}</Label>
        ) : (
          <span className="font-normal text-soft">unchanged</span>
        )}
      </h3>
      <div className="mt-2 grid gap-4 md:grid-cols-2">
        <Verdict side="A" check={find(of.a)} quotes={quotes?.lost ?? []} sign="−" word="Only A rests on" />
        <Verdict side="B" check={find(of.b)} quotes={quotes?.gained ?? []} sign="+" word="Only B rests on" />
      </div>
    </li>
  );
}

interface VerdictProps {
  side: string;
  check: CheckResult | undefined;
  quotes: readonly string[];
  sign: string;
  word: string;
}

function Verdict({ side, check, quotes, sign, word }: VerdictProps) {
  return (
    <div className="min-w-0">
      <p className="flex flex-wrap items-center gap-2">
        <span className="text-soft">{side}</span>
        {check ? <Badge of={check.result} /> : <span className="text-soft">not in this report</span>}
        {check?.raw_runs.length ? (
          <span className="text-sm text-soft">
            {votes(check)} · consistency {score(check.per_check_consistency)}
          </span>
        ) : null}
      </p>
      {quotes.length ? (
        <>
          <p className="mt-2 text-sm text-soft">{word}</p>
          <ul className="mt-1 space-y-1.5">
            {quotes.map((span) => (
              <li key={span} className="foreign border-(--color-mark-deep) border-l-[3px] pl-3 font-serif">
                <span aria-hidden="true">{sign} </span>“<Seen>{span}</Seen>”
              </li>
            ))}
          </ul>
        </>
      ) : null}
    </div>
  );
}
