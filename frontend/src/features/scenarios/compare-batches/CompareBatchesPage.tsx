import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";
import { queries } from "@/api/queries";
import type { AssertionDifference, BatchComparison, BatchStats, ScenarioComparison } from "@/api/types";
import { Label, type Tone } from "@/components/Badge";
import { ButtonLink } from "@/components/Button";
import { Facts, PageTitle, Section, Table, TD } from "@/components/layout";
import { Empty, ErrorNotice, Loading, Notice } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { formatCount, formatSeconds, formatTime, pluralize, UNKNOWN } from "@/lib/format";
import { formatValue } from "@/lib/text";
import { ConnectionStatus } from "../ConnectionStatus";
import { DivergenceNote } from "../DivergenceNote";
import { formatDollars, formatPoints, modelName, relativeChange } from "../format";
import { useLiveBatches } from "../useLiveBatches";
import { Difference } from "./Difference";
import { mergeDifferences } from "./mergeDifferences";

export function CompareBatchesPage() {
  const [params] = useSearchParams();
  const a = params.get("a") ?? "";
  const b = params.get("b") ?? "";
  const allScenarios = params.get("whole") === "1";
  const connection = useLiveBatches();
  const { data, error, refetch } = useQuery({
    ...queries.compareBatches(a, b, allScenarios),
    enabled: Boolean(a && b),
  });
  return (
    <>
      <PageTitle>Compare two batches</PageTitle>
      <ConnectionStatus connection={connection} announcement="" />
      {!a || !b ? (
        <Empty title="Select two batches">
          <ButtonLink to="/scenarios" variant="primary">
            Go to the batches
          </ButtonLink>
        </Empty>
      ) : null}
      {error ? <ErrorNotice error={error} onRetry={refetch} /> : null}
      {a && b && !data && !error ? <Loading label="the two batches" /> : null}
      {data && !error ? <ComparisonView comparison={data} /> : null}
      {a && b ? (
        <p className="mt-8 print:hidden">
          <ButtonLink to={`?${new URLSearchParams({ a, b, ...(allScenarios ? {} : { whole: "1" }) })}`}>
            {allScenarios ? "Compare only these two batches" : "Compare all scenarios of both commands"}
          </ButtonLink>
        </p>
      ) : null}
    </>
  );
}

function ComparisonView({ comparison }: { comparison: BatchComparison }) {
  const diverging = comparison.scenarios.filter(({ divergence }) => divergence);
  return (
    <>
      <p className="max-w-prose font-serif text-xl leading-snug [overflow-wrap:anywhere]">
        <VisibleText>{comparison.sentence}</VisibleText>
      </p>
      <div className="mt-3 space-y-2 empty:hidden">
        {comparison.notes.map((note) => (
          <Notice key={note}>
            <VisibleText>{note}</VisibleText>
          </Notice>
        ))}
      </div>
      <ConfigDifferences scenarios={comparison.scenarios} />
      <div className="mt-6 grid gap-4 md:grid-cols-2">
        <ComparedBatches name="A" batches={comparison.scenarios.map(({ a }) => a)} />
        <ComparedBatches name="B" batches={comparison.scenarios.map(({ b }) => b)} />
      </div>
      <Section title="Pass rates">
        <PassRateTable scenarios={comparison.scenarios} level={comparison.level} />
        {comparison.overall ? <OverallResult overall={comparison.overall} /> : null}
        <ExcludedRuns scenarios={comparison.scenarios} />
      </Section>
      <Section title="Assertions whose failure rates differ">
        <AssertionDifferences assertions={comparison.assertions} />
      </Section>
      <Section title="Cost and latency">
        <CostTable scenarios={comparison.scenarios} />
      </Section>
      {diverging.length ? (
        <Section title="Where runs diverge">
          <div className="space-y-3">
            {diverging.map(({ scenario_id, divergence }) =>
              divergence ? (
                <div key={scenario_id}>
                  {comparison.scenarios.length > 1 ? (
                    <h3 className="mb-1 font-semibold">
                      <VisibleText>{scenario_id}</VisibleText>
                    </h3>
                  ) : null}
                  <DivergenceNote divergence={divergence} />
                </div>
              ) : null,
            )}
          </div>
        </Section>
      ) : null}
    </>
  );
}

