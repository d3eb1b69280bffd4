import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";
import { queries } from "@/api/queries";
import type { AssertionDifference, BatchesCompared, Measured, ScenarioCompared } from "@/api/types";
import { Label, type Tone } from "@/components/Badge";
import { ButtonLink } from "@/components/Button";
import { Facts, PageTitle, Section, Table, TD } from "@/components/layout";
import { Seen } from "@/components/Seen";
import { Empty, Failure, Loading, Notice } from "@/components/states";
import { counted, seconds, time, whole } from "@/lib/format";
import { readable } from "@/lib/text";
import { Live } from "../Live";
import { useLive } from "../live";
import { Parted } from "../Parted";
import { dollars, modelName, percent, points, pValue, relative } from "../words";
import { Difference } from "./Difference";
import { alike } from "./differing";

export function ComparePage() {
  const [address] = useSearchParams();
  const a = address.get("a") ?? "";
  const b = address.get("b") ?? "";
  const whole = address.get("whole") === "1";
  const connection = useLive();
  const { data, error, refetch } = useQuery({ ...queries.compareBatches(a, b, whole), enabled: Boolean(a && b) });
  return (
    <>
      <PageTitle>Compare two batches</PageTitle>
      <Live connection={connection} news="" />
      {!a || !b ? (
        <Empty title="Two batches are needed">
          <ButtonLink to="/scenarios" look="main">
            Pick two batches
          </ButtonLink>
        </Empty>
      ) : null}
      {error ? <Failure fault={error} retry={refetch} /> : null}
      {a && b && !data && !error ? <Loading what="the two batches" /> : null}
      {data && !error ? <Shown of={data} /> : null}
      {a && b ? (
        <p className="mt-8 print:hidden">
          <ButtonLink to={`?${new URLSearchParams({ a, b, ...(whole ? {} : { whole: "1" }) })}`}>
            {whole ? "Compare these two batches alone" : "Compare all scenarios of the two commands"}
          </ButtonLink>
        </p>
      ) : null}
    </>
  );
}

function Shown({ of }: { of: BatchesCompared }) {
  const partings = of.scenarios.filter(({ parting }) => parting);
  return (
    <>
      <p className="max-w-prose font-serif text-xl leading-snug [overflow-wrap:anywhere]">
        <Seen>{of.sentence}</Seen>
      </p>
      <div className="mt-3 space-y-2 empty:hidden">
        {of.notes.map((note) => (
          <Notice key={note}>
            <Seen>{note}</Seen>
          </Notice>
        ))}
      </div>
      <NotTheSame of={of.scenarios} />
      <div className="mt-6 grid gap-4 md:grid-cols-2">
        <Side name="A" of={of.scenarios.map(({ a }) => a)} />
        <Side name="B" of={of.scenarios.map(({ b }) => b)} />
      </div>
      <Section title="Pass rates">
        <Rates of={of.scenarios} />
        {of.overall ? <Overall of={of.overall} /> : null}
        <LeftOut of={of.scenarios} />
      </Section>
      <Section title="Assertions whose failure rates differ">
        <Assertions of={of.assertions} />
      </Section>
      <Section title="Cost and latency">
        <Costs of={of.scenarios} />
      </Section>
      {partings.length ? (
        <Section title="Where runs part">
          <div className="space-y-3">
            {partings.map(({ scenario_id, parting }) =>
              parting ? (
                <div key={scenario_id}>
                  {of.scenarios.length > 1 ? (
                    <h3 className="mb-1 font-semibold">
                      <Seen>{scenario_id}</Seen>
                    </h3>
                  ) : null}
                  <Parted of={parting} />
                </div>
              ) : null,
            )}
          </div>
        </Section>
      ) : null}
    </>
  );
}

