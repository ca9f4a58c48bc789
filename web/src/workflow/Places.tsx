import { Button, Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useText } from './text';

const places = [['/workflows', 'workflows'], ['/workflow-runs', 'runs'], ['/workflow-tools', 'tools']] as const;

/** The links to the three lists about workflows. */
export function Places({ here }: { here: (typeof places)[number][1] }) {
  const text = useText();
  return (
    <Group component="nav" aria-label={text.parts} gap={4} mb="md">
      {places.map(([to, name]) => (
        <Button key={to} size="compact-md" mih={34} variant={name === here ? 'light' : 'subtle'} aria-current={name === here ? 'page' : undefined} renderRoot={(props) => <Link to={to} {...props} />}>
          {text[name]}
        </Button>
      ))}
    </Group>
  );
}
