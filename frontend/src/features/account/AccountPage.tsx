import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "@/api/client";
import { queries } from "@/api/queries";
import type { Role } from "@/api/types";
import { Button } from "@/components/Button";
import { Form } from "@/components/Form";
import { PageTitle, Section, Table, TD } from "@/components/layout";
import { ErrorNotice, Loading, Notice } from "@/components/states";
import { TextInput } from "@/components/TextInput";
import { VisibleText } from "@/components/VisibleText";

const RIGHTS: Record<Role, string> = {
  reader: "read and export",
  reviewer: "read, export, evaluate and review",
  admin: "read, export, evaluate, review and delete, and see the users",
};

/** Who is logged in and what they may do; their password; and for administrators the users. */
export function AccountPage() {
  const { data: session, error } = useQuery(queries.session());
  if (error) return <ErrorNotice error={error} />;
  if (!session) return <Loading label="your account" />;
  return (
    <div className="max-w-4xl">
      <PageTitle lead={`You have the role ${session.role}: you can ${RIGHTS[session.role]}.`}>
        {session.authenticated ? session.user : "Your account"}
      </PageTitle>
      {session.has_password ? <PasswordForm /> : null}
      {session.authenticated && !session.has_password ? (
        <p className="max-w-prose">You log in with the login provider, so you have no password here.</p>
      ) : null}
      {session.authenticated ? null : (
        <p className="max-w-prose">
          You opened an address that the server printed, so nobody knows your name: reviews are recorded with the name
          that you type. The command <code className="whitespace-nowrap">byop user add NAME</code> adds users who log in
          with their names.
        </p>
      )}
      {session.role === "admin" ? <Users /> : null}
    </div>
  );
}

function PasswordForm() {
  const [current, setCurrent] = useState("");
  const [password, setPassword] = useState("");
  const change = useMutation({
    mutationFn: () => api.changePassword({ current, new: password }),
    onSuccess: () => {
      setCurrent("");
      setPassword("");
    },
  });
  return (
    <Section title="Change your password">
      <Form
        aria-label="Change your password"
        className="max-w-sm space-y-4"
        isPending={change.isPending}
        onSubmit={() => change.mutate()}
      >
        <TextInput
          label="Current password"
          type="password"
          value={current}
          onChange={setCurrent}
          autoComplete="current-password"
          maxLength={1000}
          required
        />
        <TextInput
          label="New password"
          type="password"
          value={password}
          onChange={setPassword}
          autoComplete="new-password"
          maxLength={1000}
          required
          hint="At least 12 characters. Your other sessions end."
        />
        {change.isError ? <ErrorNotice error={change.error} /> : null}
        <Button type="submit" disabled={!current || !password || change.isPending}>
          Change password
        </Button>
        <div role="status">{change.isSuccess ? <Notice tone="green">Your password was changed.</Notice> : null}</div>
      </Form>
    </Section>
  );
}

function Users() {
  const { data, error } = useQuery(queries.users());
  return (
    <Section title="Users">
      {error ? <ErrorNotice error={error} /> : null}
      {data?.length ? (
        <Table label="Users" columns={["Name", "Role", "Logs in with", "Since", "State"]}>
          {data.map((user) => (
            <tr key={user.name}>
              <td className={`${TD} min-w-28`}>
                <VisibleText>{user.name}</VisibleText>
              </td>
              <td className={TD}>{user.role}</td>
              <td className={TD}>
                <VisibleText>
                  {[user.password_set_at ? "password" : null, user.identity?.issuer].filter(Boolean).join(", ")}
                </VisibleText>
              </td>
              <td className={`${TD} whitespace-nowrap`}>{user.created_at.slice(0, 10)}</td>
              <td className={TD}>{user.disabled ? "disabled" : "can log in"}</td>
            </tr>
          ))}
        </Table>
      ) : null}
      <p className="mt-3 max-w-prose text-soft">
        Whoever runs the server adds and changes users on the command line:{" "}
        <code className="whitespace-nowrap">byop user --help</code>.
      </p>
    </Section>
  );
}