/** Before any number: what else than what is compared may explain a difference. */
function NotTheSame({ of }: { of: readonly ScenarioCompared[] }) {
  const differing = alike(of);
  if (!differing.length) {
    return (
      <p className="mt-3 text-soft">The scenario, its tools, its judges and its settings are the same on both sides.</p>
    );
  }
  return (
    <div className="mt-4">
      <Notice>
        <p className="font-semibold">Between A and B these are not the same, and may explain a difference:</p>
        <ul className="mt-1 list-disc pl-5">
          {differing.map(({ what, a, b, where }) => (
            <li key={`${what} ${where.join()}`} className="[overflow-wrap:anywhere]">
              <Seen>{a === null && b === null ? what : `${what}: ${told(a)} against ${told(b)}`}</Seen>
              {where.length < of.length ? (
                <>
                  {" "}
                  (<Seen>{where.join(", ")}</Seen>)
                </>
              ) : null}
            </li>
          ))}
        </ul>
      </Notice>
    </div>
  );
}

function told(value: unknown): string {
  const text = value === null ? "none" : readable(value);
  return text.length > 200 ? `${text.slice(0, 200)} …` : text;
}

function Side({ name, of }: { name: string; of: readonly Measured[] }) {
  const first = of[0];
  if (!first) return null;
  const models = [...new Set(of.map(modelName))].join(", ");
  return (
    <section aria-label={`Side ${name}`} className="min-w-0 rounded border border-rule bg-card p-4">
      <h2 className="mb-2 flex flex-wrap items-center gap-3 text-lg">
        <span>{name}</span>
        {of.map(({ batch_id, scenario_id }) => (
          <Link
            key={batch_id}
            to={`/scenarios/batches/${batch_id}`}
            className="font-sans text-base text-link underline [overflow-wrap:anywhere]"
          >
            <Seen>{scenario_id}</Seen>
          </Link>
        ))}
      </h2>
      <Facts
        of={[
          { name: "Model", value: models },
          { name: "Time", value: time(first.created_at) },
          { name: "Batch", value: of.map(({ batch_id }) => batch_id).join(", "), code: true },
        ]}
      />
    </section>
  );
}

const FINDINGS: Record<ScenarioCompared["finding"], { tone: Tone; text: string }> = {
  worse: { tone: "red", text: "↓ B is worse" },
  better: { tone: "green", text: "↑ B is better" },
  "no difference seen": { tone: "plain", text: "= no difference seen" },
  "not compared": { tone: "amber", text: "! not compared" },
};

function Rates({ of }: { of: readonly ScenarioCompared[] }) {
  const columns = ["Scenario", "Finding", "A", "B", "Difference in points, 95%", "p", "Smallest to be seen"];
  return (
    <>
      <Table label="Pass rates" columns={columns}>
        {of.map((each) => (
          <tr key={each.scenario_id}>
            <th scope="row" className={`${TD} min-w-36 text-left font-normal [overflow-wrap:anywhere]`}>
              <Seen>{each.scenario_id}</Seen>
            </th>
            <td className={TD}>
              <Label tone={FINDINGS[each.finding].tone}>{FINDINGS[each.finding].text}</Label>
            </td>
            <td className={`${TD} whitespace-nowrap tabular-nums`}>{rate(each.a)}</td>
            <td className={`${TD} whitespace-nowrap tabular-nums`}>{rate(each.b)}</td>
            <td className={TD}>
              <Difference of={each.difference} interval={each.interval} />
            </td>
            <td className={`${TD} whitespace-nowrap tabular-nums`}>{pValue(each.p_value)}</td>
            <td className={`${TD} tabular-nums`}>
              {each.smallest_visible_difference === null
                ? "none could be"
                : `${Math.round(each.smallest_visible_difference * 100)} points`}
            </td>
          </tr>
        ))}
      </Table>
      <p className="mt-2 max-w-prose text-sm text-soft">
        p is of an exact test{of.length > 1 ? ", corrected for the number of scenarios" : ""}; at 0.05 or less a
        difference is told as one. The last column is the smallest that so many runs could have shown.
      </p>
    </>
  );
}

/** One test over all scenarios, each compared with itself alone. */
function Overall({ of }: { of: NonNullable<BatchesCompared["overall"]> }) {
  return (
    <p className="mt-3 flex flex-wrap items-center gap-x-3 gap-y-1">
      <span className="font-semibold">All of them together</span>
      <Label tone={FINDINGS[of.finding].tone}>{FINDINGS[of.finding].text}</Label>
      <span className="tabular-nums">
        {points(of.difference)} points, p {pValue(of.p_value)}
        {of.exact ? "" : ", approximated"}
      </span>
    </p>
  );
}

