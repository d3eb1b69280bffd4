import type { Connection } from "@/api/follow";
import { Notice } from "@/components/states";

/** Says to those who do not see it what came, and to everybody when nothing can come. */
export function Live({ connection, news }: { connection: Connection; news: string }) {
  return (
    <>
      <p role="status" className="sr-only">
        {news}
      </p>
      {connection === "lost" ? (
        <div className="mb-4">
          <Notice>The connection is lost, so new runs do not appear. Trying to reach the server again …</Notice>
        </div>
      ) : null}
    </>
  );
}
