import { Button, Group, Text } from '@mantine/core';
import { useMemo } from 'react';
import type { Question } from '@/api/types';
import { useCommands } from '@/keys/useCommands';
import { KeyCap } from '@/ui/KeyCap';
import { sameKind } from './alike';
import { useLotText } from './lotText';

/** Offers to decide a question together with those of its kind. */
export function KindOffer({ question, questions, onOpen }: { question: Question; questions: Question[]; onOpen: (kind: Question[]) => void }) {
  const text = useLotText();
  const kind = useMemo(() => sameKind(questions, question), [questions, question]);
  const several = kind.length > 1;
  useCommands([{ id: 'together', title: text.together, group: text.group, keys: ['t'], run: () => onOpen(kind) }], several);
  if (!several) return null;
  return (
    <Group gap="xs">
      <Text size="sm" c="dimmed">{text.alike(kind.length - 1)}</Text>
      <Button size="compact-sm" variant="default" rightSection={<KeyCap>t</KeyCap>} onClick={() => onOpen(kind)}>{text.together}</Button>
    </Group>
  );
}
