import { Alert, Button } from '@mantine/core';
import { useNavigate, useRouterState } from '@tanstack/react-router';
import { Suspense, useEffect, useState } from 'react';
import { lazyComponent } from '@/ui/lazyComponent';
import { onSignedOut } from '@/api/client';
import { onSignedIn, queryClient, whoamiQuery } from '@/api/queries';
import { message } from '@/sign-in/session';
import { useText } from './text';

const SignInDialog = lazyComponent(() => import('@/sign-in/SignInDialog').then((module) => module.default));

/**
 * Handles the message of another tab. After a sign-in, the page reads all its
 * data again, also who is signed in. After a sign-out, the page goes to the
 * sign-in page, so that no data of the person stays on the screen.
 */
function handleSessionMessage(message: 'in' | 'out') {
  if (message === 'in') void queryClient.invalidateQueries();
  else location.replace('/sign-in');
}

/**
 * Handles a session that ended while the reader was at work. The reader signs
 * in over the page, and everything typed stays there. A visitor who was not
 * signed in on this page goes to the sign-in page.
 */
export function SignedOut() {
  const text = useText();
  const navigate = useNavigate();
  const [signedOut, setSignedOut] = useState(false);
  const [dialog, setDialog] = useState(true);
  const address = useRouterState({ select: ({ location }) => location.href });
  useEffect(
    () =>
      onSignedOut(() => {
        if (queryClient.getQueryData(whoamiQuery.queryKey)) setSignedOut(true);
        // Several calls may be refused. Only the first one leads to the sign-in page.
        else if (!address.startsWith('/sign-in')) void navigate({ to: '/sign-in', search: address === '/' ? {} : { return: address }, replace: true });
      }),
    [address, navigate],
  );
  useEffect(() => message(handleSessionMessage), []);
  useEffect(
    () =>
      onSignedIn(() => {
        setSignedOut(false);
        setDialog(true);
      }),
    [],
  );
  if (!signedOut) return null;
  return (
    <>
      <Alert color="orange" mb="md" role="alert" title={text.signedOut}>
        <Button size="compact-sm" onClick={() => setDialog(true)}>{text.signIn}</Button>
      </Alert>
      {dialog && <Suspense><SignInDialog onClose={() => setDialog(false)} /></Suspense>}
    </>
  );
}
