import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Icon } from './Icon';

type List = '/' | '/tasks' | '/workflows' | '/workflow-runs';

/** The link from a page back to the list that it belongs to. */
export function BackLink({ to, children }: { to: List; children: string }) {
  return <Button variant="subtle" size="compact-md" ml={-8} mb={4} leftSection={<Icon name="back" />} renderRoot={(props) => <Link to={to} {...props} />}>{children}</Button>;
}
