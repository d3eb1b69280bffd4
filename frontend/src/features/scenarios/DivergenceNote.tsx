import type { Branch, Divergence } from "@/api/types";
import { ButtonLink } from "@/components/Button";
import { VisibleText } from "@/components/VisibleText";
import { formatCount } from "@/lib/format";
import { OutcomeBadge } from "./Badges";
import { compareRunsPath, RunLink } from "./RunLink";

/** The step at which failing and passing runs diverge, with one run of each kind. */
export function DivergenceNote({ divergence }: { divergence: Divergence }) {
  return (
    <div className="rounded border border-rule bg-card p-4">
      <p className="font-semibold">Failing and passing runs diverge at step {divergence.step}.</p>
      <ul className="mt-2 space-y-2">
        <BranchItem outcome="failed" branch={divergence.failing} />
        <BranchItem outcome="passed" branch={divergence.passing} />
      </ul>
      <ButtonLink to={compareRunsPath(divergence.failing.run_id, divergence.passing.run_id)} className="mt-3">
        Compare the two runs
      </ButtonLink>
    </div>
  );
}

function BranchItem({ outcome, branch }: { outcome: "failed" | "passed"; branch: Branch }) {
  return (
    <li className="flex flex-wrap items-baseline gap-x-2 gap-y-1">
      <OutcomeBadge outcome={outcome} />
      <span className="min-w-0 flex-1 basis-64 [overflow-wrap:anywhere]">
        {formatCount(branch.count)} of {formatCount(branch.of)} {outcome === "failed" ? "failing" : "passing"} runs{" "}
        <span className="foreign">
          <VisibleText>{branch.did}</VisibleText>
        </span>
      </span>
      <RunLink id={branch.run_id} />
    </li>
  );
}
