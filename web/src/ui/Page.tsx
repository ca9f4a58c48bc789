import { Box, Group, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { titled } from '@/shell/title';

/** The frame of a page: its heading, what can be done, its content. */
export function Page({ title, actions, children, wide }: { title: string; actions?: ReactNode; children: ReactNode; wide?: boolean }) {
  useDocumentTitle(titled(title));
  return (
    <Box maw={wide ? undefined : 1100} mx="auto" w="100%">
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
