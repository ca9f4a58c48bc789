/** The content of a push message (internal/channel/push/message.go). */
export interface Message {
  kind: 'question' | 'closed' | 'digest' | 'alert' | 'test';
  tag: string;
  title: string;
  body: string;
  path: string;
  lang: string;
  at: number;
  again?: boolean;
  silent?: boolean;
  stays?: boolean;
  question?: string;
  delivery?: string;
  /** The member who gets the message. The buttons of the message answer only in this person's session. */
  member?: string;
  actions?: Button[];
  action_hash?: string;
}

/** A button that answers. */
export interface Button {
  action: string;
  title: string;
  answer: boolean | string;
}

/** The message for a push that cannot be read. It still shows that something came. */
const unreadable: Message = { kind: 'alert', tag: 'fermata', title: 'Fermata', body: '', path: '/', lang: 'en', at: 0 };

export function readMessage(data: PushMessageData | null): Message {
  try {
    const message = data?.json() as Partial<Message> | undefined;
    return typeof message?.title === 'string' && typeof message.tag === 'string' ? { ...unreadable, ...message } : unreadable;
  } catch {
    return unreadable;
  }
}

const words = {
  en: { counts: 'Your answer:', undo: 'Undo', undone: 'Taken back. Press to open the question.', failed: 'Your answer did not count. Press to open the question.' },
  de: { counts: 'Ihre Antwort:', undo: 'Zurücknehmen', undone: 'Zurückgenommen. Drücken öffnet die Frage.', failed: 'Ihre Antwort zählte nicht. Drücken öffnet die Frage.' },
};

export const wordsFor = ({ lang }: Message) => (lang === 'de' ? words.de : words.en);
