import { useEffect } from "react";
import { withDisclaimers } from "@/components/Disclaimers";

/** What stands on every printed page: the document above, the disclaimers and the page number below. */
export function usePrintMargins(title: string, extraDisclaimers: readonly string[] = []): void {
  const disclaimers = withDisclaimers(extraDisclaimers).join(" ");
  useEffect(() => {
    const sheet = document.styleSheets[0];
    if (!sheet) return;
    // A rule of the stylesheet, because the content security policy forbids styles in the document.
    const index = sheet.cssRules.length;
    const font = "font: 7.5pt system-ui, sans-serif;";
    sheet.insertRule(
      `@page { margin: 18mm 16mm 22mm;
        @top-left { content: ${cssString(title)}; ${font} width: 85%; }
        @bottom-left { content: ${cssString(disclaimers)}; ${font} width: 85%; }
        @bottom-right { content: counter(page) " / " counter(pages); ${font} } }`,
      index,
    );
    const rule = sheet.cssRules[index];
    return () => {
      const place = [...sheet.cssRules].indexOf(rule as CSSRule);
      if (place >= 0) sheet.deleteRule(place);
    };
  }, [title, disclaimers]);
}

/** A text as a CSS string. Whatever is not a letter, a digit or a space is written as its code point. */
export function cssString(text: string): string {
  const escaped = [...text.replace(/\s+/g, " ")].map((character) =>
    /[\p{L}\p{N} ]/u.test(character) ? character : `\\${(character.codePointAt(0) as number).toString(16)} `,
  );
  return `"${escaped.join("")}"`;
}

/** Opens every fold while the page is printed, and closes those again that were closed. */
export function useOpenFoldsInPrint(): void {
  useEffect(() => {
    let opened: HTMLDetailsElement[] = [];
    const open = () => {
      opened = [...document.querySelectorAll<HTMLDetailsElement>("main details:not([open])")];
      for (const fold of opened) fold.open = true;
    };
    const close = () => {
      for (const fold of opened) fold.open = false;
      opened = [];
    };
    addEventListener("beforeprint", open);
    addEventListener("afterprint", close);
    return () => {
      removeEventListener("beforeprint", open);
      removeEventListener("afterprint", close);
    };
  }, []);
}
