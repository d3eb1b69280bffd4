import type { Branch, Parting } from "@/api/types";
import { ButtonLink } from "@/components/Button";
import { Seen } from "@/components/Seen";
import { whole } from "@/lib/format";
import { OutcomeBadge } from "./Marks";
import { besideAddress, RunLink } from "./RunLink";

/** Where failing and passing runs part, with one of each to look at. */
export function Parted({ of }: { of: Parting }) {
  return (
    <div className="rounded border border-rule bg-card p-4">
      <p className="font-semibold">Failing and passing runs part at step {of.step}.</p>
      <ul className="mt-2 space-y-2">
        <Way outcome="failed" of={of.failing} />
        <Way outcome="passed" of={of.passing} />
      </ul>
      <ButtonLink to={besideAddress(of.failing.run_id, of.passing.run_id)} className="mt-3">
        See the two side by side
      </ButtonLink>
    </div>
  );
}

function Way({ outcome, of }: { outcome: "failed" | "passed"; of: Branch }) {
  return (
    <li className="flex flex-wrap items-baseline gap-x-2 gap-y-1">
      <OutcomeBadge of={outcome} />
      <span className="min-w-0 flex-1 basis-64 [overflow-wrap:anywhere]">
        {whole(of.count)} of {whole(of.of)} {outcome === "failed" ? "failing" : "passing"} runs{" "}
        <span className="foreign">
          <Seen>{of.did}</Seen>
        </span>
      </span>
      <RunLink id={of.run_id} />
    </li>
  );
}
