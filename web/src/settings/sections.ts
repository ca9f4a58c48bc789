import type { Whoami } from '@/api/types';
import { mayAdminister, mayOverseeDeliveries } from './parts/rights';

/** The parts of the settings in order. `shown` reports whether a reader sees the part. */
export const sections = [
  { name: 'appearance', group: 'mine', shown: () => true },
  { name: 'account', group: 'mine', shown: (me: Whoami) => me.kind === 'human' },
  { name: 'notifications', group: 'mine', shown: (me: Whoami) => me.kind === 'human' },
  { name: 'tokens', group: 'mine', shown: (me: Whoami) => mayAdminister(me) || me.session_id !== undefined },
  { name: 'people', group: 'everyone', shown: () => true },
  { name: 'groups', group: 'everyone', shown: () => true },
  { name: 'policy', group: 'everyone', shown: () => true },
  { name: 'gates', group: 'everyone', shown: () => true },
  { name: 'channels', group: 'everyone', shown: mayAdminister },
  { name: 'routes', group: 'everyone', shown: mayAdminister },
  { name: 'deliveries', group: 'everyone', shown: mayOverseeDeliveries },
] as const;

export type SectionName = (typeof sections)[number]['name'];

export const isSection = (name: string | undefined): name is SectionName => sections.some((section) => section.name === name);
