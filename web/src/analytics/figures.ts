import type { components } from '@/api/schema';
import { duration } from '@/text/time';

type Schemas = components['schemas'];
export type Times = Schemas['Times'];
export type Share = Schemas['Share'];
export type Summary = Schemas['AnalyticsSummary'];
export type Step = Schemas['SeriesStep'];
/** The figures about answers. */
export type AnswerFigures = Pick<Step, 'answered' | 'reflex' | 'time_to_answer'>;
/** The figures about questions. */
export type Figures = Omit<Step, 'from' | 'to'>;

export const noValue = '–';

/** Writes a duration: 3.2 s, 5:03 min, 2 h 5 min, or a dash if nothing was measured. */
export function timeOf(seconds: number | null): string {
  if (seconds === null) return noValue;
  return seconds < 10 ? `${Number(seconds.toFixed(1))} s` : duration(Math.round(seconds) * 1000);
}

/** Writes a share: 12 %, or a dash if there is nothing to take a share of. */
export function shareOf({ value }: Share, language: string): string {
  if (value === null) return noValue;
  return new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: value > 0 && value < 0.1 ? 1 : 0 }).format(value);
}
