// Drives the page's service worker in a test. Messages come through the
// browser's own interface. A press comes as an event that the test creates.
import { inTime } from './patience.mjs';

/** Waits until the service worker serves the page. */
export const controlled = (page) => page.evaluate(async () => {
  await navigator.serviceWorker.ready;
  while (!navigator.serviceWorker.controller) await new Promise((resolve) => navigator.serviceWorker.addEventListener('controllerchange', resolve, { once: true }));
});

/** Connects to the service worker of a page. */
export async function workerOf(page) {
  const context = page.context();
  await controlled(page);
  const origin = new URL(page.url()).origin;
  const find = () => context.serviceWorkers().find((worker) => worker.url().startsWith(origin));
  const worker = find() ?? (await context.waitForEvent('serviceworker'));
  // The connection belongs to a page of its own: a page that navigates at that moment would never answer.
  const session = await context.newCDPSession(await context.newPage());
  await page.bringToFront();
  await worker.evaluate(countHandled);
  const registrationId = await new Promise((resolve) => {
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const mine = registrations.find(({ scopeURL, isDeleted }) => scopeURL.startsWith(origin) && !isDeleted);
      if (mine) resolve(mine.registrationId);
    });
    void session.send('ServiceWorker.enable');
  });
  return new Worker(worker, session, origin, registrationId);
}

/** Runs in the service worker, and counts the pushes that it has handled. */
function countHandled() {
  self.handled = 0;
  self.told = [];
  const { waitUntil } = ExtendableEvent.prototype;
  ExtendableEvent.prototype.waitUntil = function (work) {
    waitUntil.call(this, work);
    if (this.type !== 'push') return;
    const count = () => {
      self.handled += 1;
      self.told.forEach((tell) => tell());
    };
    work.then(count, count);
  };
}

class Worker {
  constructor(worker, session, origin, registrationId) {
    Object.assign(this, { worker, session, origin, registrationId, pushed: 0, last: Promise.resolve() });
  }

  // Steps run one after the other. Chromium loses a notification for good if
  // getNotifications is called after the notification was stored and before it
  // is shown.
  turn(work) {
    const mine = this.last.then(() => inTime(work(), 'the browser answers'));
    this.last = mine.catch(() => undefined);
    return mine;
  }

  /** Sends a message as a push service does. Resolves when the page's worker has handled it. */
  push(message) {
    const data = typeof message === 'string' ? message : JSON.stringify(message);
    return this.turn(async () => {
      this.pushed += 1;
      await this.session.send('ServiceWorker.deliverPushMessage', { origin: this.origin, registrationId: this.registrationId, data });
      await this.worker.evaluate(async (all) => {
        while (self.handled < all) await new Promise((resolve) => self.told.push(resolve));
      }, this.pushed);
    });
  }

  /** Returns the notifications that the browser shows, the newest last. */
  shown() {
    return this.turn(() => this.worker.evaluate(async () => (await self.registration.getNotifications()).map(({ title, body, tag, actions, silent, renotify, requireInteraction, lang }) => ({
      title, body, tag, actions: actions.map((each) => each.title), silent, again: renotify, stays: requireInteraction, lang,
    }))));
  }

  /**
   * Fires the event that a browser fires after it replaced its subscription.
   * `handedOver` says whether the event contains the new subscription. Returns
   * the error as a text, or null.
   */
  renewed(subscription, handedOver) {
    return this.worker.evaluate(async ([given, handed]) => {
      const fresh = { ...given, toJSON: () => ({ ...given, expirationTime: null }) };
      // If the event contains none, the worker subscribes with the service of
      // the browser's vendor. Here this is the test's own push service.
      PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => {
        if (!userVisibleOnly || !applicationServerKey) throw new DOMException('not like this', 'NotAllowedError');
        return fresh;
      };
      const event = new ExtendableEvent('pushsubscriptionchange');
      if (handed) event.newSubscription = fresh;
      let work;
      event.waitUntil = (promise) => (work = promise);
      self.dispatchEvent(event);
      return work.then(() => null, String);
    }, [subscription, handedOver]);
  }

  /** Presses a notification, or one of its buttons. Returns the addresses that were opened. */
  press(tag, button = '') {
    return this.turn(() => this.worker.evaluate(async ([wanted, title]) => {
      const [notification] = await self.registration.getNotifications({ tag: wanted });
      if (!notification) throw new Error(`nothing with the tag ${wanted} is shown`);
      const action = title && notification.actions.find((each) => each.title === title)?.action;
      if (title && !action) throw new Error(`there is no button ${title}`);
      const opened = [];
      // A worker may open pages only after a person's press.
      Clients.prototype.openWindow = async (address) => opened.push(String(address));
      WindowClient.prototype.focus = () => Promise.reject(new Error('nobody pressed'));
      const event = new NotificationEvent('notificationclick', { notification, action });
      let work;
      event.waitUntil = (promise) => (work = promise);
      self.dispatchEvent(event);
      await work;
      return opened;
    }, [tag, button]));
  }
}
