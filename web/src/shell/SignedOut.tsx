import { Alert, Button } from '@mantine/core';
import { useNavigate, useRouterState } from '@tanstack/react-router';
import { Suspense, useEffect, useState } from 'react';
import { piece } from '@/ui/piece';
import { onSignedOut } from '@/api/client';
import { queryClient, whoamiQuery } from '@/api/queries';
import { onSession } from '@/sign-in/session';
import { useText } from './text';

const SignInDialog = piece(() => import('@/sign-in/SignInDialog').then((module) => module.default));

/**
 * Handles the message of another tab. After a sign-in, the page asks anew who
 * is signed in. After a sign-out, nothing of the person stays here either.
 */
function heardOf(told: 'in' | 'out') {
  if (told === 'in') void queryClient.invalidateQueries();
  else location.replace('/sign-in');
}

/**
 * Handles a session that ended while the reader was at work. The reader signs
 * in over the page, and everything typed stays there. A visitor who never was
 * signed in here has nothing to lose, and goes to the sign-in page.
 */
export function SignedOut() {
  const text = useText();
  const navigate = useNavigate();
  const [out, setOut] = useState(false);
  const [dialog, setDialog] = useState(true);
  const here = useRouterState({ select: ({ location }) => location.href });
  useEffect(
    () =>
      onSignedOut(() => {
        if (queryClient.getQueryData(whoamiQuery.queryKey)) setOut(true);
        // Several calls may be refused. Only the first one leads to the sign-in page.
        else if (!here.startsWith('/sign-in')) void navigate({ to: '/sign-in', search: here === '/' ? {} : { return: here }, replace: true });
      }),
    [here, navigate],
  );
  useEffect(() => onSession(heardOf), []);
  useEffect(
    () =>
      queryClient.getQueryCache().subscribe((event) => {
        if (event.type !== 'updated' || event.action.type !== 'success' || event.query.queryHash !== '["whoami"]') return;
        setOut(false);
        setDialog(true);
      }),
    [],
  );
  if (!out) return null;
  return (
    <>
      <Alert color="orange" mb="md" role="alert" title={text.signedOut}>
        <Button size="compact-sm" onClick={() => setDialog(true)}>{text.signIn}</Button>
      </Alert>
      {dialog && <Suspense><SignInDialog onClose={() => setDialog(false)} /></Suspense>}
    </>
  );
}
