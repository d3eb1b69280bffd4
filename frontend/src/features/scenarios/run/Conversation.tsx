import type { RunHead, TrajectoryStep } from "@/api/types";
import { Details } from "@/components/Details";
import { LongText } from "@/components/LongText";
import { formatSeconds, pluralize } from "@/lib/format";
import { StepRow } from "./StepRow";
import { type ConversationTurn, withAssertions } from "./steps";

/** The turns of a conversation as a chat, with the assertions about each step beside it. */
export function Conversation({ turns, run }: { turns: readonly ConversationTurn[]; run: RunHead }) {
  return (
    <ol className="space-y-6">
      {turns.map((turn) => (
        <li key={turn.number} aria-label={`Turn ${turn.number}`} className="space-y-3">
          <h3 className="text-sm text-soft">
            Turn {turn.number}
            {describeTurn(run, turn.number)}
          </h3>
          {turn.user ? <Message step={turn.user} speaker="User" run={run} /> : null}
          <Work steps={turn.work} run={run} />
          {turn.answer ? <Message step={turn.answer} speaker="Agent" run={run} /> : null}
        </li>
      ))}
    </ol>
  );
}

/** ", 1.2 s, the simulated user needed 2 tries", as far as it is known. */
function describeTurn(run: RunHead, number: number): string {
  const turn = run.turns.find((item) => item.number === number);
  if (!turn) return "";
  const seconds = turn.metrics.latency >= 0.001 ? `, ${formatSeconds(turn.metrics.latency)}` : "";
  const tries = turn.user_tries > 1 ? `, the simulated user needed ${pluralize(turn.user_tries, "try", "tries")}` : "";
  const stopped = turn.stopped ? `, the agent stopped: ${turn.stopped.replaceAll("_", " ")}` : "";
  return seconds + tries + stopped;
}

function Message({ step, speaker, run }: { step: TrajectoryStep; speaker: "User" | "Agent"; run: RunHead }) {
  const isUser = speaker === "User";
  return (
    <StepRow step={step} run={run}>
      <div
        className={`w-fit min-w-0 max-w-full rounded-lg border px-4 py-2 ${isUser ? "border-rule bg-well" : "ml-auto border-edge bg-card"}`}
      >
        <p className="font-semibold text-sm text-soft">{speaker}</p>
        {step.text ? (
          <LongText
            text={step.text}
            label={`what the ${speaker.toLowerCase()} said in step ${step.number}`}
            mono={false}
          />
        ) : (
          <p className="text-soft">No answer.</p>
        )}
      </div>
    </StepRow>
  );
}

/** What the agent did before it answered: collapsed, unless an assertion is about it. */
function Work({ steps, run }: { steps: readonly TrajectoryStep[]; run: RunHead }) {
  if (!steps.length) return null;
  const tools = steps.filter((step) => step.kind === "tool").length;
  const title = tools
    ? `${pluralize(steps.length, "step")}, ${pluralize(tools, "tool call")}`
    : pluralize(steps.length, "step");
  return (
    <Details title={title} open={steps.some(withAssertions)}>
      <ol className="space-y-3">
        {steps.map((step) => (
          <li key={step.number}>
            <StepRow step={step} run={run} />
          </li>
        ))}
      </ol>
    </Details>
  );
}
