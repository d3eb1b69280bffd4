/** Compares two texts outside the thread that draws the page. */
import { redline } from "./redline";

self.onmessage = (event: MessageEvent<{ before: string; after: string }>) => {
  self.postMessage(redline(event.data.before, event.data.after));
};