/** Other differences in configuration that may explain a result; shown before any figure. */
function ConfigDifferences({ scenarios }: { scenarios: readonly ScenarioComparison[] }) {
  const differences = mergeDifferences(scenarios);
  if (!differences.length) {
    return <p className="mt-3 text-soft">The scenario, its tools, judges and settings are the same in A and B.</p>;
  }
  return (
    <div className="mt-4">
      <Notice>
        <p className="font-semibold">A and B differ in the following, which may explain a difference in results:</p>
        <ul className="mt-1 list-disc pl-5">
          {differences.map(({ what, a, b, scenarios: affected }) => (
            <li key={`${what} ${affected.join()}`} className="[overflow-wrap:anywhere]">
              <VisibleText>
                {a === null && b === null ? what : `${what}: ${formatSide(a)} (A), ${formatSide(b)} (B)`}
              </VisibleText>
              {affected.length < scenarios.length ? (
                <>
                  {" "}
                  (<VisibleText>{affected.join(", ")}</VisibleText>)
                </>
              ) : null}
            </li>
          ))}
        </ul>
      </Notice>
    </div>
  );
}

function formatSide(value: unknown): string {
  const text = value === null ? "none" : formatValue(value);
  return text.length > 200 ? `${text.slice(0, 200)} …` : text;
}

function ComparedBatches({ name, batches }: { name: string; batches: readonly BatchStats[] }) {
  const first = batches[0];
  if (!first) return null;
  const models = [...new Set(batches.map(modelName))].join(", ");
  return (
    <section aria-label={`Side ${name}`} className="min-w-0 rounded border border-rule bg-card p-4">
      <h2 className="mb-2 flex flex-wrap items-center gap-3 text-lg">
        <span>{name}</span>
        {batches.map(({ batch_id, scenario_id }) => (
          <Link
            key={batch_id}
            to={`/scenarios/batches/${batch_id}`}
            className="font-sans text-base text-link underline [overflow-wrap:anywhere]"
          >
            <VisibleText>{scenario_id}</VisibleText>
          </Link>
        ))}
      </h2>
      <Facts
        facts={[
          { name: "Model", value: models },
          { name: "Time", value: formatTime(first.created_at) },
          { name: "Batch", value: batches.map(({ batch_id }) => batch_id).join(", "), code: true },
        ]}
      />
    </section>
  );
}

const FINDING_LABELS: Record<ScenarioComparison["finding"], { tone: Tone; text: string }> = {
  worse: { tone: "red", text: "↓ B is worse" },
  better: { tone: "green", text: "↑ B is better" },
  "no difference seen": { tone: "plain", text: "= no difference detected" },
  "not compared": { tone: "amber", text: "! not compared" },
};

function PassRateTable({ scenarios, level }: { scenarios: readonly ScenarioComparison[]; level: number }) {
  const columns = ["Scenario", "Finding", "A", "B", "Difference in points, 95%", "p", "Seen in 8 of 10 cases"];
  return (
    <>
      <Table label="Pass rates" columns={columns}>
        {scenarios.map((scenario) => (
          <tr key={scenario.scenario_id}>
            <th scope="row" className={`${TD} min-w-36 text-left font-normal [overflow-wrap:anywhere]`}>
              <VisibleText>{scenario.scenario_id}</VisibleText>
            </th>
            <td className={TD}>
              <Label tone={FINDING_LABELS[scenario.finding].tone}>{FINDING_LABELS[scenario.finding].text}</Label>
            </td>
            <td className={`${TD} whitespace-nowrap tabular-nums`}>{describeRate(scenario.a, scenario.labels.a)}</td>
            <td className={`${TD} whitespace-nowrap tabular-nums`}>{describeRate(scenario.b, scenario.labels.b)}</td>
            <td className={TD}>
              <Difference value={scenario.difference} interval={scenario.interval} labels={scenario.labels} />
            </td>
            <td className={`${TD} whitespace-nowrap tabular-nums`}>{scenario.labels.p_value || UNKNOWN}</td>
            <td className={`${TD} tabular-nums`}>
              {/\d/.test(scenario.labels.visible) ? `${scenario.labels.visible} points` : scenario.labels.visible}
            </td>
          </tr>
        ))}
      </Table>
      <p className="mt-2 max-w-prose text-sm text-soft">
        p is from an exact test{scenarios.length > 1 ? ", corrected for the number of scenarios" : ""}. A difference is
        reported if p is at most {level}. The last column has the drop and the rise, in points, that this number of runs
        would show in 8 of 10 cases.
      </p>
    </>
  );
}

/** One test over all scenarios, each compared only with itself. */
function OverallResult({ overall }: { overall: NonNullable<BatchComparison["overall"]> }) {
  return (
    <p className="mt-3 flex flex-wrap items-center gap-x-3 gap-y-1">
      <span className="font-semibold">All scenarios together</span>
      <Label tone={FINDING_LABELS[overall.finding].tone}>{FINDING_LABELS[overall.finding].text}</Label>
      <span className="tabular-nums">
        {overall.labels.difference} points, p {overall.labels.p_value}
        {overall.exact ? "" : ", approximated"}
        {overall.labels.mean ? `; mean over scenarios ${overall.labels.mean}` : ""}
      </span>
    </p>
  );
}

