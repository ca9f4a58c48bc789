import { Button } from '@mantine/core';
import { Link, type LinkProps } from '@tanstack/react-router';
import { Icon } from './Icon';

/** Leads from one thing to the list of its kind. */
export function Back({ to, children }: { to: LinkProps['to']; children: string }) {
  return <Button variant="subtle" size="compact-md" ml={-8} mb={4} leftSection={<Icon name="back" />} renderRoot={(props: object) => <Link to={to} {...props} />}>{children}</Button>;
}
