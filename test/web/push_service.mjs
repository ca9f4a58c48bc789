// A push service on loopback with the browsers behind it. Messages are
// decrypted with http_ece, which shares no code with the encryption.
import { createECDH, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';

const ece = createRequire(new URL('../../web/package.json', import.meta.url))('http_ece');

/** Starts a push service. Its subscription() creates a device. */
export async function startPushService() {
  const service = new Service();
  service.server = createServer((request, response) => void service.take(request, response).catch((error) => {
    service.failures.push(String(error));
    if (!response.headersSent) response.writeHead(400).end();
  })).listen(0, '127.0.0.1');
  await new Promise((resolve) => service.server.once('listening', resolve));
  service.url = `http://127.0.0.1:${service.server.address().port}`;
  return service;
}

class Service {
  devices = new Map();
  /** The messages that came, decrypted. */
  messages = [];
  /** The errors of messages on their way to the browser. */
  failures = [];
  /** Called with each message. */
  deliver = () => undefined;
  /** The replies to the next requests, instead of 201. */
  refusals = [];

  /** Creates a device and returns its subscription as a browser describes it. */
  subscription() {
    const privateKey = createECDH('prime256v1');
    const key = privateKey.generateKeys();
    const authSecret = randomBytes(16).toString('base64url');
    const path = `/push/${randomBytes(12).toString('base64url')}`;
    this.devices.set(path, { privateKey, authSecret });
    return { endpoint: this.url + path, keys: { p256dh: key.toString('base64url'), auth: authSecret } };
  }

  /** Removes a device, as if it had unsubscribed. */
  forget({ endpoint }) {
    this.devices.delete(new URL(endpoint).pathname);
  }

  async take(request, response) {
    const parts = [];
    for await (const part of request) parts.push(part);
    const device = this.devices.get(request.url);
    const status = this.refusals.shift() ?? (device ? 201 : 410);
    const message = status === 201 && JSON.parse(ece.decrypt(Buffer.concat(parts), { version: 'aes128gcm', ...device }).toString('utf8'));
    response.writeHead(status, status === 429 ? { 'Retry-After': '1' } : {}).end();
    if (!message) return;
    this.messages.push(message);
    await this.deliver(message);
  }

  stop() {
    this.server.close();
    this.server.closeAllConnections();
  }
}

/**
 * Returns a script and its argument that let a page subscribe with this service, as browsers do with the services of
 * their vendors.
 */
export const subscribing = (subscription) => [
  (given) => {
    const place = 'test-push-subscription';
    const bytes = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (sign) => sign.charCodeAt(0)).buffer;
    const of = (key) => ({
      endpoint: given.endpoint,
      options: { applicationServerKey: bytes(key), userVisibleOnly: true },
      toJSON: () => ({ ...given, expirationTime: null }),
      unsubscribe: async () => (localStorage.removeItem(place), true),
    });
    PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => {
      if (!userVisibleOnly) throw new DOMException('silent messages are not allowed', 'NotAllowedError');
      localStorage.setItem(place, applicationServerKey);
      return of(applicationServerKey);
    };
    PushManager.prototype.getSubscription = async () => {
      const key = localStorage.getItem(place);
      return key === null ? null : of(key);
    };
  },
  subscription,
];
