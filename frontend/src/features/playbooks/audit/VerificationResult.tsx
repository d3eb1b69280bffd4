import type { Verification } from "@/api/types";
import { Label, type Tone } from "@/components/Badge";
import { Notice } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";

/** What a verification shows and does not show, in the words of `byop verify`. */
export function VerificationResult({ verification }: { verification: Verification }) {
  const { conclusion, failed, findings } = verification;
  const isUnknown = findings.some(({ standing }) => standing === "unknown");
  return (
    <div role="status" className="space-y-3">
      <Notice tone={failed ? "red" : isUnknown ? "amber" : "green"}>
        <p className="font-semibold [overflow-wrap:anywhere]">
          <VisibleText>{conclusion}</VisibleText>
        </p>
      </Notice>
      <ul aria-label="What was verified" className="space-y-2 text-sm">
        {findings.map(({ part, standing, message }) => (
          <li key={`${part} ${message}`} className="[overflow-wrap:anywhere]">
            <Label tone={tone(standing)}>{standing.replaceAll("_", " ")}</Label> <strong>{part}</strong>:{" "}
            <VisibleText>{message}</VisibleText>
          </li>
        ))}
      </ul>
    </div>
  );
}

function tone(standing: Verification["findings"][number]["standing"]): Tone {
  if (standing === "holds") return "green";
  return standing === "unknown" ? "amber" : "red";
}
