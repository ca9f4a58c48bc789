import { wordsFor, type Button, type Message } from './message';
import { showMessage } from './show';

// A button answers through the same endpoint as the page. The request has the
// browser's session, an idempotency key, and the hash of the action that was
// shown. It names the person to whom the notification was addressed. The server
// refuses the answer if another person is signed in by now. If an answer fails,
// the question's page opens.

const worker = globalThis as unknown as ServiceWorkerGlobalScope;
const requestTimeout = 15_000;

/** Handles a press on a notification or on one of its buttons. */
export async function handlePress(data: unknown, action: string): Promise<void> {
  // A notification that a page showed (notification/browser.ts) contains only an address.
  const { address, ...message } = (data ?? {}) as Partial<Message> & { address?: string };
  if (!isMessage(message)) return openAddress(address ?? '/');
  const button = message.actions?.find((each) => each.action === action);
  if (action === 'undo') await finishCall(message, sendUndo(message), () => showMessage({ ...asSilent(message), body: wordsFor(message).undone }, []));
  else if (button) await finishCall(message, sendAnswer(message, button), (reply) => confirmAnswer(message, button, reply));
  else await openAddress(message.path);
}

const isMessage = (message: Partial<Message>): message is Message => message.tag !== undefined && message.path !== undefined && message.title !== undefined;

const asSilent = (message: Message): Message => ({ ...message, silent: true, again: false, stays: false });

async function finishCall(message: Message, call: Promise<Response>, done: (reply: Response) => Promise<void>): Promise<void> {
  try {
    const reply = await call;
    if (reply.ok) {
      await done(reply);
      return;
    }
  } catch {
    // The request failed. The page that opens next can keep an answer until there is a connection.
  }
  await openAddress(message.path).catch(() => showMessage({ ...asSilent(message), body: wordsFor(message).failed }, []));
}

async function post({ question = '', delivery = '', member }: Message, verb: 'answer' | 'undo', action: string, body: unknown): Promise<Response> {
  // A notification of an older server does not name its recipient.
  if (!member) throw new Error('the notification names nobody');
  return fetch(`/v1/questions/${encodeURIComponent(question)}/${verb}`, {
    method: 'POST', credentials: 'same-origin', signal: AbortSignal.timeout(requestTimeout), body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': `push-${delivery}-${action}`, 'Fermata-Member': member },
  });
}

const sendAnswer = (message: Message, button: Button) =>
  post(message, 'answer', button.action, {
    answer: button.answer, channel: 'push', undo: true, ...(message.action_hash ? { action_hash: message.action_hash } : {}),
  });

const sendUndo = (message: Message) => post(message, 'undo', 'undo', {});

/** Shows that the answer counts, and offers to undo it while that is possible. */
async function confirmAnswer(message: Message, button: Button, reply: Response): Promise<void> {
  const words = wordsFor(message);
  const { held } = (await reply.json()) as { held?: unknown };
  await showMessage({ ...asSilent(message), body: `${words.counts} ${button.title}`, actions: [] }, held ? [{ action: 'undo', title: words.undo }] : []);
}

/** Opens an address, in an open page if there is one. */
export async function openAddress(path: string): Promise<void> {
  const url = new URL(path, worker.location.origin);
  const address = url.origin === worker.location.origin ? url.href : worker.location.origin;
  const [page] = await worker.clients.matchAll({ type: 'window' });
  try {
    if (page) await (await page.focus()).navigate(address);
    else await worker.clients.openWindow(address);
  } catch (error) {
    // navigate fails for a page that this worker does not control.
    if (!page || (await worker.clients.openWindow(address)) === null) throw error;
  }
}