function rate({ passed, completed }: Measured): string {
  return completed ? `${percent(passed / completed)} (${whole(passed)} of ${whole(completed)})` : "no run completed";
}

/** What is in no rate is said, and never dropped in silence. */
function LeftOut({ of }: { of: readonly ScenarioCompared[] }) {
  const lines = of.flatMap((each) =>
    (["a", "b"] as const).flatMap((side) => {
      const { errors, unmade } = each[side];
      const missing = [
        errors ? `${counted(errors, "run")} could not be judged (errors, not failures)` : "",
        unmade ? `${counted(unmade, "run")} not made` : "",
      ].filter(Boolean);
      return missing.length
        ? [`${each.scenario_id}, ${side.toUpperCase()}: ${missing.join(" and ")}, and in no rate above.`]
        : [];
    }),
  );
  return lines.map((line) => (
    <p key={line} className="mt-2 [overflow-wrap:anywhere]">
      <Seen>{line}</Seen>
    </p>
  ));
}

function Assertions({ of }: { of: readonly AssertionDifference[] }) {
  if (!of.length) return <p className="text-soft">None differs.</p>;
  return (
    <>
      <Table
        label="Assertions"
        columns={["Assertion", "Scenario", "Failed in A", "Failed in B", "Difference in points"]}
      >
        {of.map((each) => {
          const difference = each.failed_b / each.judged_b - each.failed_a / each.judged_a;
          return (
            <tr key={`${each.scenario_id} ${each.label} ${each.failed_a} ${each.failed_b}`}>
              <th scope="row" className={`${TD} min-w-36 text-left font-normal [overflow-wrap:anywhere]`}>
                <Seen>{each.label}</Seen>
              </th>
              <td className={`${TD} min-w-32 [overflow-wrap:anywhere]`}>
                <Seen>{each.scenario_id}</Seen>
              </td>
              <td
                className={`${TD} whitespace-nowrap tabular-nums`}
              >{`${whole(each.failed_a)} of ${whole(each.judged_a)}`}</td>
              <td
                className={`${TD} whitespace-nowrap tabular-nums`}
              >{`${whole(each.failed_b)} of ${whole(each.judged_b)}`}</td>
              <td className={`${TD} whitespace-nowrap tabular-nums`}>
                {points(difference)} ({difference > 0 ? "fails more often in B" : "fails less often in B"})
              </td>
            </tr>
          );
        })}
      </Table>
      <p className="mt-2 text-sm text-soft">Not tested: they say where to look.</p>
    </>
  );
}

function Costs({ of }: { of: readonly ScenarioCompared[] }) {
  const rows = of.flatMap(({ scenario_id, a, b }) => [
    { what: "Cost a run", scenario_id, a: a.average_cost, b: b.average_cost, told: dollars },
    { what: "Latency p50", scenario_id, a: a.latency_p50, b: b.latency_p50, told: seconds },
    { what: "Latency p95", scenario_id, a: a.latency_p95, b: b.latency_p95, told: seconds },
  ]);
  return (
    <Table label="Cost and latency" columns={["What", "Scenario", "A", "B", "Change"]}>
      {rows.map(({ what, scenario_id, a, b, told: say }) => (
        <tr key={`${scenario_id} ${what}`}>
          <th scope="row" className={`${TD} whitespace-nowrap text-left font-normal`}>
            {what}
          </th>
          <td className={`${TD} min-w-32 [overflow-wrap:anywhere]`}>
            <Seen>{scenario_id}</Seen>
          </td>
          <td className={`${TD} whitespace-nowrap tabular-nums`}>{say(a)}</td>
          <td className={`${TD} whitespace-nowrap tabular-nums`}>{say(b)}</td>
          <td className={`${TD} whitespace-nowrap tabular-nums`}>{relative(a, b) || "–"}</td>
        </tr>
      ))}
    </Table>
  );
}
