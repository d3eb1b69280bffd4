import { isLoopback } from "@/lib/loopback";

/** Where a text goes that is judged by the rules, and what that costs. */
export function rulesNotice(hostname?: string): string {
  const place = isLoopback(hostname) ? "Nothing leaves this machine." : "Nothing is sent further than to this server.";
  return `${place} No model is used, and it costs nothing.`;
}
