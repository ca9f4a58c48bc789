import { Button, Group, Text } from '@mantine/core';
import { Suspense, type ReactNode } from 'react';
import { lazyComponent } from '@/ui/lazyComponent';
import { Loading } from '@/ui/Loading';
import { useLotText } from './lotText';
import classes from './Triage.module.css';

const Dialog = lazyComponent(() => import('@/ui/Dialog').then((module) => module.Dialog));

interface Props {
  /** How many questions are chosen. */
  n: number;
  open: boolean;
  onOpen: (open: boolean) => void;
  onClear: () => void;
  /** What the dialog shows. */
  children: ReactNode;
}

/** Says below a list how many questions are chosen, and opens them in a dialog where there is no room beside the list. */
export function ChosenBar({ n, open, onOpen, onClear, children }: Props) {
  const text = useLotText();
  return (
    <>
      <Group className={classes.chosen} justify="space-between" role="status">
        <Text size="sm">{text.chosen(n)}</Text>
        <Group gap="xs">
          <Button variant="default" onClick={onClear}>{text.clear}</Button>
          <Button onClick={() => onOpen(true)}>{text.decide}</Button>
        </Group>
      </Group>
      {open && <Suspense><Dialog opened onClose={() => onOpen(false)} title={text.group} size="xl"><Suspense fallback={<Loading />}>{children}</Suspense></Dialog></Suspense>}
    </>
  );
}
