import { Alert, Button, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useRouter, useRouterState, useSearch } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { whoamiQuery } from '@/api/queries';
import type { Whoami } from '@/api/types';
import { tabTitle } from '@/shell/title';
import { Loading } from '@/ui/Loading';
import { LinkSignIn } from './LinkSignIn';
import { Methods } from './Methods';
import { safeReturnPath } from './safeReturnPath';
import { ProviderSignOut } from './ProviderSignOut';
import { recordSignIn } from './session';
import classes from './SignInPage.module.css';
import { useText } from './text';

/** Lets a person sign in: with the token behind the # of a link, or in one of the ways that the server offers. */
export default function SignInPage() {
  const text = useText();
  const router = useRouter();
  const search = useSearch({ strict: false });
  const token = useRouterState({ select: ({ location }) => location.hash });
  const [dead, setDead] = useState('');
  // A visitor of this page is often not signed in, so the page does not show the refusal.
  const { data: me } = useQuery({ ...whoamiQuery, retry: false });
  const path = safeReturnPath(search.return);
  useDocumentTitle(tabTitle(text.title));
  const problems: Partial<Record<string, string>> = { cancelled: text.oidcCancelled, unavailable: text.oidcUnavailable, expired: text.oidcExpired, unknown: text.oidcUnknown, unverified: text.oidcUnverified };
  const goOn = () => router.history.replace(path);
  const enter = (who: Whoami) => {
    if (recordSignIn(who, path)) goOn();
  };
  // The reader came back from the identity provider. The other tabs are told, and the page goes on without a press.
  const came = me && (search.came ?? search.done) !== undefined ? me : undefined;
  useEffect(() => {
    if (came && recordSignIn(came, path) && search.came) router.history.replace(path);
  }, [came, path, router, search.came]);
  if (token && token !== dead) {
    return <Frame heading={text.linkHeading}><LinkSignIn token={token} me={me} onSignedIn={enter} onDead={() => setDead(token)} /></Frame>;
  }
  if (token) {
    return (
      <Frame heading={text.deadHeading}>
        <Text role="alert">{text.deadAbout}</Text>
        {me ? <AlreadySignedIn name={text.deadSignedIn(me.name)} goOn={goOn} /> : <><Text>{text.deadNext}</Text><Methods path={path} onSignedIn={enter} /></>}
      </Frame>
    );
  }
  if (search.done && me) return <Frame heading={text.doneHeading}><Text>{text.doneAbout}</Text></Frame>;
  if (search.came && me) return <Frame heading={text.doneHeading}><Loading /></Frame>;
  return (
    <Frame heading={text.heading} below={text.at(location.host)}>
      {search.problem && <Alert color="red" role="alert" title={text.oidcFailed}>{problems[search.problem] ?? text.oidcExpired}</Alert>}
      {!me && <ProviderSignOut />}
      {me ? <AlreadySignedIn name={me.single_user ? text.singleUser : text.already(me.name)} goOn={goOn} /> : <Methods path={path} onSignedIn={enter} />}
    </Frame>
  );
}

function AlreadySignedIn({ name, goOn }: { name: string; goOn: () => void }) {
  const text = useText();
  return (
    <>
      <Text>{name}</Text>
      <Button size="md" fullWidth onClick={goOn}>{text.goOn}</Button>
    </>
  );
}

function Frame({ heading, below, children }: { heading: string; below?: string; children: ReactNode }) {
  return (
    <main className={classes.page}>
      <Paper withBorder shadow="sm" p={{ base: 'md', xs: 'xl' }} className={classes.card}>
        <Stack>
          <Group gap="sm" wrap="nowrap">
            <img src="/icon.svg" alt="" width={40} height={40} />
            <div>
              <Title order={1} size="h3" tabIndex={-1}>{heading}</Title>
              {below && <Text size="sm" c="dimmed">{below}</Text>}
            </div>
          </Group>
          {children}
        </Stack>
      </Paper>
    </main>
  );
}
