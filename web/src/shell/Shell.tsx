import { ActionIcon, Anchor, Badge, Burger, Group, NavLink, Text, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useRouter, useRouterState } from '@tanstack/react-router';
import { Suspense, useEffect, useState, useSyncExternalStore } from 'react';
import { lazyComponent } from '@/ui/lazyComponent';
import { liveState, onLiveState } from '@/api/live';
import { whoamiQuery } from '@/api/queries';
import { dataOwner } from '@/offline/owner';
import { useCommands } from '@/keys/useCommands';
import { Icon } from '@/ui/Icon';
import { useDelayed } from '@/ui/useDelayed';
import { Loading } from '@/ui/Loading';
import { UndoBar } from '@/question/UndoBar';
import { UnreadBadge } from '@/notification/UnreadBadge';
import { useNavigationPages } from './navigation';
import { usePreference } from './preferences';
import classes from './Shell.module.css';
import { SignedOut } from './SignedOut';
import { WaitingCount } from './WaitingCount';
import { useText } from './text';
import { useWaiting } from './title';

const loadSheet = () => import('./KeySheet');
const KeySheet = lazyComponent(() => loadSheet().then((module) => module.default));
const loadUrgent = () => import('@/question/UrgentDialog');
const UrgentDialog = lazyComponent(() => loadUrgent().then((module) => module.default));
const BrowserNotices = lazyComponent(() => import('@/notification/BrowserNotices').then((module) => module.BrowserNotices));
const loadPalette = () => import('./Palette');
const Palette = lazyComponent(() => loadPalette().then((module) => module.default));

/** The frame around every page of a person who is signed in. */
export function Shell() {
  const text = useText();
  const pages = useNavigationPages();
  const router = useRouter();
  const [navigation, { toggle, close }] = useDisclosure();
  const [sheet, setSheet] = useState(false);
  const [palette, setPalette] = useState(false);
  useCommands([
    { id: 'keys', title: text.showKeys, group: text.general, keys: ['?'], run: () => setSheet(true) },
    { id: 'palette', title: text.palette, group: text.general, keys: ['mod+k'], typing: true, run: () => setPalette(true) },
    ...pages.map((page) => ({
      id: `go-${page.name}`, title: `${text.goTo}: ${page.title}`, group: text.goTo, keys: [`g ${page.key}`],
      run: () => void router.navigate({ to: page.to }),
    })),
  ]);
  const dialogsDue = useDelayed(1_000);
  const [notices] = usePreference('browserNotifications');
  const isOwnerKnown = useIsOwnerKnown();
  useFocusOnNavigation(close);
  // Loads the palette and the sheet in advance, because letters typed right after their key must not act on the page.
  useEffect(() => {
    const timer = setTimeout(() => void Promise.all([loadPalette(), loadSheet()]).catch(() => undefined), 3_000);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className={classes.shell} data-navigation={navigation || undefined}>
      <Anchor href="#content" className={classes.skip}>{text.skip}</Anchor>
      <header className={classes.header}>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger opened={navigation} onClick={toggle} hiddenFrom="sm" size="sm" aria-label={navigation ? text.closeNavigation : text.openNavigation} aria-expanded={navigation} />
            <Group gap="xs" wrap="nowrap" renderRoot={(props) => <Link to="/" {...props} />} className={classes.brand}>
              <img src="/icon.svg" alt="" width={26} height={26} />
              <Text fw={700}>Fermata</Text>
            </Group>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <Account />
            <Scheme />
            <ActionIcon variant="default" size="lg" onClick={() => setPalette(true)} aria-label={text.palette}><Icon name="search" /></ActionIcon>
            <ActionIcon variant="default" size="lg" onClick={() => setSheet(true)} aria-label={text.showKeys} visibleFrom="xs"><Icon name="keyboard" /></ActionIcon>
          </Group>
        </Group>
      </header>
      <nav className={classes.navigation} aria-label={text.navigation}>
        <div className={classes.places}>
          {pages.map((page) => <PageLink key={page.to} page={page} />)}
        </div>
      </nav>
      <main id="content" tabIndex={-1} className={classes.main}>
        <Connection />
        <SignedOut />
        {isOwnerKnown ? <Outlet /> : <Loading />}
        <UndoBar />
      </main>
      {dialogsDue && <Suspense><UrgentDialog /></Suspense>}
      {notices && <Suspense><BrowserNotices /></Suspense>}
      <WaitingCount />
      {sheet && <Suspense><KeySheet onClose={() => setSheet(false)} /></Suspense>}
      {palette && <Suspense><Palette onClose={() => setPalette(false)} /></Suspense>}
    </div>
  );
}

/** Reports whether the owner of the drafts is known. The owner is known at once, except on the first visit. */
function useIsOwnerKnown(): boolean {
  const { isPending } = useQuery(whoamiQuery);
  return dataOwner() !== '' || !isPending;
}

function PageLink({ page }: { page: ReturnType<typeof useNavigationPages>[number] }) {
  const text = useText();
  const waiting = useWaiting();
  const isCurrent = useRouterState({
    select: ({ location }) => (page.to === '/' ? location.pathname === '/' || location.pathname.startsWith('/q') : location.pathname.startsWith(page.to === '/workflows' ? '/workflow' : page.to)),
  });
  const badge = page.name === 'inbox' && waiting > 0 ? <Badge size="sm" circle={waiting < 10} aria-label={text.waiting(waiting)}>{waiting > 999 ? '999+' : waiting}</Badge> : page.name === 'notifications' ? <UnreadBadge /> : undefined;
  return (
    <NavLink
      renderRoot={(props) => <Link to={page.to} {...props} />}
      label={page.title}
      leftSection={<Icon name={page.icon} />}
      rightSection={badge}
      active={isCurrent}
      aria-current={isCurrent ? 'page' : undefined}
      className={classes.place}
    />
  );
}

function Account() {
  const text = useText();
  const { data } = useQuery(whoamiQuery);
  if (!data) return null;
  return (
    <Group gap={6} wrap="nowrap" visibleFrom="xs" title={`${text.account} ${data.name}`}>
      <Icon name="person" />
      <Text size="sm" truncate maw={180}>{data.name}</Text>
    </Group>
  );
}

function Scheme() {
  const text = useText();
  const scheme = useComputedColorScheme();
  const { setColorScheme } = useMantineColorScheme();
  return (
    <ActionIcon variant="default" size="lg" onClick={() => setColorScheme(scheme === 'dark' ? 'light' : 'dark')} aria-label={text.switchScheme}>
      <Icon name={scheme === 'dark' ? 'sun' : 'moon'} />
    </ActionIcon>
  );
}

/** Warns when the page receives no events because the connection is lost. */
function Connection() {
  const text = useText();
  const state = useSyncExternalStore(onLiveState, liveState);
  return <div role="status">{state === 'lost' && <Text className={classes.lost} size="sm" p="xs" mb="sm">{text.lost}</Text>}</div>;
}

/** Moves the focus to the content of a new page, so that screen readers continue there. */
function useFocusOnNavigation(onNavigate: () => void) {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe('onRendered', ({ pathChanged, fromLocation }) => {
        if (!pathChanged || !fromLocation) return;
        onNavigate();
        if (document.activeElement && document.activeElement !== document.body && document.activeElement.closest('main')) return;
        document.getElementById('content')?.focus({ preventScroll: true });
      }),
    [router, onNavigate],
  );
}
