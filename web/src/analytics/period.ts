/** The chosen period and filters, as texts in the address. */
export interface ReportFilters {
  range?: string;
  from?: string;
  to?: string;
  project?: string;
  type?: string;
}

export const ranges = ['1d', '7d', '30d', '90d', '365d'] as const;
export type Range = (typeof ranges)[number];
export const questionTypes = ['blocking', 'approval', 'error_recovery', 'non_blocking'] as const;
export type QuestionType = (typeof questionTypes)[number];

export const isType = (word: string | undefined): word is QuestionType => questionTypes.some((type) => type === word);

const day = 86_400_000;
const date = (written: string | undefined) => {
  if (!written || !/^\d{4}-\d{2}-\d{2}$/.test(written)) return undefined;
  const [year, month, dayOf] = written.split('-').map(Number);
  const at = new Date(year ?? 0, (month ?? 1) - 1, dayOf);
  return Number.isNaN(at.getTime()) ? undefined : at;
};

/**
 * Returns the period between the two days that the reader chose, or undefined if they are not two valid days in order.
 */
export function chosenDays({ range, from, to }: ReportFilters): { from: Date; to: Date } | undefined {
  const [first, last] = [date(from), date(to)];
  if (range !== 'own' || !first || !last || first > last) return undefined;
  // The period includes all of the last day.
  return { from: first, to: new Date(last.getFullYear(), last.getMonth(), last.getDate() + 1) };
}

/**
 * Returns the period in the reader's time zone, and the interval for its steps.
 * The period begins at midnight, except for the last 24 hours, which begin at a
 * full hour.
 */
export function periodOf(filters: ReportFilters, now: Date): { from: Date; to: Date; interval: 'hour' | 'day' | 'week' } {
  const chosen = chosenDays(filters);
  const days = ranges.find((range) => range === filters.range) ?? '30d';
  const back = Number.parseInt(days);
  const hour = new Date(now.getFullYear(), now.getMonth(), now.getDate(), now.getHours() + 1);
  const begin = days === '1d' ? new Date(hour.getTime() - day) : new Date(now.getFullYear(), now.getMonth(), now.getDate() - back + 1);
  const { from, to } = chosen ?? { from: begin, to: days === '1d' ? hour : new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1) };
  const length = to.getTime() - from.getTime();
  return { from, to, interval: length <= 2.1 * day ? 'hour' : length <= 100 * day ? 'day' : 'week' };
}

/** Returns the period and the filters as query parameters of the API, and the interval for a series. */
export function queryOf(filters: ReportFilters, now: Date) {
  const { from, to, interval } = periodOf(filters, now);
  return {
    query: {
      from: from.toISOString(), to: to.toISOString(),
      ...(filters.project ? { project: filters.project } : {}),
      ...(isType(filters.type) ? { type: filters.type } : {}),
    },
    interval,
  };
}
