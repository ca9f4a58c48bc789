import { Alert, Group, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { activeCommands } from '@/keys/registry';
import { Dialog } from '@/ui/Dialog';
import { groupBy } from '@/ui/groupBy';
import { Keys } from '@/ui/Keys';
import { usePreference } from './preferences';
import { useText } from './text';

/** Shows every key that works on this page, from the registry. */
export default function KeySheet({ onClose }: { onClose: () => void }) {
  const text = useText();
  return (
    <Dialog opened onClose={onClose} title={text.keysTitle} size="xl">
      <Sheet />
    </Dialog>
  );
}

function Sheet() {
  const text = useText();
  // The dialog suspends the page's commands, so the list is taken before that.
  const [list] = useState(activeCommands);
  const [keys] = usePreference('keys');
  const groups = groupBy(list.filter((command) => command.keys?.length), (command) => command.group);
  return (
    <>
      {!keys && <Alert mb="md">{text.keysOff}</Alert>}
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xl">
        {[...groups].map(([group, members]) => (
          <Stack key={group} gap={4}>
            <Title order={2} size="h5">{group}</Title>
            <Table>
              <Table.Tbody>
                {members.map((command) => (
                  <Table.Tr key={command.id}>
                    <Table.Td><Text size="sm">{command.title}</Text></Table.Td>
                    <Table.Td>
                      <Group gap="xs" justify="flex-end">{command.keys?.map((key) => <Keys key={key} keys={key} />)}</Group>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Stack>
        ))}
      </SimpleGrid>
    </>
  );
}
