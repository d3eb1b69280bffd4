import { Link, type LinkProps } from "react-router";

const LOOK = {
  main: "border-link bg-link text-card hover:brightness-110 font-semibold",
  plain: "border-edge bg-card text-ink hover:bg-well",
  quiet: "border-transparent bg-transparent text-link underline underline-offset-2 hover:bg-well",
};
const SHAPE =
  "inline-flex items-center justify-center gap-2 rounded border px-3 py-1.5 no-underline disabled:opacity-60 disabled:hover:brightness-100 aria-disabled:cursor-default aria-disabled:opacity-60";

interface Props extends React.ButtonHTMLAttributes<HTMLButtonElement> {
  look?: keyof typeof LOOK;
}

export function Button({ look = "plain", className = "", ...rest }: Props) {
  return <button type="button" className={`${SHAPE} ${LOOK[look]} ${className}`} {...rest} />;
}

export function ButtonLink({ look = "plain", className = "", ...rest }: LinkProps & { look?: keyof typeof LOOK }) {
  return <Link className={`${SHAPE} ${LOOK[look]} ${className}`} {...rest} />;
}

/** Leads out of the page's own addresses: a file to keep. */
export function DownloadLink({ href, children }: { href: string; children: React.ReactNode }) {
  return (
    <a href={href} download className={`${SHAPE} ${LOOK.plain}`}>
      {children}
    </a>
  );
}
