import { Link } from "react-router";
import type { AssertionSummary } from "@/api/types";
import { Label } from "@/components/Badge";
import { Table, TD } from "@/components/layout";
import { Seen } from "@/components/Seen";
import { whole } from "@/lib/format";

/** Each assertion with how often it passed, failed and could not be judged. */
export function Assertions({
  of,
  runsAddress,
}: {
  of: readonly AssertionSummary[];
  runsAddress: (label: string) => string;
}) {
  if (!of.length) return <p className="text-soft">No run came so far as to be judged.</p>;
  return (
    <Table
      label="Assertions"
      columns={["Assertion", "Type", "Passed, failed, not judged", "Passed", "Failed", "Not judged"]}
    >
      {of.map((assertion, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two assertions may look alike; their order tells them apart
        <Row key={index} of={assertion} runsAddress={runsAddress} />
      ))}
    </Table>
  );
}

function Row({ of, runsAddress }: { of: AssertionSummary; runsAddress: (label: string) => string }) {
  const failed = of.judged - of.passed;
  return (
    <tr>
      <th scope="row" className={`${TD} min-w-40 text-left font-normal [overflow-wrap:anywhere]`}>
        <span className="flex flex-wrap gap-2">
          <Seen>{of.label}</Seen>
          {of.required ? <Label tone="plain">required</Label> : null}
        </span>
      </th>
      <td className={`${TD} text-soft`}>
        <Seen>{of.type}</Seen>
      </td>
      <td className={TD}>
        <Shares passed={of.passed} failed={failed} unjudged={of.unjudged} />
      </td>
      <td className={`${TD} whitespace-nowrap tabular-nums`}>
        {whole(of.passed)} of {whole(of.judged)}
      </td>
      <td className={`${TD} whitespace-nowrap tabular-nums`}>
        {failed ? (
          <Link
            to={runsAddress(of.label)}
            className="text-link underline"
            aria-label={`${failed} runs in which ${of.label} failed`}
          >
            {whole(failed)}
          </Link>
        ) : (
          "0"
        )}
      </td>
      <td className={`${TD} tabular-nums`}>{of.unjudged ? whole(of.unjudged) : "0"}</td>
    </tr>
  );
}

const WIDTH = 180;
const HEIGHT = 14;

/** Filled, hatched and empty, in this order: told by their form as well as by their colour. */
function Shares({ passed, failed, unjudged }: { passed: number; failed: number; unjudged: number }) {
  const all = passed + failed + unjudged;
  if (!all) return null;
  const [a, b] = [(passed / all) * WIDTH, ((passed + failed) / all) * WIDTH];
  return (
    <svg width={WIDTH} height={HEIGHT} aria-hidden="true">
      <rect width={a} height={HEIGHT} data-tone="green" className="fill-(--tone)" />
      <g data-tone="red">
        <rect x={a} width={b - a} height={HEIGHT} className="fill-(--tint)" />
        <path d={hatched(a, b)} strokeWidth="1.5" className="stroke-(--tone)" />
      </g>
      <rect
        x={b + 0.5}
        y="0.5"
        width={Math.max(WIDTH - b - 1, 0)}
        height={HEIGHT - 1}
        data-tone="amber"
        strokeDasharray="2 2"
        className={unjudged ? "fill-none stroke-(--tone)" : "hidden"}
      />
      <rect x="0.5" y="0.5" width={WIDTH - 1} height={HEIGHT - 1} className="fill-none stroke-edge" />
    </svg>
  );
}

/** Slanted lines from one place to another, none of which leaves it. */
function hatched(from: number, to: number, step = 5): string {
  const found: string[] = [];
  for (let x = from + step / 2; x < to; x += step) {
    const end = Math.min(x + HEIGHT / 2, to);
    found.push(`M${x.toFixed(1)} ${HEIGHT}L${end.toFixed(1)} ${(HEIGHT - (end - x) * 2).toFixed(1)}`);
  }
  return found.join("");
}
