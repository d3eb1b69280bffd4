/** Placeholders for content that is loading, empty or failed. */
import { toProblem } from "@/api/errors";
import type { Problem } from "@/api/types";
import type { Tone } from "./Badge";
import { Button } from "./Button";
import { PageTitle } from "./layout";
import { VisibleText } from "./VisibleText";

export function Loading({ label }: { label: string }) {
  return (
    <p role="status" className="py-10 text-soft">
      Loading {label} …
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

/** What the user should know and decide about. Screen readers announce a warning when it appears. */
export function Warnings({ warnings }: { warnings: readonly string[] }) {
  if (!warnings.length) return null;
  return (
    <div role="alert" className="space-y-2">
      {warnings.map((warning) => (
        <Notice key={warning}>
          <strong>Warning:</strong> <VisibleText>{warning}</VisibleText>
        </Notice>
      ))}
    </div>
  );
}

/** The API's error message and hint. */
export function ProblemNotice({ problem, onRetry }: { problem: Problem; onRetry?: (() => void) | undefined }) {
  return (
    <div role="alert">
      <Notice tone="red">
        <p className="font-semibold">
          <VisibleText>{problem.message}</VisibleText>
        </p>
        {problem.hint ? (
          <p className="mt-1">
            <VisibleText>{problem.hint}</VisibleText>
          </p>
        ) : null}
        {onRetry ? (
          <Button className="mt-2 text-sm" onClick={onRetry}>
            Try again
          </Button>
        ) : null}
      </Notice>
    </div>
  );
}

interface PageErrorProps {
  title: string;
  error: unknown;
  onRetry: () => void;
  children?: React.ReactNode;
}

/** Shown instead of a page whose data could not be loaded. */
export function PageError({ title, error, onRetry, children }: PageErrorProps) {
  return (
    <>
      <PageTitle>{title}</PageTitle>
      <ErrorNotice error={error} onRetry={onRetry} />
      {children}
    </>
  );
}

export function ErrorNotice({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return <ProblemNotice problem={toProblem(error)} onRetry={onRetry} />;
}
