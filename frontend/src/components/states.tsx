/** What stands where something is loading, missing or wrong. */
import { problemOf } from "@/api/errors";
import type { Problem } from "@/api/types";
import type { Tone } from "./Badge";
import { Button } from "./Button";
import { Seen } from "./Seen";

export function Loading({ what }: { what: string }) {
  return (
    <p role="status" className="py-10 text-soft">
      Loading {what} …
    </p>
  );
}

export function Empty({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <div className="rounded border border-dashed border-edge px-6 py-10 text-center">
      <p className="font-serif text-lg">{title}</p>
      <div className="mt-2 text-soft">{children}</div>
    </div>
  );
}

export function Notice({ tone = "amber", children }: { tone?: Tone; children: React.ReactNode }) {
  return (
    <div data-tone={tone} className="rounded border-[1.5px] border-(--tone) bg-(--tint) px-4 py-2.5 text-(--tone)">
      {children}
    </div>
  );
}

/** The API's own sentence and its hint. */
export function ProblemNotice({ problem, retry }: { problem: Problem; retry?: (() => void) | undefined }) {
  return (
    <div role="alert">
      <Notice tone="red">
        <p className="font-semibold">
          <Seen>{problem.message}</Seen>
        </p>
        {problem.hint ? (
          <p className="mt-1">
            <Seen>{problem.hint}</Seen>
          </p>
        ) : null}
        {retry ? (
          <Button className="mt-2 text-sm" onClick={retry}>
            Try again
          </Button>
        ) : null}
      </Notice>
    </div>
  );
}

export function Failure({ fault, retry }: { fault: unknown; retry?: () => void }) {
  return <ProblemNotice problem={problemOf(fault)} retry={retry} />;
}
