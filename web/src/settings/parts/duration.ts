const units: Record<string, number> = { ns: 1e-6, us: 1e-3, 'µs': 1e-3, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/**
 * Reads a duration as the server does: "90s", "1h30m", or whole days as "3d".
 * Returns undefined for any other text, and for a duration that is not above
 * zero.
 */
export function milliseconds(written: string): number | undefined {
  const days = /^\+?(\d{1,6})d$/.exec(written);
  if (days) {
    const n = Number(days[1]);
    return n > 0 && n <= 100_000 ? n * 86_400_000 : undefined;
  }
  const rest = written.replace(/^\+/, '');
  const parts = [...rest.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map((part) => part[0]).join('') !== rest) return undefined;
  const sum = parts.reduce((total, [, n, unit]) => total + Number(n) * (units[unit ?? ''] ?? NaN), 0);
  return sum > 0 && sum < 2 ** 63 / 1e6 ? sum : undefined;
}
