// The server's clock decides deadlines, so countdowns use it. The Date header
// of a reply has whole seconds, so each reply gives bounds for the difference
// of the two clocks. The bounds of all replies together are tight.

let minOffset = -Infinity;
let maxOffset = Infinity;

/**
 * Narrows the bounds by the Date header of a reply. `sent` and `received` are the times of the request and the reply by
 * this browser's clock, in milliseconds.
 */
export function noteServerDate(header: string | null, sent: number, received: number): void {
  const date = header ? Date.parse(header) : NaN;
  if (Number.isNaN(date)) return;
  const low = date - received;
  const high = date + 1000 - sent;
  if (low > maxOffset || high < minOffset) {
    // One of the clocks was changed, so the earlier bounds are wrong.
    minOffset = low;
    maxOffset = high;
    return;
  }
  minOffset = Math.max(minOffset, low);
  maxOffset = Math.min(maxOffset, high);
}

/** Returns the current time of the server's clock, in milliseconds. */
export function serverNow(): number {
  const offset = Number.isFinite(minOffset) ? (minOffset + maxOffset) / 2 : 0;
  // A difference below one second is not worth a correction.
  return Date.now() + (Math.abs(offset) < 1000 ? 0 : offset);
}
