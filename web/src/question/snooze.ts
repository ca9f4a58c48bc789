export type SnoozeName = 'in15m' | 'in1h' | 'tonight' | 'tomorrow' | 'monday';

/** Returns the times on offer, in the reader's own time zone. None is after the deadline. */
export function snoozeTimes(now: Date, deadline?: Date): { name: SnoozeName; at: Date }[] {
  const at = (days: number, hour: number) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour);
  const toMonday = ((8 - now.getDay()) % 7) || 7;
  const times = [
    { name: 'in15m' as const, at: new Date(now.getTime() + 900_000) },
    { name: 'in1h' as const, at: new Date(now.getTime() + 3_600_000) },
    { name: 'tonight' as const, at: at(0, 18) },
    { name: 'tomorrow' as const, at: at(1, 9) },
    { name: 'monday' as const, at: at(toMonday, 9) },
  ];
  return times.filter((time) => time.at > now && (!deadline || time.at < deadline) && (time.name !== 'monday' || toMonday > 1));
}
