import type { AssertionSummary } from "@/api/types";
import { Label } from "@/components/Badge";
import { TextLink } from "@/components/Button";
import { Table, TD } from "@/components/layout";
import { VisibleText } from "@/components/VisibleText";
import { formatCount } from "@/lib/format";

/** How often each assertion passed, failed or could not be judged. */
export function AssertionTable({
  assertions,
  runsAddress,
}: {
  assertions: readonly AssertionSummary[];
  runsAddress: (label: string) => string;
}) {
  if (!assertions.length) return <p className="text-soft">No run reached evaluation.</p>;
  return (
    <Table
      label="Assertions"
      columns={["Assertion", "Type", "Passed, failed, not judged", "Passed", "Failed", "Not judged"]}
    >
      {assertions.map((assertion, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two assertions may have the same label; their order is fixed
        <AssertionRow key={index} assertion={assertion} runsAddress={runsAddress} />
      ))}
    </Table>
  );
}

function AssertionRow({
  assertion,
  runsAddress,
}: {
  assertion: AssertionSummary;
  runsAddress: (label: string) => string;
}) {
  const failed = assertion.judged - assertion.passed;
  return (
    <tr>
      <th scope="row" className={`${TD} min-w-40 text-left font-normal [overflow-wrap:anywhere]`}>
        <span className="flex flex-wrap gap-2">
          <VisibleText>{assertion.label}</VisibleText>
          {assertion.required ? <Label tone="plain">required</Label> : null}
        </span>
      </th>
      <td className={`${TD} text-soft`}>
        <VisibleText>{assertion.type}</VisibleText>
      </td>
      <td className={TD}>
        <OutcomeBar passed={assertion.passed} failed={failed} unjudged={assertion.unjudged} />
      </td>
      <td className={`${TD} whitespace-nowrap tabular-nums`}>
        {formatCount(assertion.passed)} of {formatCount(assertion.judged)}
      </td>
      <td className={`${TD} whitespace-nowrap tabular-nums`}>
        {failed ? (
          <TextLink to={runsAddress(assertion.label)} aria-label={`${failed} runs in which ${assertion.label} failed`}>
            {formatCount(failed)}
          </TextLink>
        ) : (
          "0"
        )}
      </td>
      <td className={`${TD} tabular-nums`}>{assertion.unjudged ? formatCount(assertion.unjudged) : "0"}</td>
    </tr>
  );
}

const WIDTH = 180;
const HEIGHT = 14;

/** Passed, failed and unjudged shares as filled, hatched and empty bars, so that color is not the only cue. */
function OutcomeBar({ passed, failed, unjudged }: { passed: number; failed: number; unjudged: number }) {
  const total = passed + failed + unjudged;
  if (!total) return null;
  const [passedEnd, failedEnd] = [(passed / total) * WIDTH, ((passed + failed) / total) * WIDTH];
  return (
    <svg width={WIDTH} height={HEIGHT} aria-hidden="true">
      <rect width={passedEnd} height={HEIGHT} data-tone="green" className="fill-(--tone)" />
      <g data-tone="red">
        <rect x={passedEnd} width={failedEnd - passedEnd} height={HEIGHT} className="fill-(--tint)" />
        <path d={hatchPath(passedEnd, failedEnd)} strokeWidth="1.5" className="stroke-(--tone)" />
      </g>
      <rect
        x={failedEnd + 0.5}
        y="0.5"
        width={Math.max(WIDTH - failedEnd - 1, 0)}
        height={HEIGHT - 1}
        data-tone="amber"
        strokeDasharray="2 2"
        className={unjudged ? "fill-none stroke-(--tone)" : "hidden"}
      />
      <rect x="0.5" y="0.5" width={WIDTH - 1} height={HEIGHT - 1} className="fill-none stroke-edge" />
    </svg>
  );
}

/** The path of slanted lines between two x positions. */
function hatchPath(from: number, to: number, step = 5): string {
  const paths: string[] = [];
  for (let x = from + step / 2; x < to; x += step) {
    const end = Math.min(x + HEIGHT / 2, to);
    paths.push(`M${x.toFixed(1)} ${HEIGHT}L${end.toFixed(1)} ${(HEIGHT - (end - x) * 2).toFixed(1)}`);
  }
  return paths.join("");
}
