// Decrypts push messages (RFC 8291) with http_ece, which shares no code with
// the program that encrypted them. Each input line is a JSON object: {body,
// private_key, auth} in base64url. The reply is {text} or {error}.
import { createECDH } from 'node:crypto';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const ece = createRequire(new URL('../../../web/package.json', import.meta.url))('http_ece');

function decrypt({ body, private_key, auth }) {
  const privateKey = createECDH('prime256v1');
  privateKey.setPrivateKey(Buffer.from(private_key, 'base64url'));
  return ece.decrypt(Buffer.from(body, 'base64url'), { version: 'aes128gcm', privateKey, authSecret: auth }).toString('utf8');
}

process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  let reply;
  try {
    reply = { text: decrypt(JSON.parse(line)) };
  } catch (error) {
    reply = { error: String(error) };
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