function describeRate({ passed, completed }: BatchStats, rate: string): string {
  return completed ? `${rate} (${formatCount(passed)} of ${formatCount(completed)})` : "no run completed";
}

/** The runs that no rate includes. */
function ExcludedRuns({ scenarios }: { scenarios: readonly ScenarioComparison[] }) {
  const lines = scenarios.flatMap((scenario) =>
    (["a", "b"] as const).flatMap((side) => {
      const { errors, unmade, cached } = scenario[side];
      const missing = [
        errors ? `${pluralize(errors, "run")} could not be judged (errors, not failures)` : "",
        cached ? `${pluralize(cached, "run")} answered from a cache` : "",
        unmade ? `${pluralize(unmade, "run")} not run` : "",
      ].filter(Boolean);
      return missing.length
        ? [`${scenario.scenario_id}, ${side.toUpperCase()}: ${missing.join("; ")}. Not included in the rates above.`]
        : [];
    }),
  );
  return lines.map((line) => (
    <p key={line} className="mt-2 [overflow-wrap:anywhere]">
      <VisibleText>{line}</VisibleText>
    </p>
  ));
}

function AssertionDifferences({ assertions }: { assertions: readonly AssertionDifference[] }) {
  if (!assertions.length) return <p className="text-soft">No assertion differs.</p>;
  return (
    <>
      <Table
        label="Assertions"
        columns={["Assertion", "Scenario", "Failed in A", "Failed in B", "Difference in points"]}
      >
        {assertions.map((assertion) => {
          const difference = assertion.failed_b / assertion.judged_b - assertion.failed_a / assertion.judged_a;
          return (
            <tr key={`${assertion.scenario_id} ${assertion.label} ${assertion.failed_a} ${assertion.failed_b}`}>
              <th scope="row" className={`${TD} min-w-36 text-left font-normal [overflow-wrap:anywhere]`}>
                <VisibleText>{assertion.label}</VisibleText>
              </th>
              <td className={`${TD} min-w-32 [overflow-wrap:anywhere]`}>
                <VisibleText>{assertion.scenario_id}</VisibleText>
              </td>
              <td
                className={`${TD} whitespace-nowrap tabular-nums`}
              >{`${formatCount(assertion.failed_a)} of ${formatCount(assertion.judged_a)}`}</td>
              <td
                className={`${TD} whitespace-nowrap tabular-nums`}
              >{`${formatCount(assertion.failed_b)} of ${formatCount(assertion.judged_b)}`}</td>
              <td className={`${TD} whitespace-nowrap tabular-nums`}>
                {formatPoints(difference)} ({difference > 0 ? "fails more often in B" : "fails less often in B"})
              </td>
            </tr>
          );
        })}
      </Table>
      <p className="mt-2 text-sm text-soft">Not tested for significance; use them as hints.</p>
    </>
  );
}

function CostTable({ scenarios }: { scenarios: readonly ScenarioComparison[] }) {
  const rows = scenarios.flatMap(({ scenario_id, a, b }) => [
    { metric: "Cost per run", scenario_id, a: a.average_cost, b: b.average_cost, format: formatDollars },
    { metric: "Latency p50", scenario_id, a: a.latency_p50, b: b.latency_p50, format: formatSeconds },
    { metric: "Latency p95", scenario_id, a: a.latency_p95, b: b.latency_p95, format: formatSeconds },
  ]);
  return (
    <Table label="Cost and latency" columns={["Metric", "Scenario", "A", "B", "Change"]}>
      {rows.map(({ metric, scenario_id, a, b, format }) => (
        <tr key={`${scenario_id} ${metric}`}>
          <th scope="row" className={`${TD} whitespace-nowrap text-left font-normal`}>
            {metric}
          </th>
          <td className={`${TD} min-w-32 [overflow-wrap:anywhere]`}>
            <VisibleText>{scenario_id}</VisibleText>
          </td>
          <td className={`${TD} whitespace-nowrap tabular-nums`}>{format(a)}</td>
          <td className={`${TD} whitespace-nowrap tabular-nums`}>{format(b)}</td>
          <td className={`${TD} whitespace-nowrap tabular-nums`}>{relativeChange(a, b) || "–"}</td>
        </tr>
      ))}
    </Table>
  );
}
