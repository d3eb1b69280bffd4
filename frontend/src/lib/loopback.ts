const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** Whether the server is this machine, by the address that the browser has open. */
export function isLoopback(hostname: string = window.location.hostname): boolean {
  return LOOPBACK.has(hostname);
}
