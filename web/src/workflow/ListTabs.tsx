import { Button, Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useText } from './text';

const lists = [['/workflows', 'workflows'], ['/workflow-runs', 'runs'], ['/workflow-tools', 'tools']] as const;

/** The links to the three lists about workflows. */
export function ListTabs({ current }: { current: (typeof lists)[number][1] }) {
  const text = useText();
  return (
    <Group component="nav" aria-label={text.parts} gap={4} mb="md">
      {lists.map(([to, name]) => (
        <Button key={to} size="compact-md" mih={34} variant={name === current ? 'light' : 'subtle'} aria-current={name === current ? 'page' : undefined} renderRoot={(props) => <Link to={to} {...props} />}>
          {text[name]}
        </Button>
      ))}
    </Group>
  );
}
