import type { Connection } from "@/api/reconnectingStream";
import { Notice } from "@/components/states";

/** Says to those who do not see it what came, and to everybody when nothing can come. */
export function ConnectionStatus({ connection, announcement }: { connection: Connection; announcement: string }) {
  return (
    <>
      <p role="status" className="sr-only">
        {announcement}
      </p>
      {connection === "lost" ? (
        <div className="mb-4">
          <Notice>The connection is lost, so new runs do not appear. Trying to reach the server again …</Notice>
        </div>
      ) : null}
    </>
  );
}
