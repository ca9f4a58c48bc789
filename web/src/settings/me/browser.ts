const browsers = [['Edg/', 'Edge'], ['OPR/', 'Opera'], ['Firefox/', 'Firefox'], ['FxiOS/', 'Firefox'], ['CriOS/', 'Chrome'], ['Chrome/', 'Chrome'], ['Safari/', 'Safari']] as const;
const systems = [['iPhone', 'iPhone'], ['iPad', 'iPad'], ['Android', 'Android'], ['CrOS', 'ChromeOS'], ['Windows', 'Windows'], ['Macintosh', 'macOS'], ['Linux', 'Linux']] as const;

/** Returns the common name of a browser for its User-Agent: "Firefox, Linux". */
export function browserName(agent: string | undefined): string | undefined {
  if (!agent) return undefined;
  const names = [browsers, systems].map((list) => list.find(([mark]) => agent.includes(mark))?.[1]);
  return names.filter((name) => name !== undefined).join(', ') || agent.slice(0, 60);
}
