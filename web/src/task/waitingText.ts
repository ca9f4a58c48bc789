import { catalogue, plural } from '@/text/language';

/** Texts of the sentence about who is waited for. */
export const useWaitingText = catalogue({
  en: {
    anyone: 'anyone who may answer',
    you: 'you',
    group: (name: string) => `the group ${name}`,
    role: (name: string) => `every ${name}`,
    or: 'or',
    since: (at: string, long: string) => `since ${at} (${long})`,
    by: (at: string, long: string) => `${at} (${long})`,
    waitsFor: (who: string, since: string) => `Waits for ${who}, ${since}`,
    ifNobody: (until: string, then: string) => `; if nobody answers by ${until}, ${then}.`,
    noDeadline: '; there is no deadline, it waits until somebody answers.',
    thens: {
      default: 'the default answer is taken', skip: 'the task is skipped', fail: 'the task fails', reject: 'nothing is approved and the task fails',
      escalate: 'others are asked, too', none: 'the task goes on without an answer',
    },
    isReady: (since: string, agent: string) => `Waits for a free worker${agent ? ` for ${agent}` : ''}, ${since}; the first one takes it.`,
    isReadyToGoOn: (since: string) => `Has something new from a person and waits for a free worker, ${since}; it goes before all other tasks.`,
    isBlocked: (n: number, since: string) => `Waits for ${plural(n, { one: 'another task', other: `${n} other tasks` })}, ${since}; when ${plural(n, { one: 'it is', other: 'they are' })} done, it becomes ready.`,
    isDeferred: (until: string) => `Put off until ${until}; then it becomes ready.`,
    isDeferredForGood: 'Put off until somebody reopens it.',
    isWorking: (who: string, since: string) => `${who} works on it, ${since}`,
    lease: (until: string) => `; if nothing is heard of it by ${until}, the task goes back.`,
    ownWork: (who: string, since: string) => `${who} works on it outside of Fermata, ${since}; Fermata waits to hear of it.`,
    aWorker: 'A worker',
    itsOwner: 'Its owner',
    ended: {
      done: (at: string) => `Done ${at}; nobody is waited for.`,
      failed: (at: string, why: string) => `Failed ${at}${why && `: ${why}`}; nobody is waited for, but it can be reopened.`,
      cancelled: (at: string, why: string) => `Cancelled ${at}${why && `: ${why}`}; nobody is waited for, but it can be reopened.`,
      skipped: (at: string, why: string) => `Skipped ${at}${why && `: ${why}`}; nobody is waited for, but it can be reopened.`,
    },
    reasons: {
      question_timed_out: 'nobody answered in time', attempts_used_up: 'too many attempts were lost', confidence_below_policy: 'the agent was too unsure; it is left to a person',
    },
  },
  de: {
    anyone: 'alle, die antworten dürfen',
    you: 'Sie',
    group: (name: string) => `die Gruppe ${name}`,
    role: (name: string) => `jeden ${name}`,
    or: 'oder',
    since: (at: string, long: string) => `seit ${at} (${long})`,
    by: (at: string, long: string) => `${at} (${long})`,
    waitsFor: (who: string, since: string) => `Wartet auf ${who}, ${since}`,
    ifNobody: (until: string, then: string) => `; antwortet niemand bis ${until}, ${then}.`,
    noDeadline: '; ohne Frist, bis jemand antwortet.',
    thens: {
      default: 'gilt die Vorgabe', skip: 'wird die Aufgabe übersprungen', fail: 'scheitert die Aufgabe', reject: 'wird nichts freigegeben und die Aufgabe scheitert',
      escalate: 'werden weitere Leute gefragt', none: 'geht die Aufgabe ohne Antwort weiter',
    },
    isReady: (since: string, agent: string) => `Wartet auf einen freien Worker${agent ? ` für ${agent}` : ''}, ${since}; der erste nimmt sie.`,
    isReadyToGoOn: (since: string) => `Hat Neues von einem Menschen und wartet auf einen freien Worker, ${since}; sie geht allen anderen vor.`,
    isBlocked: (n: number, since: string) => `Wartet auf ${plural(n, { one: 'eine andere Aufgabe', other: `${n} andere Aufgaben` })}, ${since}; sind sie erledigt, ist sie bereit.`,
    isDeferred: (until: string) => `Aufgeschoben bis ${until}; dann ist sie bereit.`,
    isDeferredForGood: 'Aufgeschoben, bis jemand sie wieder öffnet.',
    isWorking: (who: string, since: string) => `${who} arbeitet daran, ${since}`,
    lease: (until: string) => `; ist bis ${until} nichts davon zu hören, geht die Aufgabe zurück.`,
    ownWork: (who: string, since: string) => `${who} arbeitet außerhalb von Fermata daran, ${since}; Fermata wartet auf Nachricht.`,
    aWorker: 'Ein Worker',
    itsOwner: 'Wer sie angelegt hat',
    ended: {
      done: (at: string) => `Erledigt ${at}; auf niemanden wird gewartet.`,
      failed: (at: string, why: string) => `Gescheitert ${at}${why && `: ${why}`}; auf niemanden wird gewartet, sie lässt sich aber wieder öffnen.`,
      cancelled: (at: string, why: string) => `Abgebrochen ${at}${why && `: ${why}`}; auf niemanden wird gewartet, sie lässt sich aber wieder öffnen.`,
      skipped: (at: string, why: string) => `Übersprungen ${at}${why && `: ${why}`}; auf niemanden wird gewartet, sie lässt sich aber wieder öffnen.`,
    },
    reasons: {
      question_timed_out: 'niemand hat rechtzeitig geantwortet', attempts_used_up: 'zu viele Versuche gingen verloren', confidence_below_policy: 'der Agent war zu unsicher; sie bleibt einem Menschen überlassen',
    },
  },
});

export type WaitingText = ReturnType<typeof useWaitingText>;
