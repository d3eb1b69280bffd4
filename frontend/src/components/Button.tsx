import { Link, type LinkProps } from "react-router";
import { api } from "@/api/client";
import { isLoginError } from "@/api/errors";

const VARIANTS = {
  primary: "px-3 py-1.5 border-link bg-link text-card hover:brightness-110 font-semibold",
  secondary: "px-3 py-1.5 border-edge bg-card text-ink hover:bg-well",
  text: "px-3 py-1.5 border-transparent bg-transparent text-link underline underline-offset-2 hover:bg-well",
  /** Within a line of text or a cell of a table, in line with what stands beside it. */
  inline: "min-h-6 px-1 border-transparent bg-transparent text-link underline underline-offset-2 hover:bg-well",
};
const BASE =
  "inline-flex items-center justify-center gap-2 rounded border no-underline disabled:opacity-60 disabled:hover:brightness-100 aria-disabled:cursor-default aria-disabled:opacity-60";

export interface ButtonProps extends React.ButtonHTMLAttributes<HTMLButtonElement> {
  variant?: keyof typeof VARIANTS;
}

export function Button({ variant = "secondary", className = "", ...rest }: ButtonProps) {
  return <button type="button" className={`${BASE} ${VARIANTS[variant]} ${className}`} {...rest} />;
}

export function ButtonLink({
  variant = "secondary",
  className = "",
  ...rest
}: LinkProps & { variant?: keyof typeof VARIANTS }) {
  return <Link className={`${BASE} ${VARIANTS[variant]} ${className}`} {...rest} />;
}

/** A link within text. */
export function TextLink(props: LinkProps) {
  return <Link className="text-link underline" {...props} />;
}

/** A link that downloads a file. Without a session it leads to the login screen, where a download would just fail. */
export function DownloadLink({ href, children }: { href: string; children: React.ReactNode }) {
  const checkLogin = (event: React.MouseEvent<HTMLAnchorElement>) => {
    event.preventDefault();
    // An error apart from a missing login is the browser's to report, with the download.
    api.session().then(
      () => download(href),
      (error) => isLoginError(error) || download(href),
    );
  };
  return (
    <a href={href} download onClick={checkLogin} className={`${BASE} ${VARIANTS.secondary}`}>
      {children}
    </a>
  );
}

function download(href: string): void {
  const link = document.createElement("a");
  link.href = href;
  link.download = "";
  link.click();
}
