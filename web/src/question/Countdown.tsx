import { Text, VisuallyHidden } from '@mantine/core';
import { useEffect, useMemo, useState } from 'react';
import type { Question } from '@/api/types';
import { timeLeft } from '@/text/time';
import { Icon } from '@/ui/Icon';
import { useNow } from '@/ui/useNow';
import classes from './Countdown.module.css';
import { useText } from './text';

/** Shows the time left to answer, by the server's clock. */
export function Countdown({ question, brief }: { question: Question; /** Whether the time is shown alone and small. */ brief?: boolean }) {
  const text = useText();
  const now = useNow();
  const deadline = useMemo(() => question.deadline && new Date(question.deadline).toLocaleString(), [question.deadline]);
  if (question.status !== 'pending') return null;
  if (!question.deadline) return <Text span size="sm" c="dimmed" className={classes.clock}>{text.noDeadline}</Text>;
  const remaining = Date.parse(question.deadline) - now;
  return (
    <span className={classes.clock} data-brief={brief || undefined} data-left={remaining < 60_000 ? 'seconds' : remaining < 5 * 60_000 ? 'minutes' : undefined} title={deadline}>
      <Icon name="clock" size={brief ? 12 : 14} /> {remaining <= 0 ? text.over : brief ? timeLeft(remaining) : text.left(timeLeft(remaining))}
    </span>
  );
}

const marks = [5 * 60_000, 60_000, 20_000];

/** Announces the time left to screen readers: three times, not every second. */
export function Announcements({ deadline }: { deadline?: string }) {
  const text = useText();
  const [said, setSaid] = useState('');
  useEffect(() => {
    if (!deadline) return;
    const timers = marks.map((mark) => {
      const wait = Date.parse(deadline) - Date.now() - mark;
      return wait > 0 && wait < 2 ** 31 ? setTimeout(() => setSaid(text.announce(timeLeft(mark))), wait) : undefined;
    });
    return () => timers.forEach(clearTimeout);
  }, [deadline, text]);
  return <VisuallyHidden role="status">{said}</VisuallyHidden>;
}
