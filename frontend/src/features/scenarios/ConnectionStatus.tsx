import type { Connection } from "@/api/reconnectingStream";
import { Notice } from "@/components/states";

/** Announces changes to screen readers, and shows a notice while the connection is lost. */
export function ConnectionStatus({ connection, announcement }: { connection: Connection; announcement: string }) {
  return (
    <>
      <p role="status" className="sr-only">
        {announcement}
      </p>
      {connection === "lost" ? (
        <div className="mb-4">
          <Notice>Connection lost. New runs do not appear until the server can be reached again. Reconnecting …</Notice>
        </div>
      ) : null}
    </>
  );
}
