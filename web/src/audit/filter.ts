/** What is searched, as it stands in the address. */
export interface Searched {
  q?: string;
  type?: string;
  actor?: string;
  task?: string;
  from?: string;
  to?: string;
}

const midnight = (written: string | undefined, later: number) => {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(written ?? '');
  if (!parts) return undefined;
  const at = new Date(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]) + later);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
};

/** The days as instants by the reader's clock; the last day is part of it. */
export function daysOf({ from, to }: Searched): { from?: string; to?: string } {
  const [first, last] = [midnight(from, 0), midnight(to, 1)];
  return { ...(first ? { from: first } : {}), ...(last ? { to: last } : {}) };
}

/** The search as the server takes it. */
export function queryOf(searched: Searched) {
  const { q, type, actor, task } = searched;
  return {
    ...daysOf(searched),
    ...(q ? { q } : {}), ...(type ? { type: [type] } : {}), ...(actor ? { actor } : {}), ...(task ? { task } : {}),
  };
}

/** The address of the export. */
export function exportOf(searched: Searched): string {
  const days = new URLSearchParams(daysOf(searched)).toString();
  return `/v1/audit/export${days ? `?${days}` : ''}`;
}
