import type { EventNoun, EventVerb } from '@/api/types';
import type { Language } from '@/text/languages';

// Event types in words: "question.timed_out" is shown as "Question: timed out".

const nouns: Record<Language, Record<EventNoun, string>> = {
  en: { question: 'Question', task: 'Task', run: 'Run', message: 'Message', progress: 'Progress', gate: 'Tool call', grant: 'Grant', workflow: 'Workflow', member: 'Person', token: 'Token', policy: 'Rules for questions', channel: 'Channel', delivery: 'Delivery', github: 'GitHub', database: 'Database', audit: 'Audit', retention: 'What is kept' },
  de: { question: 'Frage', task: 'Aufgabe', run: 'Lauf', message: 'Nachricht', progress: 'Fortschritt', gate: 'Werkzeugaufruf', grant: 'Erlaubnis', workflow: 'Ablauf', member: 'Person', token: 'Token', policy: 'Regeln für Fragen', channel: 'Kanal', delivery: 'Meldung', github: 'GitHub', database: 'Datenbank', audit: 'Protokoll', retention: 'Aufbewahrung' },
};

const verbs: Record<Language, Record<EventVerb, string>> = {
  en: {
    created: 'made', claimed: 'taken up', state_changed: 'moved', ended: 'ended', updated: 'changed', asked: 'asked', asked_again: 'asked again', answered: 'answered', timed_out: 'timed out',
    cancelled: 'withdrawn', escalated: 'escalated', extended: 'given more time', reminded: 'reminded of', answered_late: 'answered late', vote_cast: 'voted on', assigned: 'assigned', held: 'answered, may be undone',
    undone: 'answer taken back', posted: 'written', handed: 'handed to the agent', loss_accepted: 'loss accepted', checkpoint: 'end of the chain signed', applied: 'old work removed', reported: 'reported', finished: 'ended', lost: 'lost', released: 'given back', added: 'added',
    changed: 'changed', revoked: 'withdrawn', decided: 'decided', rule_added: 'rule added', rule_removed: 'rule removed', used: 'used', invited: 'invited', linked: 'given a sign-in link', signed_in: 'signed in',
    signed_out: 'signed out', removed: 'removed', passkey_added: 'added a passkey', passkey_removed: 'removed a passkey', uninvited: 'invitation withdrawn', group_changed: 'group changed',
    identity_changed: 'known elsewhere as somebody else', device_added: 'added a device', device_removed: 'device removed', routes_changed: 'routes changed', dead: 'given up', alert: 'told operators of trouble',
    triggered: 'run started', rewound: 'run sent back to a step', moved: 'run moved to another definition', trigger_skipped: 'trigger skipped', step_started: 'step begun', step_finished: 'step ended', tool_changed: 'tool changed', tool_removed: 'tool removed', label_added: 'label added', deployment_requested: 'deployment requested',
  },
  de: {
    created: 'angelegt', claimed: 'übernommen', state_changed: 'bewegt', ended: 'beendet', updated: 'geändert', asked: 'gestellt', asked_again: 'noch einmal gestellt', answered: 'beantwortet', timed_out: 'abgelaufen',
    cancelled: 'zurückgezogen', escalated: 'weitergereicht', extended: 'verlängert', reminded: 'erinnert', answered_late: 'zu spät beantwortet', vote_cast: 'Stimme abgegeben', assigned: 'zugewiesen', held: 'beantwortet, noch zurücknehmbar',
    undone: 'Antwort zurückgenommen', posted: 'geschrieben', handed: 'dem Agenten übergeben', loss_accepted: 'Verlust hingenommen', checkpoint: 'Ende der Kette unterschrieben', applied: 'Altes entfernt', reported: 'gemeldet', finished: 'beendet', lost: 'verloren', released: 'zurückgegeben', added: 'hinzugefügt',
    changed: 'geändert', revoked: 'widerrufen', decided: 'entschieden', rule_added: 'Regel hinzugefügt', rule_removed: 'Regel entfernt', used: 'benutzt', invited: 'eingeladen', linked: 'Link zum Anmelden gemacht', signed_in: 'angemeldet',
    signed_out: 'abgemeldet', removed: 'entfernt', passkey_added: 'Passkey hinzugefügt', passkey_removed: 'Passkey entfernt', uninvited: 'Einladung zurückgezogen', group_changed: 'Gruppe geändert',
    identity_changed: 'anderswo anders bekannt', device_added: 'Gerät hinzugefügt', device_removed: 'Gerät entfernt', routes_changed: 'Wege geändert', dead: 'aufgegeben', alert: 'Betreibern einen Missstand gemeldet',
    triggered: 'Lauf gestartet', rewound: 'Lauf zu einem Schritt zurückgeschickt', moved: 'Lauf geht nach anderer Definition', trigger_skipped: 'Auslöser übersprungen', step_started: 'Schritt begonnen', step_finished: 'Schritt beendet', tool_changed: 'Werkzeug geändert', tool_removed: 'Werkzeug entfernt', label_added: 'Etikett vergeben', deployment_requested: 'Deployment angefragt',
  },
};

/** The nouns of event types, in the order in which the filter offers them. */
export const eventNouns = Object.keys(nouns.en) as EventNoun[];

export const nounWord = (noun: string, language: Language) => (nouns[language] as Partial<Record<string, string>>)[noun] ?? noun;

/** Returns an event type in words, such as "Question: timed out". Unknown words are shown as they are. */
export function eventWords(type: string, language: Language): string {
  const [noun = '', verb = ''] = type.split('.');
  return `${nounWord(noun, language)}: ${(verbs[language] as Partial<Record<string, string>>)[verb] ?? verb.replaceAll('_', ' ')}`;
}
