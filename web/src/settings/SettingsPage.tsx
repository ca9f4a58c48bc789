import { Alert, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { Suspense, type ComponentType } from 'react';
import { piece } from '@/ui/piece';
import { whoamiQuery } from '@/api/queries';
import { useCommands } from '@/keys/useCommands';
import { Page } from '@/ui/Page';
import { Trouble } from '@/ui/Trouble';
import { Waiting } from '@/ui/Waiting';
import { isSection, sections, type SectionName } from './sections';
import classes from './SettingsPage.module.css';
import { useText } from './text';

const parts: Record<SectionName, ComponentType> = {
  appearance: piece(() => import('./me/Appearance').then((module) => module.default)),
  account: piece(() => import('./me/Account').then((module) => module.default)),
  notifications: piece(() => import('./notifications/Notifications').then((module) => module.default)),
  tokens: piece(() => import('./tokens/Tokens').then((module) => module.default)),
  people: piece(() => import('./people/People').then((module) => module.default)),
  groups: piece(() => import('./people/Groups').then((module) => module.default)),
  policy: piece(() => import('./policy/PolicyForm').then((module) => module.default)),
  gates: piece(() => import('./gates/GateRules').then((module) => module.default)),
  channels: piece(() => import('./channels/Channels').then((module) => module.default)),
  routes: piece(() => import('./routes/RouteForm').then((module) => module.default)),
  deliveries: piece(() => import('./deliveries/DeliveryLog').then((module) => module.default)),
};

export default function SettingsPage() {
  const text = useText();
  const navigate = useNavigate();
  const { section: wanted }: { section?: string } = useParams({ strict: false });
  const { data: me, error } = useQuery(whoamiQuery);
  const here = isSection(wanted) ? wanted : 'appearance';
  const shown = sections.filter((section) => me && section.shown(me));
  useCommands(shown.map(({ name }, at) => ({
    id: `settings-${name}`, title: text[name], group: text.title, keys: [`s ${at + 1}`],
    run: () => void navigate({ to: '/settings/$section', params: { section: name } }),
  })));
  if (error && !me) return <Page title={text.title}><Trouble error={error} /></Page>;
  if (!me) return <Page title={text.title}><Waiting /></Page>;
  const Part = parts[here];
  return (
    <Page title={text.title}>
      <div className={classes.frame}>
        <nav className={classes.navigation} aria-label={text.navigation}>
          {(['mine', 'everyone'] as const).map((group) => [
            <Title key={group} order={2} size="h6" c="dimmed" px="sm">{text[group]}</Title>,
            ...shown.filter((section) => section.group === group).map(({ name }) => (
              <Link key={name} to="/settings/$section" params={{ section: name }} className={classes.place} aria-current={name === here ? 'page' : undefined}>
                {text[name]}
              </Link>
            )),
          ])}
        </nav>
        <Suspense fallback={<Waiting />}>
          {shown.some(({ name }) => name === here) ? <Part key={here} /> : <Alert>{text.notYours}</Alert>}
        </Suspense>
      </div>
    </Page>
  );
}
