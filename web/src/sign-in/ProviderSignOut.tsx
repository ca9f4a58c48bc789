import { Alert, Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { methodsQuery } from './calls';
import { forgetProviderSignOut, providerSignOut } from './session';
import { useText } from './text';

/**
 * Shows, after a sign-out, how to end the session at the identity provider. That session would let the next person sign
 * in here.
 */
export function ProviderSignOut() {
  const text = useText();
  const [address] = useState(providerSignOut);
  useEffect(forgetProviderSignOut, []);
  const { data } = useQuery({ ...methodsQuery, enabled: address !== undefined });
  if (!address || !data?.oidc) return null;
  return (
    <Alert role="status" title={text.signedOut}>
      {text.signedInThere(data.oidc.name)} <Anchor inherit underline="always" href={address}>{text.signOutThere(data.oidc.name)}</Anchor>
    </Alert>
  );
}
