import { useMutation, useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { api } from "@/api/client";
import { queries } from "@/api/queries";
import { Button } from "@/components/Button";
import { FileChooser, JSON_FILES } from "@/components/FileChooser";
import { ErrorNotice } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";
import { pluralize } from "@/lib/format";
import { Findings } from "../Findings";
import { useDraft } from "./draft";

export function PlaybookChoice() {
  const { draft, change } = useDraft();
  const id = useId();
  const library = useQuery({
    ...queries.playbooks(),
    select: (playbooks) => playbooks.filter(({ used_by }) => used_by === null),
  });
  const check = useMutation({
    mutationFn: async (file: File) => {
      const text = await file.text();
      return { name: file.name, text, found: await api.validatePlaybook(text) };
    },
    onSuccess: ({ name, text, found }) => change({ playbook: found.valid ? { name, text } : null }),
  });
  const isInvalid = check.data && !check.data.found.valid;
  return (
    <fieldset className="space-y-2">
      <legend className="font-semibold">Playbook</legend>
      {draft.playbook ? (
        <p className="flex flex-wrap items-baseline gap-x-2">
          <span className="[overflow-wrap:anywhere]">
            <VisibleText>{draft.playbook.name}</VisibleText>
          </span>
          <Button variant="text" className="px-1 py-0 text-sm" onClick={() => change({ playbook: null })}>
            Use one of the library
          </Button>
        </p>
      ) : (
        <>
          <label htmlFor={id} className="sr-only">
            Which playbook
          </label>
          <select
            id={id}
            className="field"
            value={draft.playbook_id || library.data?.[0]?.id || ""}
            onChange={(event) => change({ playbook_id: event.target.value })}
          >
            {library.data?.map((playbook) => (
              <option key={playbook.id} value={playbook.id}>
                {playbook.title} {playbook.version} ({pluralize(playbook.checks, "check")})
              </option>
            ))}
          </select>
        </>
      )}
      {library.error ? <ErrorNotice error={library.error} onRetry={library.refetch} /> : null}
      <FileChooser
        label="A playbook’s file"
        accept={JSON_FILES}
        onFile={check.mutate}
        disabled={check.isPending}
        className="text-sm"
      >
        {check.isPending ? "Checking …" : "Upload a playbook"}
      </FileChooser>
      {check.error ? <ErrorNotice error={check.error} /> : null}
      {check.data && (isInvalid || draft.playbook) ? (
        <Findings result={check.data.found} name={check.data.name} />
      ) : null}
    </fieldset>
  );
}
