import type { PlaybookFindings } from "@/api/types";
import { Label } from "@/components/Badge";
import { Seen } from "@/components/Seen";
import { Notice } from "@/components/states";
import { counted } from "@/lib/format";

/** What the validator says of a playbook: the errors first, each with its place. */
export function Findings({ of, name }: { of: PlaybookFindings; name: string }) {
  const errors = of.findings.filter(({ level }) => level === "error").length;
  const warnings = of.findings.length - errors;
  return (
    <div role="status" className="space-y-2">
      <Notice tone={errors ? "red" : warnings ? "amber" : "green"}>
        <span className="[overflow-wrap:anywhere]">
          <Seen>{name}</Seen>
        </span>
        {errors
          ? ` cannot be used: ${counted(errors, "error")}.`
          : ` can be used${warnings ? `, with ${counted(warnings, "warning")}` : ""}.`}
      </Notice>
      {of.findings.length ? (
        <ul className="max-h-80 space-y-1.5 overflow-y-auto text-sm">
          {of.findings.map((finding) => (
            <li key={`${finding.path} ${finding.message}`} className="[overflow-wrap:anywhere]">
              <Label tone={finding.level === "error" ? "red" : "amber"}>{finding.level}</Label>{" "}
              <code>
                <Seen>{finding.path}</Seen>
              </code>{" "}
              <Seen>{finding.message}</Seen>
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}
