// Servers that Fermata talks to when people sign in: one that receives mails,
// and an identity provider that knows one person. Both speak the real
// protocols.
import { createSign, generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer as createHTTP } from 'node:http';
import { createServer } from 'node:net';

const listening = (server) => new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)));

/** Starts a server that receives mails by SMTP and keeps them. */
export async function startPostbox() {
  const mails = [];
  const server = createServer((socket) => {
    let letter;
    let rest = '';
    const say = (line) => socket.write(`${line}\r\n`);
    const hear = (line) => {
      if (letter !== undefined) {
        if (line !== '.') {
          letter += `${line}\n`;
          return;
        }
        mails.push(letter);
        letter = undefined;
        say('250 kept');
        return;
      }
      const verb = line.slice(0, 4).toUpperCase();
      if (verb === 'DATA') letter = '';
      say({ DATA: '354 go on', QUIT: '221 bye' }[verb] ?? '250 ok');
      if (verb === 'QUIT') socket.end();
    };
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      const lines = (rest + data).split('\r\n');
      rest = lines.pop();
      lines.forEach(hear);
    });
    say('220 postbox');
  });
  const port = await listening(server);
  return { mails, url: `smtp://127.0.0.1:${port}`, stop: () => server.close() };
}

const packed = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Starts an OpenID Connect identity provider. Its only person is already signed in there. */
export async function startProvider(person) {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const codes = new Map();
  let issuer;
  const signed = (claims) => {
    const content = `${packed({ alg: 'RS256', kid: 'one', typ: 'JWT' })}.${packed(claims)}`;
    return `${content}.${createSign('RSA-SHA256').update(content).sign(privateKey).toString('base64url')}`;
  };
  const pages = {
    '/.well-known/openid-configuration': () => ({
      issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/keys`, end_session_endpoint: `${issuer}/sign-out`,
      response_types_supported: ['code'], subject_types_supported: ['public'], id_token_signing_alg_values_supported: ['RS256'],
    }),
    '/keys': () => ({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' }] }),
  };
  const server = createHTTP(async (request, response) => {
    const url = new URL(request.url, issuer);
    if (url.pathname === '/authorize') {
      const code = randomBytes(12).toString('hex');
      codes.set(code, url.searchParams);
      const back = new URL(url.searchParams.get('redirect_uri'));
      back.searchParams.set('code', code);
      back.searchParams.set('state', url.searchParams.get('state'));
      response.writeHead(302, { Location: back.href }).end();
      return;
    }
    if (url.pathname === '/sign-out') {
      // A real provider asks for a confirmation here, because the request does not prove which person sent it.
      response.writeHead(200, { 'Content-Type': 'text/html' }).end(`<title>Example Inc</title><a href="${url.searchParams.get('post_logout_redirect_uri')}">Leave</a>`);
      return;
    }
    let body = pages[url.pathname]?.();
    if (url.pathname === '/token') {
      const sent = new URLSearchParams(Buffer.concat(await request.toArray()).toString());
      const asked = codes.get(sent.get('code'));
      const now = Math.floor(Date.now() / 1000);
      const claims = { iss: issuer, aud: asked.get('client_id'), iat: now, exp: now + 300, nonce: asked.get('nonce'), ...person };
      body = { access_token: 'unused', token_type: 'Bearer', expires_in: 300, id_token: signed(claims) };
    }
    response.writeHead(body ? 200 : 404, { 'Content-Type': 'application/json' }).end(JSON.stringify(body ?? {}));
  });
  issuer = `http://127.0.0.1:${await listening(server)}`;
  return { issuer, stop: () => server.close() };
}
