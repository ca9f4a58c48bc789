import { Alert, Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { methodsQuery } from './calls';
import { forgetProviderSignOut, providerSignOut } from './session';
import { useText } from './text';

/** After a sign-out: the way to end the session at the identity provider, by which the next person would come in here. */
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
