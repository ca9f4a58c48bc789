// The server's clock decides deadlines, so countdowns go by it. Each reply's
// Date header, which has whole seconds, bounds how far the two clocks are
// apart; the bounds of all replies together are tight.

let least = -Infinity;
let most = Infinity;

/** Takes the Date header of a reply, and when it was asked for and came. */
export function noteServerDate(header: string | null, sent: number, came: number): void {
  const date = header ? Date.parse(header) : NaN;
  if (Number.isNaN(date)) return;
  const low = date - came;
  const high = date + 1000 - sent;
  if (low > most || high < least) {
    // A clock was set: what was known before does not hold.
    least = low;
    most = high;
    return;
  }
  least = Math.max(least, low);
  most = Math.min(most, high);
}

/** Now, by the server's clock, in milliseconds. */
export function serverNow(): number {
  const offset = Number.isFinite(least) ? (least + most) / 2 : 0;
  // Clocks that agree to the second are not worth a correction.
  return Date.now() + (Math.abs(offset) < 1000 ? 0 : offset);
}
