/** The verdicts of `salvo score` on the runs of a batch, which do not change its own. */
import { useQuery } from "@tanstack/react-query";
import { queries } from "@/api/queries";
import type { BatchScore } from "@/api/types";
import { Details } from "@/components/Details";
import { FactRows, Section } from "@/components/layout";
import { ErrorNotice } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { formatCount, formatTime, pluralize } from "@/lib/format";
import { OutcomeBadge, VerdictBadge } from "../Badges";
import { Command } from "../Command";
import { describeCost } from "../format";
import { PassRate } from "../PassRate";
import { RunLink } from "../RunLink";

export function Scores({ batchId }: { batchId: string }) {
  const { data, error, refetch } = useQuery(queries.scores(batchId));
  if (error) {
    return (
      <Section title="Scored again">
        <ErrorNotice error={error} onRetry={refetch} />
      </Section>
    );
  }
  if (!data?.scores.length) return null;
  return (
    <Section title="Scored again">
      <p className="mb-3 max-w-prose text-soft">
        The verdicts of <code>salvo score</code> on the same runs. They do not change the verdict of the batch.
      </p>
      <ul className="space-y-5">
        {data.scores.map((score) => (
          <li key={score.score_id}>
            <Score score={score} />
          </li>
        ))}
      </ul>
      {data.older ? <p className="mt-3 text-soft">{pluralize(data.older, "older scoring")} not shown.</p> : null}
    </Section>
  );
}

function Score({ score }: { score: BatchScore }) {
  return (
    <div>
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <VerdictBadge verdict={score.verdict} />
        <span className="min-w-0 [overflow-wrap:anywhere]">
          with{" "}
          <code>
            <VisibleText>{score.source}</VisibleText>
          </code>
          , {formatTime(score.created_at)}
        </span>
        <PassRate
          rate={score.pass_rate}
          interval={score.interval}
          labels={score.labels}
          minimum={score.min_pass_rate}
        />
      </p>
      <p className="mt-1 first-letter:uppercase">
        <VisibleText>{score.why}</VisibleText>.
      </p>
      <p className="mt-1">{score.sentence}</p>
      {score.unreadable ? (
        <p className="mt-1 text-soft">{pluralize(score.unreadable, "score")} could not be read.</p>
      ) : null}
      <div className="mt-2">
        <Details title="Assertions and changed verdicts">
          <FactRows
            facts={[
              ...score.assertions.map(({ label, passed, judged }) => ({
                name: label,
                value: `${formatCount(passed)} of ${formatCount(judged)} passed`,
              })),
              { name: "Judge cost", value: describeCost(score.judge_cost) },
            ]}
          />
          {score.changed.length ? (
            <ul className="mt-2 space-y-1">
              {score.changed.map(({ run_id, before, after }) => (
                <li key={run_id} className="flex flex-wrap items-center gap-2">
                  <RunLink id={run_id} /> <OutcomeBadge outcome={before} /> <span>is now</span>{" "}
                  <OutcomeBadge outcome={after} />
                </li>
              ))}
            </ul>
          ) : null}
          <p className="mt-2">
            In full: <Command text={`salvo report ${score.score_id}`} />
          </p>
        </Details>
      </div>
    </div>
  );
}
