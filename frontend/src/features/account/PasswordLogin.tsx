import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "@/api/client";
import { Button } from "@/components/Button";
import { Form } from "@/components/Form";
import { ErrorNotice } from "@/components/states";
import { TextInput } from "@/components/TextInput";

/** Log in with a name and a password. */
export function PasswordLogin({ onLoggedIn }: { onLoggedIn: () => void }) {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const logIn = useMutation({ mutationFn: () => api.logIn({ name, password }), onSuccess: onLoggedIn });
  return (
    <Form
      aria-label="Log in"
      className="mt-6 max-w-sm space-y-4"
      isPending={logIn.isPending}
      onSubmit={() => logIn.mutate()}
    >
      <TextInput label="Name" value={name} onChange={setName} autoComplete="username" maxLength={100} required />
      <TextInput
        label="Password"
        type="password"
        value={password}
        onChange={setPassword}
        autoComplete="current-password"
        maxLength={1000}
        required
      />
      {logIn.isError ? <ErrorNotice error={logIn.error} /> : null}
      <Button type="submit" variant="primary" disabled={!name.trim() || !password || logIn.isPending}>
        {logIn.isPending ? "Logging in …" : "Log in"}
      </Button>
    </Form>
  );
}
