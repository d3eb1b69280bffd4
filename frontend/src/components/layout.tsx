/** The layout of a page: title, sections, tables, lists of names and values. */
import { useEffect } from "react";
import { escapeInvisible } from "@/lib/unicodeEscape";
import { CopyButton } from "./CopyButton";
import { VisibleText } from "./VisibleText";

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${escapeInvisible(title)} – Salvo`;
  }, [title]);
}

export function PageTitle({ children, lead }: { children: string; lead?: React.ReactNode }) {
  useTitle(children);
  return (
    <header className="mb-6">
      <h1 className="text-3xl leading-tight [overflow-wrap:anywhere]">
        <VisibleText>{children}</VisibleText>
      </h1>
      {lead ? <p className="mt-2 max-w-prose text-soft">{lead}</p> : null}
    </header>
  );
}

export function Section({
  title,
  id,
  children,
  aside,
}: {
  title: string;
  id?: string;
  children: React.ReactNode;
  aside?: React.ReactNode;
}) {
  return (
    <section className="mt-9" {...(id ? { id } : {})}>
      <div className="mb-3 flex flex-wrap items-baseline justify-between gap-x-4 border-ink border-t-2 pt-3">
        <h2 className="text-xl leading-snug">{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}

export interface Fact {
  name: string;
  value: string;
  /** An identifier or a hash, set in monospace. */
  code?: boolean;
  copy?: boolean;
}

/** Names and values in rows. */
export function FactRows({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl>
      {facts.map((fact) => (
        <div
          key={fact.name}
          className="grid grid-cols-[minmax(0,1fr)] gap-x-4 border-rule border-b py-1.5 sm:grid-cols-[13rem_minmax(0,1fr)]"
        >
          <dt className="text-sm text-soft">{fact.name}</dt>
          <dd className="[overflow-wrap:anywhere]">
            <FactValue fact={fact} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Names and values side by side. */
export function Facts({ facts, small = false }: { facts: readonly Fact[]; small?: boolean }) {
  const layout = small ? "flex flex-wrap" : "grid grid-cols-[repeat(auto-fill,minmax(min(15rem,100%),1fr))]";
  return (
    <dl className={`gap-x-6 gap-y-2 ${layout}`}>
      {facts.map((fact) => (
        <div key={fact.name} className={small ? "min-w-28" : isLong(fact) ? "col-span-full" : ""}>
          <dt className="text-[0.8rem] text-soft">{fact.name}</dt>
          <dd className="[overflow-wrap:anywhere]">
            <FactValue fact={fact} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** A hash is on a line of its own, because it is too wide for two columns in a narrow window. */
function isLong({ code, value }: Fact): boolean {
  return Boolean(code) && value.length > 40;
}

function FactValue({ fact }: { fact: Fact }) {
  const text = <VisibleText>{fact.value}</VisibleText>;
  return (
    <>
      {fact.code ? <code>{text}</code> : text} {fact.copy ? <CopyButton text={fact.value} label={fact.name} /> : null}
    </>
  );
}

export function TextList({ items, emptyText }: { items: readonly string[]; emptyText: string }) {
  if (!items.length) return <p className="text-soft">{emptyText}</p>;
  return (
    <ul className="list-disc space-y-1.5 pl-5">
      {items.map((item) => (
        <li key={item} className="foreign">
          <VisibleText>{item}</VisibleText>
        </li>
      ))}
    </ul>
  );
}

interface ScrollRegionProps {
  label: string;
  className?: string;
  ref?: React.Ref<HTMLElement>;
  children: React.ReactNode;
}

/** A region that scrolls, also by keyboard; by default horizontally, when it is wider than the page. */
export function ScrollRegion({ label, className = WIDE_TABLE, ref, children }: ScrollRegionProps) {
  return (
    <section
      {...(ref ? { ref } : {})}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
      tabIndex={0}
      className={className}
    >
      {children}
    </section>
  );
}

// Relative, because text for screen readers is positioned and would otherwise widen the page.
const WIDE_TABLE = "relative overflow-x-auto rounded border border-rule bg-card print:overflow-visible";

interface TableProps {
  label: string;
  columns: readonly string[];
  small?: boolean;
  children: React.ReactNode;
}

/** A table whose children are its rows. */
export function Table({ label, columns, small = false, children }: TableProps) {
  return (
    <ScrollRegion label={label}>
      <table className={`w-full ${small ? "text-sm" : "text-[0.95rem]"}`}>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col" className={TH}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </ScrollRegion>
  );
}

export const TH =
  "border-rule border-b bg-well px-3 py-2 text-left max-sm:px-2 sm:whitespace-nowrap text-[0.8rem] font-semibold text-soft";
export const TD = "border-rule border-b px-3 py-2 align-top max-sm:px-2";
