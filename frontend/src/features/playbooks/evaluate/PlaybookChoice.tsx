import { useMutation, useQuery } from "@tanstack/react-query";
import { api } from "@/api/client";
import { queries } from "@/api/queries";
import { Button } from "@/components/Button";
import { FileChooser, JSON_FILES } from "@/components/FileChooser";
import { SelectField } from "@/components/SelectField";
import { ErrorNotice } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { pluralize } from "@/lib/format";
import { Findings } from "../Findings";
import { useDraft } from "./draft";

export function PlaybookChoice() {
  const { draft, change } = useDraft();
  const library = useQuery({
    ...queries.playbooks(),
    select: (playbooks) => playbooks.filter(({ used_by }) => used_by === null),
  });
  const check = useMutation({
    mutationFn: async (file: File) => {
      const text = await file.text();
      return { name: file.name, text, result: await api.validatePlaybook(text) };
    },
    onSuccess: ({ name, text, result }) => change({ playbook: result.valid ? { name, text } : null }),
  });
  const isInvalid = check.data && !check.data.result.valid;
  return (
    <fieldset className="space-y-2">
      <legend className="font-semibold">Playbook</legend>
      {draft.playbook ? (
        <p className="flex flex-wrap items-baseline gap-x-2">
          <span className="[overflow-wrap:anywhere]">
            <VisibleText>{draft.playbook.name}</VisibleText>
          </span>
          <Button variant="inline" className="text-sm" onClick={() => change({ playbook: null })}>
            Use a library playbook
          </Button>
        </p>
      ) : (
        <SelectField
          label="Choose a playbook"
          hideLabel
          value={draft.playbook_id || library.data?.[0]?.id || ""}
          onChange={(playbook_id) => change({ playbook_id })}
          options={(library.data ?? []).map(({ id, title, version, checks }) => ({
            value: id,
            label: `${title} ${version} (${pluralize(checks, "check")})`,
          }))}
        />
      )}
      {library.error ? <ErrorNotice error={library.error} onRetry={library.refetch} /> : null}
      <FileChooser
        label="Playbook file"
        accept={JSON_FILES}
        onFile={check.mutate}
        disabled={check.isPending}
        className="text-sm"
      >
        {check.isPending ? "Checking …" : "Upload a playbook"}
      </FileChooser>
      {check.error ? <ErrorNotice error={check.error} /> : null}
      {check.data && (isInvalid || draft.playbook) ? (
        <Findings result={check.data.result} name={check.data.name} />
      ) : null}
    </fieldset>
  );
}
