import { Alert, Button, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { asProblem } from '@/api/problem';
import type { Whoami } from '@/api/types';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { signInByLink } from './calls';
import { useText } from './text';

interface Props {
  token: string;
  /** The member who is signed in already. */
  me?: Whoami;
  onSignedIn: (me: Whoami) => void;
  onDead: () => void;
}

/**
 * Signs in with the link after a press of the button. Programs such as mail scanners open links as well, but press no
 * button.
 */
export function LinkSignIn({ token, me, onSignedIn, onDead }: Props) {
  const text = useText();
  const use = useMutation({
    mutationFn: () => signInByLink(token),
    onSuccess: onSignedIn,
    onError: (error) => {
      if (['unauthenticated', 'invalid_request', 'not_found'].includes(asProblem(error).code)) onDead();
    },
  });
  return (
    <Stack>
      <Text>{text.linkAbout}</Text>
      {me && <Alert color="orange">{text.linkAlready(me.name)}</Alert>}
      {use.error && <ErrorAlert error={use.error} />}
      <Button size="lg" fullWidth loading={use.isPending} onClick={() => use.mutate()} data-autofocus>{text.useLink}</Button>
    </Stack>
  );
}
