import type { PlaybookFindings } from "@/api/types";
import { Label } from "@/components/Badge";
import { Notice } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { pluralize } from "@/lib/format";

/** The validator's findings about a playbook, each with its place in words. */
export function Findings({ result, name }: { result: PlaybookFindings; name: string }) {
  const errors = result.findings.filter(({ level }) => level === "error").length;
  const warnings = result.findings.length - errors;
  return (
    <div role="status" className="space-y-2">
      <Notice tone={errors ? "red" : warnings ? "amber" : "green"}>
        <span className="[overflow-wrap:anywhere]">
          <VisibleText>{name}</VisibleText>
        </span>
        {errors
          ? ` cannot be used: ${pluralize(errors, "error")}.`
          : ` can be used${warnings ? `, with ${pluralize(warnings, "warning")}` : ""}.`}
      </Notice>
      {result.findings.length ? (
        <ul className="max-h-80 space-y-1.5 overflow-y-auto text-sm">
          {result.findings.map((finding) => (
            <li key={`${finding.path} ${finding.message}`} className="[overflow-wrap:anywhere]">
              <Label tone={finding.level === "error" ? "red" : "amber"}>{finding.level}</Label>{" "}
              <strong>
                <VisibleText>{finding.place}</VisibleText>
              </strong>{" "}
              <VisibleText>{finding.message}</VisibleText>
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}
