import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "@/api/client";
import { queries } from "@/api/queries";
import type { ShareLink } from "@/api/types";
import { Label, type Tone } from "@/components/Badge";
import { Button } from "@/components/Button";
import { CopyButton } from "@/components/CopyButton";
import { Form } from "@/components/Form";
import { Menu } from "@/components/Menu";
import { SelectField } from "@/components/SelectField";
import { ErrorNotice, Notice } from "@/components/states";
import { TextInput } from "@/components/TextInput";
import { VisibleText } from "@/components/VisibleText";
import { formatTime } from "@/lib/format";
import { isLoopback } from "@/lib/loopback";

/** Make a link to the report that expires, and list and revoke those that there are. */
export function ShareMenu({ reportId }: { reportId: string }) {
  const [opened, setOpened] = useState(false);
  return (
    <Menu title="Share" onToggle={(open) => open && setOpened(true)}>
      {opened ? (
        <>
          <NewLink reportId={reportId} />
          <Links reportId={reportId} />
        </>
      ) : null}
    </Menu>
  );
}

const DAYS = [1, 7, 30, 90].map((days) => ({ value: String(days), label: days === 1 ? "1 day" : `${days} days` }));

function NewLink({ reportId }: { reportId: string }) {
  const client = useQueryClient();
  const [days, setDays] = useState("7");
  const [note, setNote] = useState("");
  const create = useMutation({
    mutationFn: () => api.createShareLink(reportId, { days: Number(days), note }),
    gcTime: 0,
    onSuccess: () => {
      setNote("");
      return client.invalidateQueries({ queryKey: queries.shareLinks(reportId).queryKey });
    },
  });
  return (
    <Form
      aria-label="New share link"
      className="space-y-3"
      isPending={create.isPending}
      onSubmit={() => create.mutate()}
    >
      <p className="text-sm">
        Whoever has the link can read and export this report with its text and its review until the link expires,
        without logging in. It opens nothing else of this server.
      </p>
      <div>
        <SelectField label="The link works for" value={days} onChange={setDays} options={DAYS} />
      </div>
      <TextInput
        label="Note (optional)"
        value={note}
        onChange={setNote}
        autoComplete="off"
        maxLength={500}
        hint="For whom it is, for example. It is listed below; the link does not show it."
      />
      <Button type="submit" variant="primary" disabled={create.isPending}>
        Create link
      </Button>
      {create.error ? <ErrorNotice error={create.error} /> : null}
      <div role="status">{create.data ? <Address path={create.data.path} /> : null}</div>
    </Form>
  );
}

function Address({ path }: { path: string }) {
  const address = `${window.location.origin}${path}`;
  return (
    <Notice tone="green">
      <p className="font-semibold">Copy the link now. It is not shown again: only a hash of it is stored.</p>
      <p className="mt-1 text-sm [overflow-wrap:anywhere]">
        <code>{address}</code> <CopyButton text={address} label="the link" />
      </p>
      {isLoopback() ? (
        <p className="mt-1 text-sm">
          This address reaches a server on the same machine only, so others cannot open it. To share with them, open
          this page at the address by which they reach the server.
        </p>
      ) : null}
    </Notice>
  );
}

function Links({ reportId }: { reportId: string }) {
  const { data, error } = useQuery(queries.shareLinks(reportId));
  return (
    <section aria-label="Links to this report" className="border-rule border-t pt-3">
      <h3 className="font-semibold">Links to this report</h3>
      {error ? <ErrorNotice error={error} /> : null}
      {data?.length === 0 ? <p className="text-sm text-soft">There are none.</p> : null}
      <ul className="mt-2 space-y-3">
        {data?.map((link) => (
          <LinkItem key={link.id} link={link} />
        ))}
      </ul>
    </section>
  );
}

const STATES: Record<ShareLink["state"], { text: string; tone: Tone }> = {
  open: { text: "works", tone: "green" },
  expired: { text: "expired", tone: "grey" },
  revoked: { text: "revoked", tone: "grey" },
  suspended: { text: "suspended", tone: "amber" },
};

function LinkItem({ link }: { link: ShareLink }) {
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => api.revokeShareLink(link.evaluation_id, link.id),
    onSuccess: () => client.invalidateQueries({ queryKey: queries.shareLinks(link.evaluation_id).queryKey }),
  });
  const { text, tone } = STATES[link.state];
  return (
    <li className="foreign rounded border border-rule px-3 py-2 text-sm [overflow-wrap:anywhere]">
      <p className="flex flex-wrap items-baseline justify-between gap-2">
        <span className="font-semibold">
          <VisibleText>{link.note || "Link without a note"}</VisibleText>
        </span>
        <Label tone={tone}>{text}</Label>
      </p>
      <p>
        Made by <VisibleText>{link.created_by}</VisibleText>
        {link.authenticated ? "" : " (the server’s system user: nobody was logged in with a name)"},{" "}
        {formatTime(link.created_at)}. Works until {formatTime(link.expires_at)}.{" "}
        {link.last_opened_at ? `Last opened ${formatTime(link.last_opened_at)}.` : "Never opened."}
      </p>
      {link.revoked_at ? (
        <p>
          Revoked by <VisibleText>{link.revoked_by ?? ""}</VisibleText>, {formatTime(link.revoked_at)}.
        </p>
      ) : null}
      {link.state === "suspended" ? <p>Who made it may no longer share reports, so it does not open.</p> : null}
      {link.state === "open" || link.state === "suspended" ? (
        <Button
          className="mt-1 text-sm"
          aria-label={`Revoke the link of ${formatTime(link.created_at)}`}
          disabled={revoke.isPending}
          onClick={() => revoke.mutate()}
        >
          Revoke
        </Button>
      ) : null}
      {revoke.error ? <ErrorNotice error={revoke.error} /> : null}
    </li>
  );
}
