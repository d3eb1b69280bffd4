/** Server-sent events read from a fetch response. Unlike EventSource, this can resume after an id and report errors. */

export interface StreamEvent {
  name: string;
  data: string;
  id: string | null;
}

export async function* parseEventStream(body: ReadableStream<Uint8Array>): AsyncIterable<StreamEvent> {
  const parser = new EventParser();
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parser.push(value);
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** Turns chunks of text of any size into complete events, as the HTML standard describes them. */
export class EventParser {
  private buffer = "";
  private name = "";
  private data: string[] = [];
  private id: string | null = null;

  push(text: string): StreamEvent[] {
    const events: StreamEvent[] = [];
    const lines = (this.buffer + text).split(/\r\n|\n|\r(?!$)/);
    this.buffer = lines.pop() ?? "";
    for (const line of lines) {
      if (line) this.readLine(line);
      else if (this.data.length) events.push(this.dispatch());
      else this.name = "";
    }
    return events;
  }

  private readLine(line: string): void {
    const colon = line.indexOf(":");
    if (colon === 0) return; // a comment, sent to keep the connection open
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.name = value;
    else if (field === "data") this.data.push(value);
    else if (field === "id" && !value.includes("\0")) this.id = value;
  }

  private dispatch(): StreamEvent {
    const event = { name: this.name || "message", data: this.data.join("\n"), id: this.id };
    this.name = "";
    this.data = [];
    return event;
  }
}
