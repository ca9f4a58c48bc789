import { useMemo } from 'react';
import { useLanguage } from './language';
import type { Language } from './languages';

/** Returns functions that write times in the reader's language and time zone. */
export function useTime() {
  const language = useLanguage();
  return useMemo(() => timesIn(language), [language]);
}

export function timesIn(language: Language) {
  const full = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' });
  const day = new Intl.DateTimeFormat(language, { weekday: 'long', day: 'numeric', month: 'long' });
  const clock = new Intl.DateTimeFormat(language, { timeStyle: 'short' });
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' });
  return {
    /** 21 Nov 2026, 14:03 */
    full: (at: string | number) => full.format(new Date(at)),
    /** Saturday, 21 November */
    day: (at: string | number) => day.format(new Date(at)),
    /** 14:03 */
    clock: (at: string | number) => clock.format(new Date(at)),
    /** 5 min ago, in 2 hr */
    relative(at: string | number, now: number) {
      const seconds = (new Date(at).getTime() - now) / 1000;
      const units = [['day', 86_400], ['hour', 3_600], ['minute', 60]] as const;
      const unit = units.find(([, length]) => Math.abs(seconds) >= length);
      return unit ? relative.format(Math.round(seconds / unit[1]), unit[0]) : relative.format(Math.round(seconds), 'second');
    },
  };
}

/** Writes a duration: 2 d 3 h, 14:05 min. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [d, h, m, s] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3_600) % 24, Math.floor(seconds / 60) % 60, seconds % 60];
  if (d > 0) return h > 0 ? `${d} d ${h} h` : `${d} d`;
  if (h > 0) return m > 0 ? `${h} h ${m} min` : `${h} h`;
  if (m > 0) return `${m}:${String(s).padStart(2, '0')} min`;
  return `${s} s`;
}

/** Writes the time that is left: 2 d 3 h, 29 min, 4:05 min. Only the last minutes have seconds. */
export const timeLeft = (ms: number): string => (ms >= 5 * 60_000 && ms < 3_600_000 ? `${Math.floor(ms / 60_000)} min` : duration(ms));
