import type { components } from './schema';

type Schemas = components['schemas'];
type NounOf<T> = T extends `${infer Noun}.${string}` ? Noun : never;
type VerbOf<T> = T extends `${string}.${infer Verb}` ? Verb : never;

/** An object with an action also carries the exact text of the action (see exact.ts). */
type WithActionText = { action_text?: string };

export type QuestionContext = Exclude<NonNullable<Schemas['Question']['context']>, string>;
export type Question = Omit<Schemas['Question'], 'resolution' | 'context'> & WithActionText & { resolution?: Resolution; context?: QuestionContext };
export type Item = Schemas['Item'];
export type Vote = Schemas['Vote'];
export type Option = Exclude<NonNullable<Item['options']>[number], string>;
export type Answer = Schemas['Answer'];
export type Resolution = Schemas['Resolution'] & WithActionText;
export type Task = Schemas['Task'];
export type Message = Schemas['Message'];
export type Actor = Schemas['Actor'];
export type Member = Schemas['Member'];
export type Token = Schemas['Token'];
export type Whoami = Schemas['Whoami'];
export type AuditReport = Schemas['AuditReport'];
export type ProblemDetails = Schemas['ProblemDetails'];
export type Event = Schemas['Event'];
export type EventType = Schemas['EventType'];
/** The part of an event type before the dot. */
export type EventNoun = NounOf<EventType>;
/** The part of an event type after the dot. */
export type EventVerb = VerbOf<EventType>;
export type BrowserSession = Schemas['BrowserSession'];
export type Policy = Schemas['Policy'];
export type GateRule = Schemas['GateRule'];
export type NewGateRule = Schemas['NewGateRule'];
export type NewToken = Schemas['NewToken'];
export type Invitation = Schemas['Invitation'];
export type Group = Schemas['Group'];
export type MemberChange = Schemas['MemberChange'];
export type Link = Schemas['Link'];
export type Passkey = Schemas['Passkey'];
export type Channel = Schemas['Channel'];
export type ChannelKind = Schemas['ChannelKind'];
export type Delivery = Schemas['Delivery'];
export type Device = Schemas['Device'];
export type Identity = Schemas['Identity'];
export type NotificationPreferences = Schemas['Preferences'];
export type Routes = Schemas['Routes'];
export type RouteStep = NonNullable<Routes['blocking']>[number];
