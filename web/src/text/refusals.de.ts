import type { Code } from '@/api/problem';
import type { Refusal } from './refusals';

const ofServer: Record<Code, Refusal> = {
  invalid_request: { what: 'So lässt es sich nicht annehmen.' },
  not_found: { what: 'Das gibt es nicht.', hint: 'Vielleicht wurde es entfernt, oder es gehört zu einem anderen Arbeitsbereich.' },
  unauthenticated: { what: 'Sie sind nicht angemeldet.', hint: 'Melden Sie sich an. Was Sie getippt haben, bleibt.' },
  forbidden: { what: 'Das dürfen Sie nicht.' },
  not_eligible: { what: 'Diese Frage können Sie so nicht beantworten.' },
  question_closed: { what: 'Die Frage ist schon geschlossen.', hint: 'Ihre Seite zeigt, wie sie endete.' },
  pending_question_exists: { what: 'Die Aufgabe wartet schon auf eine Frage.', hint: 'Erst muss diese beantwortet oder zurückgezogen sein.' },
  illegal_transition: { what: 'Im jetzigen Stand der Aufgabe geht das nicht.' },
  stale_run: { what: 'Dieser Lauf gilt nicht mehr.' },
  idempotency_conflict: { what: 'Unter demselben Schlüssel kam schon etwas anderes an.' },
  rate_limited: { what: 'Das war zu oft in kurzer Zeit.', hint: 'Warten Sie einen Augenblick, und versuchen Sie es dann noch einmal.' },
  policy_violation: { what: 'Die Regeln des Arbeitsbereichs erlauben das nicht.' },
  quorum_unreachable: { what: 'So viele können gar nicht zustimmen.' },
  unavailable: { what: 'Das ist gerade nicht erreichbar.' },
  internal: { what: 'Dabei ging etwas schief.', hint: 'Versuchen Sie es noch einmal. Der Grund steht im Log des Servers.' },
  offline: { what: 'Der Server ist nicht erreichbar.', hint: 'Es geht weiter, sobald die Verbindung zurück ist.' },
};

/** The reasons why a step of a workflow failed. */
const ofSteps: Record<string, Refusal> = {
  condition_error: { what: 'Die Bedingung ließ sich nicht auswerten.' },
  input_error: { what: 'Die Eingabe passt nicht zum Werkzeug.' },
  output_mismatch: { what: 'Das Ergebnis passt nicht zu seinem Schema.' },
  output_too_large: { what: 'Das Ergebnis ist zu groß.' },
  tool_failed: { what: 'Das Werkzeug scheiterte.' },
  tool_unknown: { what: 'Dieses Werkzeug gibt es nicht.' },
  step_timeout: { what: 'Der Schritt brauchte zu lange.' },
  child_failed: { what: 'Was der Schritt begann, endete nicht gut.' },
  question_timed_out: { what: 'Niemand antwortete rechtzeitig.' },
  question_cancelled: { what: 'Die Frage wurde zurückgezogen.' },
  question_refused: { what: 'So durfte die Frage nicht gestellt werden.' },
};

export const refusals: Readonly<Record<string, Refusal>> = { ...ofServer, ...ofSteps };
