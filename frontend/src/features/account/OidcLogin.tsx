import { useMutation } from "@tanstack/react-query";
import { api } from "@/api/client";
import { Button } from "@/components/Button";
import { ErrorNotice } from "@/components/states";
import { VisibleText } from "@/components/VisibleText";

const LONGEST_PATH = 2000;

/** The page that is open, to which the login comes back; not that of a login. */
function openPage(): string {
  const { pathname, search } = window.location;
  const path = pathname + search;
  return pathname === "/login" || pathname.startsWith("/login/") || path.length > LONGEST_PATH ? "/" : path;
}

/** Log in with the provider: it is opened in this tab. */
export function OidcLogin({ provider, isPrimary }: { provider: string; isPrimary: boolean }) {
  const begin = useMutation({
    mutationFn: () => api.beginOidcLogin({ return_to: openPage() }),
    onSuccess: ({ url }) => window.location.assign(url),
  });
  return (
    <div className="mt-6 max-w-prose space-y-4">
      <Button
        variant={isPrimary ? "primary" : "secondary"}
        disabled={begin.isPending || begin.isSuccess}
        onClick={() => begin.mutate()}
      >
        <span>
          Log in with <VisibleText>{provider}</VisibleText>
        </span>
      </Button>
      {begin.isError ? <ErrorNotice error={begin.error} /> : null}
      <p className="text-soft">
        This opens <VisibleText>{provider}</VisibleText> in this tab, which then comes back. Logging out here does not
        log you out there.
      </p>
    </div>
  );
}
