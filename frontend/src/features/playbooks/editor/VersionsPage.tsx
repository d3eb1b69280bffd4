import { useQuery } from "@tanstack/react-query";
import { useParams, useSearchParams } from "react-router";
import { api } from "@/api/client";
import { queries } from "@/api/queries";
import type { PlaybookChange, SavedVersion } from "@/api/types";
import { Label, type Tone } from "@/components/Badge";
import { ButtonLink, DownloadLink } from "@/components/Button";
import { PageTitle, Section } from "@/components/layout";
import { SelectField } from "@/components/SelectField";
import { ErrorNotice, Loading, PageError } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { ForRole } from "@/features/account/roles";
import { checkTitle, formatTime } from "@/lib/format";

/** The versions of a saved playbook, and what changed between two of them. */
export function VersionsPage() {
  const { id = "" } = useParams();
  const { data, error, refetch } = useQuery(queries.playbookVersions(id));
  if (error) return <PageError title="Versions" error={error} onRetry={refetch} />;
  if (!data) return <Loading label="the versions" />;
  return (
    <div className="max-w-4xl">
      <PageTitle lead="A saved version is never changed. Where people do not log in, names are as they were typed.">
        {`Versions of ${id}`}
      </PageTitle>
      <p className="flex flex-wrap gap-2">
        <ForRole needs="reviewer">
          <ButtonLink to={`/playbooks/${encodeURIComponent(id)}/edit`}>Edit the newest version</ButtonLink>
        </ForRole>
        <ButtonLink to="/playbooks">All playbooks</ButtonLink>
      </p>
      {data.versions.length > 1 ? <VersionDiff id={id} versions={data.versions} /> : null}
      <Section title="All versions">
        <ol className="space-y-3">
          {data.versions.map((version) => (
            <li key={version.number} className="rounded border border-rule bg-card p-4 [overflow-wrap:anywhere]">
              <h3 className="font-semibold">
                {version.number}. <VisibleText>{version.version}</VisibleText>
              </h3>
              <p>
                Saved by <VisibleText>{version.saved_by}</VisibleText> on {formatTime(version.saved_at)}
              </p>
              {version.note ? (
                <p>
                  <VisibleText>{version.note}</VisibleText>
                </p>
              ) : null}
              <p className="my-2 text-sm text-soft">
                Logic hash <code>{version.logic_hash}</code>
              </p>
              <DownloadLink href={api.playbookExportUrl(id, version.number)}>
                Export JSON<span className="sr-only"> of version {version.number}</span>
              </DownloadLink>
            </li>
          ))}
        </ol>
      </Section>
    </div>
  );
}

function VersionDiff({ id, versions }: { id: string; versions: readonly SavedVersion[] }) {
  const [params, setParams] = useSearchParams();
  const newest = versions[0]?.number ?? 1;
  const after = Number(params.get("after")) || newest;
  const before = Number(params.get("before")) || Math.max(after - 1, 1);
  const { data, error, refetch } = useQuery(queries.playbookDiff(id, before, after));
  const options = versions.map(({ number, version }) => ({ value: String(number), label: `${number}. ${version}` }));
  const choose = (part: Record<string, string>) =>
    setParams({ before: String(before), after: String(after), ...part }, { replace: true });
  return (
    <Section title="What changed">
      <div className="grid gap-4 sm:grid-cols-2">
        <div>
          <SelectField
            label="From version"
            value={String(before)}
            onChange={(value) => choose({ before: value })}
            options={options}
          />
        </div>
        <div>
          <SelectField
            label="To version"
            value={String(after)}
            onChange={(value) => choose({ after: value })}
            options={options}
          />
        </div>
      </div>
      {error ? <ErrorNotice error={error} onRetry={refetch} /> : null}
      {data ? (
        <>
          <p className="my-3">{data.effect}</p>
          <ul aria-label="Changes" className="space-y-3">
            {data.changes.map((change) => (
              <li
                key={`${change.check_id} ${change.place} ${change.kind} ${change.before} ${change.after}`}
                className="border-rule border-l-[3px] pl-4"
              >
                <ChangeText change={change} />
              </li>
            ))}
          </ul>
        </>
      ) : null}
    </Section>
  );
}

const TONES: Record<PlaybookChange["kind"], Tone> = { added: "green", removed: "red", changed: "blue", moved: "plain" };

function ChangeText({ change }: { change: PlaybookChange }) {
  const place = [change.check_id ? checkTitle(change.check_id) : "", change.place].filter(Boolean).join(": ");
  return (
    <div className="[overflow-wrap:anywhere]">
      <p className="flex flex-wrap items-center gap-2">
        <Label tone={TONES[change.kind]}>{change.kind}</Label>
        <VisibleText>{place}</VisibleText>
      </p>
      {change.before ? (
        <p className="foreign">
          <span className="text-soft">Before: </span>
          <VisibleText>{change.before}</VisibleText>
        </p>
      ) : null}
      {change.after ? (
        <p className="foreign">
          <span className="text-soft">After: </span>
          <VisibleText>{change.after}</VisibleText>
        </p>
      ) : null}
    </div>
  );
}
