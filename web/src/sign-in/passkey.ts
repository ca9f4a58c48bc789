import { browserSupportsWebAuthn, startAuthentication, startRegistration, WebAuthnError, type PublicKeyCredentialCreationOptionsJSON, type PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser';
import { api, need } from '@/api/client';
import { tried } from './calls';

export const passkeysWork = browserSupportsWebAuthn;

/** What the server gives is for the browser, and goes there as it is. */
interface Ceremony<T> {
  publicKey: T;
}

/** Signs in with whatever passkey the person picks. */
export async function signInByPasskey() {
  const { options } = await tried(api.POST('/v1/sign-in/passkey/start'));
  const credential = await startAuthentication({ optionsJSON: (options as Ceremony<PublicKeyCredentialRequestOptionsJSON>).publicKey });
  return tried(api.POST('/v1/sign-in/passkey/finish', { body: { credential } }));
}

/** Makes a passkey on this device. */
export async function addPasskey(name: string) {
  const { options } = await need(api.POST('/v1/passkeys/start'));
  const credential = await startRegistration({ optionsJSON: (options as Ceremony<PublicKeyCredentialCreationOptionsJSON>).publicKey });
  return need(api.POST('/v1/passkeys/finish', { body: { name, credential } }));
}

/** Whether the device or the person stopped it, rather than the server. */
export function stoppedByDevice(error: unknown): 'known' | 'stopped' | undefined {
  if (error instanceof WebAuthnError && error.code === 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED') return 'known';
  if (error instanceof WebAuthnError || error instanceof DOMException) return 'stopped';
  return error instanceof Error && ['NotAllowedError', 'AbortError', 'InvalidStateError'].includes(error.name) ? 'stopped' : undefined;
}
