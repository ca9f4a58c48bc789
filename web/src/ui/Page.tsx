import { Box, Group, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { tabTitle } from '@/shell/title';

interface Props {
  title: string;
  /** The link to the list that the page belongs to. An installed app has no button of its own that leads back. */
  back?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  wide?: boolean;
}

/** The frame of a page: its heading, its actions and its content. */
export function Page({ title, back, actions, children, wide }: Props) {
  useDocumentTitle(tabTitle(title));
  return (
    <Box maw={wide ? undefined : 1100} mx="auto" w="100%">
      {back}
      <Group justify="space-between" mb="md" gap="sm">
        <Title order={1} size="h2" tabIndex={-1} data-page-title>
          {title}
        </Title>
        {actions}
      </Group>
      {children}
    </Box>
  );
}
