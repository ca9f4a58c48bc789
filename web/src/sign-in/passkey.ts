import { browserSupportsWebAuthn, startAuthentication, startRegistration, WebAuthnError, type PublicKeyCredentialCreationOptionsJSON, type PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser';
import { api, unwrap } from '@/api/client';
import { unwrapAttempt } from './calls';

export const supportsPasskeys = browserSupportsWebAuthn;

/** The options from the server for the browser's passkey functions. They are passed on as they are. */
interface Ceremony<T> {
  publicKey: T;
}

/** Signs in with a passkey that the person picks. */
export async function signInByPasskey() {
  const { options } = await unwrapAttempt(api.POST('/v1/sign-in/passkey/start'));
  const credential = await startAuthentication({ optionsJSON: (options as Ceremony<PublicKeyCredentialRequestOptionsJSON>).publicKey });
  return unwrapAttempt(api.POST('/v1/sign-in/passkey/finish', { body: { credential } }));
}

/** Creates a passkey on this device and registers it at the server. */
export async function addPasskey(name: string) {
  const { options } = await unwrap(api.POST('/v1/passkeys/start'));
  const credential = await startRegistration({ optionsJSON: (options as Ceremony<PublicKeyCredentialCreationOptionsJSON>).publicKey });
  return unwrap(api.POST('/v1/passkeys/finish', { body: { name, credential } }));
}

/**
 * Returns whether the device knew the passkey already or stopped the request. Returns undefined for any other error,
 * such as a refusal by the server.
 */
export function stoppedByDevice(error: unknown): 'known' | 'stopped' | undefined {
  if (error instanceof WebAuthnError && error.code === 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED') return 'known';
  if (error instanceof WebAuthnError || error instanceof DOMException) return 'stopped';
  return error instanceof Error && ['NotAllowedError', 'AbortError', 'InvalidStateError'].includes(error.name) ? 'stopped' : undefined;
}
