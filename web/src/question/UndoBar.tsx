import { Button, Group, Paper, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState, useSyncExternalStore } from 'react';
import { useCommands } from '@/keys/useCommands';
import hiddenClasses from '@/ui/Hidden.module.css';
import { Icon } from '@/ui/Icon';
import { useTellRefusal } from '@/ui/problemWords';
import { useNow } from '@/ui/useNow';
import { heldAnswers, onHeld, undoAnswer, type HeldAnswer } from './held';
import { useText } from './text';
import classes from './UndoBar.module.css';

/**
 * Shows the answer that was just given, for as long as it can be undone. A dialog that covers the page has a bar of its
 * own, and shows the question again itself.
 */
export function UndoBar({ onUndone }: { onUndone?: (id: string) => void }) {
  const text = useText();
  const navigate = useNavigate();
  const held = useSyncExternalStore(onHeld, heldAnswers);
  const tellRefusal = useTellRefusal();
  const [said, setSaid] = useState('');
  const last = held.at(-1);
  const takeBack = async (entry: HeldAnswer) => {
    setSaid('');
    try {
      await undoAnswer(entry);
    } catch (error) {
      tellRefusal(error);
      return;
    }
    setSaid(text.undone(entry.ids.length));
    const [id = ''] = entry.ids;
    if (onUndone) onUndone(id);
    else if (location.pathname !== '/' && location.pathname !== '/approvals') await navigate({ to: '/questions/$id', params: { id } });
  };
  useCommands([{ id: 'undo', title: text.undo, group: text.group, keys: ['z'], run: () => last && void takeBack(last) }], last !== undefined);
  return (
    <div className={onUndone ? undefined : classes.fixed} role="status">
      {last ? (
        <Paper withBorder shadow="md" p="xs" className={classes.bar}>
          <Group wrap="nowrap" gap="sm">
            <Text size="sm" truncate className={classes.said}>{text.didAnswer(last.said, last.title)}</Text>
            <Button size="compact-md" variant="default" leftSection={<Icon name="undo" size={14} />} onClick={() => void takeBack(last)}>
              {text.undo}<SecondsLeft entry={last} />
            </Button>
          </Group>
        </Paper>
      ) : <span className={hiddenClasses.hidden}>{said}</span>}
    </div>
  );
}

function SecondsLeft({ entry }: { entry: HeldAnswer }) {
  const now = useNow();
  return <span aria-hidden>{`\u00a0${Math.max(0, Math.ceil((entry.releaseAt - now) / 1000))} s · z`}</span>;
}
