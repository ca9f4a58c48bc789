// The few icons, drawn on a grid of 24 with one stroke.
const paths = {
  inbox: 'M4 4h16v16H4zM4 14h5l1.5 2.5h3L15 14h5',
  check: 'M4 12.5l5 5L20 6.5',
  tasks: 'M4 6h4v12H4zM10 6h4v8h-4zM16 6h4v5h-4z',
  flow: 'M4 4h6v5H4zM4 15h6v5H4zM14 9.5h6v5h-6zM7 9v6M10 12h4',
  play: 'M7 4.5v15l12-7.5z',
  bell: 'M6 17V11a6 6 0 0 1 12 0v6l1.5 1.5h-15zM10 21h4',
  chart: 'M4 20V4M4 20h16M8 16v-5M12.5 16V8M17 16v-7',
  chain: 'M10 14a4 4 0 0 0 5.7 0l3-3A4 4 0 0 0 13 5.3l-1 1M14 10a4 4 0 0 0-5.7 0l-3 3a4 4 0 0 0 5.7 5.7l1-1',
  settings: 'M4 7h10M18 7h2M4 17h2M10 17h10M16 5v4M8 15v4',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l4.5 4.5',
  clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3.5 2',
  warning: 'M12 4l9 16H3zM12 10v4M12 17v.5',
  star: 'M12 4l2.4 5.2 5.6.6-4.2 3.8 1.2 5.6-5-2.9-5 2.9 1.2-5.6L4 9.8l5.6-.6z',
  cross: 'M6 6l12 12M18 6L6 18',
  person: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4 21c.8-4 4-6 8-6s7.2 2 8 6',
  robot: 'M5 9h14v10H5zM12 9V5M9 13v1.5M15 13v1.5M10 19v2M14 19v2',
  back: 'M15 5l-7 7 7 7',
  next: 'M9 5l7 7-7 7',
  undo: 'M8 5L4 9l4 4M4 9h10a6 6 0 0 1 0 12h-3',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M18.7 5.3l-1.4 1.4M6.7 17.3l-1.4 1.4',
  moon: 'M19 14.5A8 8 0 0 1 9.5 5a8 8 0 1 0 9.5 9.5z',
  keyboard: 'M3 7h18v10H3zM7 11h.5M11.5 11h.5M16 11h.5M8 14h8',
  pause: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM10 9v6M14 9v6',
  more: 'M6 12h.5M12 12h.5M18 12h.5',
  filter: 'M4 6h16M7 12h10M10 18h4',
  key: 'M15.5 3.5a5 5 0 1 0 0 10 5 5 0 0 0 0-10zM12 12l-8 8.5M6.5 17.5L9 20M17 8.4v.2',
  plus: 'M12 5v14M5 12h14',
  copy: 'M9 9h11v11H9zM15 9V4H4v11h5',
  shield: 'M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6z',
  comment: 'M4 5h16v11H10l-5 4v-4H4z',
  ask: 'M4 5h16v11H10l-5 4v-4H4zM10.2 8.8a1.9 1.9 0 1 1 2.6 1.8c-.5.2-.8.6-.8 1.2M12 13.6v.1',
  edit: 'M4 20l1-4L16 5l3 3L8 19zM14 7l3 3',
  note: 'M5 4h14v10l-6 6H5zM13 20v-6h6',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
} as const;

export type IconName = keyof typeof paths;

/** An icon beside a word. Screen readers skip it. */
export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg aria-hidden width={size} height={size} viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth={2} strokeLinecap="round" strokeLinejoin="round" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
