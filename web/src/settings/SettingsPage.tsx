import { Alert, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { Suspense, type ComponentType } from 'react';
import { lazyComponent } from '@/ui/lazyComponent';
import { whoamiQuery } from '@/api/queries';
import { useCommands } from '@/keys/useCommands';
import { Page } from '@/ui/Page';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Loading } from '@/ui/Loading';
import { isSection, sections, type SectionName } from './sections';
import classes from './SettingsPage.module.css';
import { useText } from './text';

const parts: Record<SectionName, ComponentType> = {
  appearance: lazyComponent(() => import('./me/Appearance').then((module) => module.default)),
  account: lazyComponent(() => import('./me/Account').then((module) => module.default)),
  notifications: lazyComponent(() => import('./notifications/Notifications').then((module) => module.default)),
  tokens: lazyComponent(() => import('./tokens/Tokens').then((module) => module.default)),
  people: lazyComponent(() => import('./people/People').then((module) => module.default)),
  groups: lazyComponent(() => import('./people/Groups').then((module) => module.default)),
  policy: lazyComponent(() => import('./policy/PolicyForm').then((module) => module.default)),
  gates: lazyComponent(() => import('./gates/GateRules').then((module) => module.default)),
  channels: lazyComponent(() => import('./channels/Channels').then((module) => module.default)),
  routes: lazyComponent(() => import('./routes/RouteForm').then((module) => module.default)),
  deliveries: lazyComponent(() => import('./deliveries/DeliveryLog').then((module) => module.default)),
};

export default function SettingsPage() {
  const text = useText();
  const navigate = useNavigate();
  const { section: wanted }: { section?: string } = useParams({ strict: false });
  const { data: me, error } = useQuery(whoamiQuery);
  const current = isSection(wanted) ? wanted : 'appearance';
  const shown = sections.filter((section) => me && section.shown(me));
  useCommands(shown.map(({ name }, at) => ({
    id: `settings-${name}`, title: text[name], group: text.title, keys: [`s ${at + 1}`],
    run: () => void navigate({ to: '/settings/$section', params: { section: name } }),
  })));
  if (error && !me) return <Page title={text.title}><ErrorAlert error={error} /></Page>;
  if (!me) return <Page title={text.title}><Loading /></Page>;
  const Part = parts[current];
  return (
    <Page title={text.title}>
      <div className={classes.frame}>
        <nav className={classes.navigation} aria-label={text.navigation}>
          {(['mine', 'everyone'] as const).map((group) => [
            <Title key={group} order={2} size="h6" c="dimmed" px="sm">{text[group]}</Title>,
            ...shown.filter((section) => section.group === group).map(({ name }) => (
              <Link key={name} to="/settings/$section" params={{ section: name }} className={classes.place} aria-current={name === current ? 'page' : undefined}>
                {text[name]}
              </Link>
            )),
          ])}
        </nav>
        <Suspense fallback={<Loading />}>
          {shown.some(({ name }) => name === current) ? <Part key={current} /> : <Alert>{text.notYours}</Alert>}
        </Suspense>
      </div>
    </Page>
  );
}
