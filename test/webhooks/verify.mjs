// Reads one request per line, {secret, headers, body} with the body in base64, and prints for each
// whether the reference library accepts it. Node itself verifies with an ed25519 key (whpk_…),
// because the reference library supports only secrets.
import { createPublicKey, verify } from "node:crypto";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

// standardwebhooks is one of the packages of the web interface.
const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { Webhook } = require("standardwebhooks");

function check({ secret, headers, body }) {
  const raw = Buffer.from(body, "base64");
  if (!secret.startsWith("whpk_")) {
    return new Webhook(secret).verify(raw.toString("utf8"), headers);
  }
  const key = createPublicKey({
    key: { kty: "OKP", crv: "Ed25519", x: Buffer.from(secret.slice(5), "base64").toString("base64url") },
    format: "jwk",
  });
  const signed = Buffer.concat([Buffer.from(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`), raw]);
  const taken = headers["webhook-signature"]
    .split(" ")
    .some((s) => s.startsWith("v1a,") && verify(null, signed, key, Buffer.from(s.slice(4), "base64")));
  if (!taken) {
    throw new Error("no signature of the key");
  }
  return JSON.parse(raw.toString("utf8"));
}

for await (const line of createInterface({ input: process.stdin })) {
  try {
    console.log(JSON.stringify({ type: check(JSON.parse(line)).type }));
  } catch (err) {
    console.log(JSON.stringify({ error: err.message }));
  }
}
