import type { NotificationPreferences, RouteStep, Routes } from '@/api/types';
import { types, type SentType } from '@/delivery/text';
import type { Errors } from '../parts/useForm';

export const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

export const quietDeadlines = ['urgent', 'all', 'none'] as const;
export type QuietDeadlines = (typeof quietDeadlines)[number];
/** The setting of a person who has not chosen one. */
const usualDeadlines: QuietDeadlines = 'urgent';

export interface PreferenceValues {
  zone: string;
  language: string;
  quietOn: boolean;
  from: string;
  to: string;
  days: string[];
  urgent: boolean;
  /** The questions that are sent even during the quiet hours, because their deadline passes in these hours. */
  deadlines: QuietDeadlines;
  digest: NotificationPreferences['digest'];
  /** The wanted types of messages, by channel. */
  wanted: Record<string, SentType[]>;
}

/** Returns the time zones that the browser knows. */
export const zones = () => Intl.supportedValuesOf('timeZone').concat('UTC');
export const zoneHere = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Reports whether a person who has not chosen gets messages of a type. Only progress is off by default. */
const byDefault = (type: SentType) => type !== 'progress';

export function valuesOf(stored: NotificationPreferences, channels: readonly string[]): PreferenceValues {
  const { zone, language = '', quiet, digest } = stored;
  const wanted = (channel: string) => types.filter((type) => stored.channels?.[channel]?.[type] ?? byDefault(type));
  return {
    zone, language, digest, quietOn: quiet !== undefined, from: quiet?.from ?? '22:00', to: quiet?.to ?? '07:00', days: quiet?.days ?? [], urgent: quiet?.urgent ?? true,
    deadlines: quiet?.deadlines ?? usualDeadlines,
    wanted: Object.fromEntries(channels.map((channel) => [channel, wanted(channel)])),
  };
}

/** Returns the preferences to store. The switches of channels that are not shown stay as they were. */
export function preferencesOf(stored: NotificationPreferences, values: PreferenceValues): NotificationPreferences {
  const channels: NonNullable<NotificationPreferences['channels']> = { ...stored.channels };
  for (const [channel, wanted] of Object.entries(values.wanted)) {
    const said = types.filter((type) => wanted.includes(type) !== byDefault(type)).map((type) => [type, wanted.includes(type)] as const);
    if (said.length > 0) channels[channel] = Object.fromEntries(said);
    // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- the record is a copy of our own
    else delete channels[channel];
  }
  return {
    zone: values.zone, digest: values.digest, channels,
    ...(values.language ? { language: values.language } : {}),
    ...(values.quietOn ? { quiet: { from: values.from, to: values.to, urgent: values.urgent, ...(values.deadlines !== usualDeadlines || stored.quiet?.deadlines ? { deadlines: values.deadlines } : {}), ...(values.days.length > 0 ? { days: values.days } : {}) } } : {}),
  };
}

export function checkPreferences(values: PreferenceValues, words: { needed: string; zoneWrong: string; sameTimes: string }): Errors {
  const errors: Errors = {};
  if (values.zone !== '' && !zones().includes(values.zone)) errors.zone = words.zoneWrong;
  if (!values.quietOn) return errors;
  if (values.from === '') errors['quiet.from'] = words.needed;
  if (values.to === '') errors['quiet.to'] = words.needed;
  else if (values.from === values.to) errors['quiet.to'] = words.sameTimes;
  return errors;
}

/**
 * Returns the channels over which a message may come: push, those of the routes, and those with a stored preference.
 */
export function channelsOf(routes: Routes, stored: NotificationPreferences): string[] {
  const steps = types.flatMap((type): RouteStep[] => routes[type]);
  return [...new Set(['push', ...steps.map(({ channel }) => channel), ...Object.keys(stored.channels ?? {})])];
}
