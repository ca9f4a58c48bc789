/** The filter of the event log, as it is kept in the address. */
export interface AuditFilter {
  q?: string;
  type?: string;
  actor?: string;
  task?: string;
  from?: string;
  to?: string;
}

const midnight = (written: string | undefined, daysLater: number) => {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(written ?? '');
  if (!parts) return undefined;
  const at = new Date(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]) + daysLater);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
};

/** Returns the beginning of the first day and the end of the last one, in the reader's time zone. */
export function daysOf({ from, to }: AuditFilter): { from?: string; to?: string } {
  const [first, last] = [midnight(from, 0), midnight(to, 1)];
  return { ...(first ? { from: first } : {}), ...(last ? { to: last } : {}) };
}

/** Returns the filter as query parameters of the API. */
export function queryOf(filter: AuditFilter) {
  const { q, type, actor, task } = filter;
  return {
    ...daysOf(filter),
    ...(q ? { q } : {}), ...(type ? { type: [type] } : {}), ...(actor ? { actor } : {}), ...(task ? { task } : {}),
  };
}

/** Returns the address of the export. It contains all events of the chosen days, whatever the other filters are. */
export function exportOf(filter: AuditFilter): string {
  const days = new URLSearchParams(daysOf(filter)).toString();
  return `/v1/audit/export${days ? `?${days}` : ''}`;
}
